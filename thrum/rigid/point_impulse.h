// SPDX-License-Identifier: MIT
// One impulse at one place between two bodies: sticking or sliding [Guendelman03, sections 5 and 6], rolling
// and spinning friction [section 9]. Both collision and contact are made of these.
//
//   u     velocity of b against a at the place [m/s]
//   n     unit normal from a to b
//   K     how u answers to an impulse j on b (and -j on a): u' = u + K j [1/kg]
#pragma once

#include "thrum/base/vec.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

/// Where two bodies touch: a point, or the middle of several points of one flat patch.
struct ContactPlace {
  Vec3 ra = Vec3::Zero();  ///< from the centre of mass of a [m]
  Vec3 rb = Vec3::Zero();  ///< from the centre of mass of b [m]
  Vec3 n = Vec3::UnitZ();  ///< from a to b
};

/// How the pair resists there.
struct PlaceFriction {
  double sliding = 0;   ///< Coulomb's coefficient
  double rolling = 0;   ///< largest angular impulse across the normal per normal impulse [m]
  double spinning = 0;  ///< largest angular impulse about the normal per normal impulse [m]
};

struct PointImpulse {
  Vec3 linear = Vec3::Zero();   ///< on b at the place [N s]
  Vec3 angular = Vec3::Zero();  ///< on b, besides that of `linear` [N m s]
  double normal = 0;            ///< part of `linear` along n [N s]
  bool sticks = false;
};

/// Velocity of b against a at the place [m/s].
[[nodiscard]] Vec3 relative_velocity(const SolverBody& a, const SolverBody& b, const ContactPlace& place);

/// K_T of the paper, the sum of the two bodies' K = 1/m - [r] I^-1 [r]; bodies that do not yield add nothing.
[[nodiscard]] Mat3 collision_matrix(const SolverBody& a, const SolverBody& b, const ContactPlace& place);

/// The impulse after which n . u' = `speed` and friction has done what it can: first as if the place stuck,
/// u' = speed n, and where that leaves the friction cone, sliding along u. `K` must be positive definite.
[[nodiscard]] PointImpulse solve_impulse(const Mat3& K, const Vec3& u, const Vec3& n, double speed,
                                         double mu);

/// The same where the place has already been given an impulse in this phase: the sum of both must push and
/// lie in the cone, so a part of what was given may be taken back.
[[nodiscard]] PointImpulse solve_accumulated_impulse(const Mat3& K, const Vec3& u, const Vec3& n,
                                                     double speed, double mu, const Vec3& given);

/// Adds the angular impulse of rolling and spinning friction, and the linear one that keeps u' as it was.
/// `given` is the angular impulse of this phase so far, and `pressure` its normal impulse, this one included
/// [N s].
void add_rolling_and_spinning(const SolverBody& a, const SolverBody& b, const ContactPlace& place,
                              const Mat3& K, const PlaceFriction& friction, double pressure,
                              const Vec3& given, PointImpulse& impulse);

/// Gives the impulse to both bodies. Checks in debug builds that momentum is kept when both yield.
void apply_impulse(SolverBody& a, SolverBody& b, const ContactPlace& place, const PointImpulse& impulse);

/// Friction at a point with b the slip that would be left without it, sign changed, and K how the slip
/// answers [1/kg]: the impulse that stops the slip if it is no longer than `limit`, else the one of that
/// length that is opposite to the slip which it leaves. See solve_friction_disc in contact_patch.cpp.
[[nodiscard]] Vec2 friction_in_disc(const Eigen::Matrix2d& K, const Vec2& b, double limit);

/// Energy that the impulse would add: j . (u + u') / 2, where u' = u + K j [J].
[[nodiscard]] double work_of(const Mat3& K, const Vec3& u, const Vec3& j);

}  // namespace thrum::rigid
