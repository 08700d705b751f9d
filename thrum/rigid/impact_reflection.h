// SPDX-License-Identifier: MIT
// What an impact does to bodies that touch: generalised reflections [Smith12].
//
// With u = J v the speeds along the normals (negative: approaching), A = J M^-1 J^T, and V the points that
// approach, one reflection is
//
//     0 <= lambda  complementary to  u_V + A_VV lambda >= 0,      v <- v + 2 M^-1 J_V^T lambda,          (1)
//
// twice the way to the nearest velocity at which nothing approaches, so that the kinetic energy stays as it
// is. Reflections are repeated until nothing approaches. All points that approach are treated at once, so
// that symmetry is kept; points that do not approach take no part, so that bodies break away and the impact
// travels along a row of balls.
//
// Restitution: P v is the nearest velocity at which nothing approaches, R v the end of the reflections, and
//
//     J v+ = e J R v + (1 - e) J P v                                                                     (2)
//
// at each point. If e is the same everywhere, v+ = e R v + (1 - e) P v, and since the energy is convex it
// does not grow. If it differs, v+ solves 0 <= lambda complementary to J v+ - (2) >= 0. Then friction acts
// within mu times the normal impulses, the normal speeds (2) kept. Where different e or friction would gain
// energy, the last share of the change that does is left out.
//
// Joints hold all through: their rows are eliminated from A. What moves along them before the impact, from
// the bend of a substep or since a joint was torn apart, is stopped first, as in an inelastic impact. Kept,
// it drives the bodies like a kinematic one, and the impulses of the joints bring energy that (1) knows
// nothing of: chains of 5 links at 200 to 900 m/s that hit a wall got 73 times what they had.
//
// Where we leave the paper: the factor 2 in (1) is computed from lambda as -2 lambda.u / (lambda.A lambda),
// so that energy is kept to rounding whatever the accuracy of lambda; friction; joints; different e.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/rigid/body_row.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

/// A contact point of an impact. The normal is from a to b.
struct ReflectionPoint {
  std::int32_t a = 0;
  std::int32_t b = 0;
  Vec3 n = Vec3::Zero();
  Vec3 ra = Vec3::Zero();  ///< from the centre of mass of a [m]
  Vec3 rb = Vec3::Zero();
  double restitution = 0;
  double friction = 0;
  /// Restitution that would part the point more slowly than this is 0 [m/s].
  double min_rebound = 0;

  double impulse = 0;                    ///< result: along n, on b [N s]
  Vec3 friction_impulse = Vec3::Zero();  ///< result: on b [N s]
};

/// A row of a joint that holds both ways: J = (-linear, -angular_a, +linear, +angular_b).
using ReflectionJointRow = BodyRow;

struct ReflectionResult {
  int reflections = 0;
  bool complete = true;  ///< false: too many reflections; what still approached has been stopped
};

/// Changes the velocities of the bodies from before the impact to after it.
ReflectionResult reflect(std::vector<ReflectionPoint>& points, const std::vector<ReflectionJointRow>& joints,
                         SolverBodies& bodies);

}  // namespace thrum::rigid
