// SPDX-License-Identifier: MIT
// What the sources of sim::Responder share; not for others.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "thrum/sim/responder.h"

namespace thrum::sim {

/// A body that rings.
struct Responder::Resonator {
  model::BodyId body = {};
  std::unique_ptr<vibration::BodyResponse> response;
  std::unique_ptr<vibration::BodyResponse> transmitted_response;  ///< answers blows that were passed on
  elastic::ModeList modes;
  Pose start = {};  ///< where the modes were computed
  std::string contact_warning = {},
              moved_warning = {};  ///< what there is to say of its responses and of its place, once each
};

/// A blow that a kick gives to the body above it.
struct Responder::TransmittedImpact {
  model::BodyIndex resonator = model::kNone;  ///< that is struck
  model::BodyId from = {};                    ///< whose vibration it came from, and who pays
  std::size_t patch = 0;
  std::size_t point = 0;
  double impulse = 0;  ///< [N s]
  double speed = 0;    ///< [m/s]
  double energy = 0;   ///< [J]
};

/// A ringing body and what touches it, in the axes of its modal model.
struct Responder::ResonatorContacts {
  Pose X_wm;
  std::vector<vibration::RigidBodyData> parts;
  std::vector<model::BodyIndex> bodies;  ///< of the parts
  std::vector<vibration::SurfaceContact> contacts;
  std::vector<std::pair<std::size_t, std::size_t>> contact_indices;  ///< of the touches: patch and point
  double step = 0;                                                   ///< [s]

  [[nodiscard]] vibration::ResponseInput input() const { return {parts, contacts, step}; }
  [[nodiscard]] model::BodyIndex body_of(std::size_t contact) const
  {
    return bodies[static_cast<std::size_t>(contacts[contact].body)];
  }
};

}  // namespace thrum::sim
