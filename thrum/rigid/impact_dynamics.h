// SPDX-License-Identifier: MIT
// One impact of two bodies as a system of linear equations [Forgue91, sec. 3].
//
//   m_A (v_A' - v_A) =  J                      (1)      I_A (w_A' - w_A) = r_A x J                    (3)
//   m_B (v_B' - v_B) = -J                      (2)      I_B (w_B' - w_B) = -r_B x J                   (4)
//   N . V' = -E N . V                          (6)      V = v_A + w_A x r_A - v_B - w_B x r_B
//   sticking:  u . V' = 0  (7),  v . V' = 0    (8)
//   sliding:   u . J = 0   (9),  v . J = -mu N . J      (10)
//
// with ' after the impact, J the impulse on A, N the unit normal towards A, E the restitution, v the
// direction in which A slips over B before the impact and u = v x N. 15 equations for v_A', w_A', v_B', w_B'
// and J, or 9 for v_A', w_A' and J when B is fixed, solved by Gauss-Jordan elimination. Sticking is tried
// first; when its impulse leaves the friction cone, sliding.
//
// Where we leave the paper:
// - (6) has r x w for the velocity of a point; it is w x r.
// - u and v are said to be along V', which (7) and (8) make zero; they are along V here.
// - (10) has the friction along v; it acts against the slip.
// - Sticking compares only the part of J along v with the friction; that along u counts as well.
// - With friction and a restitution near 1 the laws can add energy (a known flaw of Newton's restitution).
//   With `limit_energy` as much of the friction is taken as adds none; (6) holds all the same.
// - Where (6), (9) and (10) would pull (a body wedged in by great friction), sticking is approached as far as
//   the friction cone allows.
#pragma once

#include "thrum/base/vec.h"

namespace thrum::rigid {

/// One of the two bodies, at the impact, in world axes.
struct ImpactBody {
  double mass = 1;                  ///< [kg]
  Mat3 inertia = Mat3::Identity();  ///< about the centre of mass [kg m^2]
  Vec3 arm = Vec3::Zero();          ///< from the centre of mass to the point of impact [m]
  Vec3 velocity = Vec3::Zero();     ///< of the centre of mass [m/s]
  Vec3 spin = Vec3::Zero();         ///< angular velocity [rad/s]
  bool fixed = false;               ///< only B may be
};

struct ImpactDesc {
  Vec3 normal = Vec3::UnitZ();  ///< unit, from B to A
  double restitution = 0.5;     ///< 0 to 1
  double friction = 0.3;        ///< Coulomb's coefficient
  bool limit_energy = true;     ///< false: the laws as they are written
};

struct ImpactResult {
  Vec3 impulse = Vec3::Zero();  ///< J, on A [N s]
  Vec3 velocity_a = Vec3::Zero();
  Vec3 spin_a = Vec3::Zero();
  Vec3 velocity_b = Vec3::Zero();
  Vec3 spin_b = Vec3::Zero();
  bool sticks = false;   ///< (7) and (8) hold
  bool limited = false;  ///< friction was reduced so that no energy is added, or to stay in the friction cone
};

/// Velocity of A against B at the point of impact [m/s].
[[nodiscard]] Vec3 relative_velocity(const ImpactBody& a, const ImpactBody& b);

/// Without an approach nothing changes. Throws Error when a mass is not positive, the normal is not of length
/// 1, or a coefficient is out of range.
[[nodiscard]] ImpactResult solve_impact(const ImpactBody& a, const ImpactBody& b, const ImpactDesc& desc);

}  // namespace thrum::rigid
