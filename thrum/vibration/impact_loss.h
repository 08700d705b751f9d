// SPDX-License-Identifier: MIT
// What the impacts of a step lost, from the bodies before and after it: the budget of the distant response.
#pragma once

#include <span>

#include "thrum/vibration/surface_contact.h"

namespace thrum::vibration {

/// Fills in `loss` of every contact that is struck, and scales its impulse to the share that the impact has
/// in it. Wants the velocities before and the displacements of the bodies, and of every contact, resting ones
/// too, the impulse and the approach speed.
void compute_impact_losses(std::span<const RigidBodyData> bodies, double step,
                           std::span<SurfaceContact> contacts);

}  // namespace thrum::vibration
