// SPDX-License-Identifier: MIT
// A spring and a damper at one contact over one substep, by a rule that never adds energy.
//
// The force of a spring with the energy V(d) = k max(d, 0)^2 / 2 at the depth d, taken as
//
//     f = (V(d1) - V(d0)) / (d1 - d0),                                                            (1)
//
// does the work V(d0) - V(d1) while the depth goes from d0 to d1: what bodies gain is what the spring loses,
// to rounding and for any step (a discrete gradient). The depth goes with the mean speed of the substep,
//
//     d1 = d0 - h (u0 + u1) / 2,          u1 = u + w h f,                                         (2)
//
// u0 and u1 being the speeds of separation before and after, u what it would be without f, and w the mobility
// of the contact. The damper adds c (d1+ - d0+) / h, with d+ = max(d, 0): it acts as long as there is
// overlap. Contacts do not pull: f >= 0. What a spring has left when the bodies leave it is lost.
//
// Where we leave the lecture: it takes f = k d at the start of the step. That needs h < 2 / omega, and a
// contact that begins within a step gains up to (omega h)^2 / 4 of its energy.
//
// A mass on a spring with damping ratio s leaves, without pulling, when f falls to 0, with the restitution
// (phi = asin s; cosh x = s for s > 1)
//
//     e = exp(-(pi - 2 phi) tan phi),     e = exp(-2 x coth x).                                   (3)
//
// In units of v0 / omega and 1 / omega such an impact at the speed v0 goes as
//
//     y(t) = exp(-s t) sin(t cos phi) / cos phi,          exp(-s t) sinh(t sinh x) / sinh x,      (4)
//
// up to t = (pi - 2 phi) / cos phi, or 2 x / sinh x, where f = 0. Until then y' / y falls, so that it shows
// how far the impact is.
#pragma once

namespace thrum::rigid {

struct ContactSpring {
  double stiffness = 0;  ///< k [N/m]
  double damping = 0;    ///< c [N s/m]
};

/// The depth d1 at the end of a substep h: the root of (1) and (2), where `free_depth` would be d1 without a
/// force and `mobility` is w [1/kg].
[[nodiscard]] double depth_after(const ContactSpring& spring, double d0, double free_depth, double mobility,
                                 double h);

/// The force (1) with the damper, at least 0 [N].
[[nodiscard]] double contact_force(const ContactSpring& spring, double d0, double d1, double h);

/// Equation (3), and its inverse up to `max_ratio`.
[[nodiscard]] double restitution_of(double damping_ratio);
[[nodiscard]] double damping_ratio_for(double restitution, double max_ratio);

/// An impact with the damping ratio s that would come to rest at `depth` if nothing were lost, so that
/// v0 = omega depth [m], is found approaching at `approach` (negative: separating) [m/s] while its spring
/// holds the energy V, given as `spring_speed` = sqrt(2 V / m) [m/s]. Returns omega [1/s], by (4): the same
/// at any time of it.
[[nodiscard]] double impact_frequency(double damping_ratio, double depth, double approach,
                                      double spring_speed);

}  // namespace thrum::rigid
