// SPDX-License-Identifier: MIT
// What the distant response did in a step: which contacts were struck, and which were kicked because of it.
#pragma once

#include <cstdint>

#include "thrum/base/vec.h"
#include "thrum/model/ids.h"

namespace thrum::model {

enum class ResponseKind : std::uint8_t {
  struck,  ///< an impact here set a body ringing
  kicked   ///< the ringing arrived here and asks the contact to part
};

/// One contact of one response, as reported to recordings and pages.
struct ResponseEvent {
  ResponseKind kind = ResponseKind::struck;
  std::uint64_t step = 0;        ///< SceneState::step in which it happened
  double time = 0.0;             ///< at the end of that step [s]
  BodyId a = {};                 ///< the body that rings
  BodyId b = {};                 ///< what touches it there, none for a scripted impact
  Vec3 position = Vec3::Zero();  ///< of the contact, world [m]
  Vec3 normal = Vec3::UnitZ();   ///< unit, from a to b
  double speed = 0.0;            ///< struck: of approach; kicked: of parting that is asked for [m/s]
  double energy = 0.0;           ///< struck: given to the ringing; kicked: taken from it [J]
};

}  // namespace thrum::model
