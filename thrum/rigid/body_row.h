// SPDX-License-Identifier: MIT
// A row of the constraints between two bodies: its speed, how it yields, and an impulse along it.
#pragma once

#include <cstdint>

#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

/// J v = linear . (v_b - v_a) + angular_b . w_b - angular_a . w_a.
struct BodyRow {
  std::int32_t a = 0;
  std::int32_t b = 0;
  Vec3 linear = Vec3::Zero();
  Vec3 angular_a = Vec3::Zero();
  Vec3 angular_b = Vec3::Zero();
};

inline double speed_of(const BodyRow& row, SolverBodies& bodies)
{
  const SolverBody& A = bodies[row.a];
  const SolverBody& B = bodies[row.b];
  return row.linear.dot(B.v - A.v) + row.angular_b.dot(B.w) - row.angular_a.dot(A.w);
}

/// J M^-1 J^T between two rows: through each body that they share.
inline double coupling(const BodyRow& r, const BodyRow& s, SolverBodies& bodies)
{
  double sum = 0;
  const auto through = [&](std::int32_t body, double sign, const Vec3& angular_r, const Vec3& angular_s) {
    const SolverBody& b = bodies[body];
    sum += sign * (b.inverse_mass * r.linear.dot(s.linear) + angular_r.dot(b.inverse_inertia * angular_s));
  };
  if (r.a == s.a) through(r.a, 1, r.angular_a, s.angular_a);
  if (r.b == s.b) through(r.b, 1, r.angular_b, s.angular_b);
  if (r.a == s.b) through(r.a, -1, r.angular_a, s.angular_b);
  if (r.b == s.a) through(r.b, -1, r.angular_b, s.angular_a);
  return sum;
}

inline void apply(const BodyRow& row, SolverBodies& bodies, double impulse)
{
  SolverBody& A = bodies[row.a];
  SolverBody& B = bodies[row.b];
  A.v -= (A.inverse_mass * impulse) * row.linear;
  A.w -= A.inverse_inertia * (impulse * row.angular_a);
  B.v += (B.inverse_mass * impulse) * row.linear;
  B.w += B.inverse_inertia * (impulse * row.angular_b);
}

}  // namespace thrum::rigid
