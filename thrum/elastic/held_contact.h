// SPDX-License-Identifier: MIT
// Hertz' contact whose force is held over a step and does exactly the work that the contact stores.
//
// Two bodies that overlap by d store V(d) = 2/5 k d^(5/2) for d > 0, with k = 4/3 E* sqrt(R). A force that is
// held over a step while everything else moves exactly does the work F (d1 - d0), so
//
//     F = (V(d1) - V(d0)) / (d1 - d0) + c(d0) (d1 - d0) / h,   not below 0,                               (1)
//
// (a discrete gradient) keeps the energy for any step h, apart from what the damper c takes. F grows with d1,
// so that together with d1 = d_free - r F, r the compliance of the bodies over the step, it has one solution.
// With a = sqrt(d0) and b = sqrt(d1) the difference quotient needs no difference:
//
//     2/5 k (a^4 + a^3 b + a^2 b^2 + a b^3 + b^4) / (a + b).                                              (2)
//
// The damper c = alpha sqrt(m k) d^(1/4) [Tsuji, Tanaka and Ishida 1992] gives the same restitution at any
// speed: with y = d^(5/4) and the time ds = d^(1/4) dt the equation of a mass m on the contact is that of a
// spring and dashpot with the damping ratio alpha / sqrt(5) (contact_spring.h).
#pragma once

namespace thrum::elastic {

struct HeldContact {
  double stiffness = 0;  ///< k [N/m^(3/2)]
  double damping = 0;    ///< alpha sqrt(m k) [N s/m^(5/4)]

  [[nodiscard]] double potential(double d) const;          ///< V(d) [J]
  [[nodiscard]] double static_force(double d) const;       ///< V'(d) [N]
  [[nodiscard]] double indentation(double force) const;    ///< at which a contact at rest has this force [m]
  [[nodiscard]] double tangent_stiffness(double d) const;  ///< V''(d) [N/m]
  [[nodiscard]] double damper(double d) const;             ///< c(d) [N s/m]
};

/// F of (1) and its derivative by d1.
struct HeldForce {
  double force = 0;  ///< [N]
  double slope = 0;  ///< [N/m]
};

/// `damper` is c(d0) / h [N/m].
[[nodiscard]] HeldForce held_force(const HeldContact& contact, double d0, double d1, double damper);

/// The force for which d1 = d_free - compliance F. `compliance` at least 0 [m/N], `guess` of the force [N].
[[nodiscard]] double solve_held_force(const HeldContact& contact, double d0, double d_free, double compliance,
                                      double damper, double guess);

/// 4/3 E* sqrt(R) [N/m^(3/2)], with contact_modulus() of the two bodies [Pa] and the radius of curvature [m].
[[nodiscard]] double hertz_stiffness(double modulus, double radius);

/// alpha sqrt(m k) for the wanted restitution of a mass m [kg].
[[nodiscard]] double hertz_damping(double restitution, double mass, double stiffness);

}  // namespace thrum::elastic
