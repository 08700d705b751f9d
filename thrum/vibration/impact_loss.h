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

/// A ball on the border of two triangles has two contacts at one place, but only one spring. Struck contacts
/// of one body whose arms from its centre differ by less than `distance` across the normal [m] become one:
/// the first gets the impulse of all and the place of the strongest, the others are no longer struck and have
/// none.
void merge_struck_contacts(std::span<const RigidBodyData> bodies, double distance,
                           std::span<SurfaceContact> contacts);

/// A share of ResponseSettings::contact_radius: springs nearer than that press on one circle of contact. Its
/// radius is sqrt(R d), and indentations d are below 6 % of R.
inline constexpr double kMergeRatio = 0.25;

}  // namespace thrum::vibration
