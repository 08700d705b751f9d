// SPDX-License-Identifier: MIT
// What the impacts of a step lost, from the bodies before and after it: the budget of the distant response.
#pragma once

#include <span>
#include <vector>

#include "thrum/sim/world.h"
#include "thrum/vibration/surface_contact.h"

namespace thrum::sim {

/// Fills in the loss of every touch that is struck, and takes of the solver's impulse the share that the impact has. `parts` and `ids`
/// are the bodies of the touches; impulses and speeds of approach are those of the step.
void compute_impact_losses(const World& world, double h, std::span<const vibration::RigidBodyData> parts,
                           std::span<const model::BodyIndex> ids,
                           std::vector<vibration::SurfaceContact>& contacts);

/// Mechanical energy that the rigid step took from a body, with what applied forces brought in [J].
[[nodiscard]] double body_energy_loss(const World& world, model::BodyIndex id, double h);

/// The same of all bodies, with what those that are moved brought in by their contacts; below 0 where energy was added [J].
[[nodiscard]] double step_energy_loss(const World& world, double h);

}  // namespace thrum::sim
