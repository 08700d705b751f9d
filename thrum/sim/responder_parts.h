// SPDX-License-Identifier: MIT
// What the sources of sim::Responder share; not for others.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "thrum/sim/responder.h"

namespace thrum::sim {

/// A body that rings.
struct Responder::Ringer {
  model::BodyId body = model::kNone;
  std::unique_ptr<vibration::BodyResponse> response;
  std::unique_ptr<vibration::BodyResponse> passing;  ///< answers blows that were passed on
  elastic::ModeList modes;
  Pose start = {};                     ///< where the modes were computed
  std::string doubt = {}, moved = {};  ///< what there is to say of its responses and of its place, once each
};

/// A blow that a kick gives to the body above it.
struct Responder::Blow {
  model::BodyId ringer = model::kNone;  ///< that is struck
  model::BodyId from = model::kNone;    ///< whose vibration it came from, and who pays
  std::size_t patch = 0;
  std::size_t point = 0;
  double impulse = 0;  ///< [N s]
  double speed = 0;    ///< [m/s]
  double energy = 0;   ///< [J]
};

/// A ringing body and what touches it, in the axes of its modal model.
struct Responder::Surroundings {
  Pose X_wm;
  std::vector<vibration::RigidPart> parts;
  std::vector<model::BodyId> ids;  ///< of the parts
  std::vector<vibration::Touch> touches;
  std::vector<std::pair<std::size_t, std::size_t>> places;  ///< of the touches: patch and point
  double step = 0;                                          ///< [s]

  [[nodiscard]] vibration::ResponseInput input() const { return {parts, touches, step}; }
  [[nodiscard]] model::BodyId body_of(std::size_t touch) const
  {
    return ids[static_cast<std::size_t>(touches[touch].body)];
  }
};

/// Changes the velocity of a dynamic body and wakes it. Returns the kinetic energy that it gained [J].
double push_body(const model::BodyDesc& desc, model::BodyState& body, const Vec3& impulse,
                 const Vec3& angular_impulse);

}  // namespace thrum::sim
