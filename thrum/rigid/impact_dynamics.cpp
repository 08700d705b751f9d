// SPDX-License-Identifier: MIT
#include "thrum/rigid/impact_dynamics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::rigid {

namespace {

/// The normal is of length 1 to this.
constexpr double kUnitTolerance = 1e-6;

/// Unknowns: v_A', w_A', then those of B if it moves, then J.
constexpr int kMaxUnknowns = 15;

template <int kSize>
using System = Eigen::Matrix<double, kSize, kSize>;
template <int kSize>
using Column = Eigen::Matrix<double, kSize, 1>;

// Gauss-Jordan elimination with partial pivoting on rows scaled to 1. The matrix becomes the identity.
template <int kSize>
Column<kSize> gauss_jordan(System<kSize> m, Column<kSize> x)
{
  for (int row = 0; row < kSize; ++row) {
    const double scale = m.row(row).cwiseAbs().maxCoeff();
    m.row(row) /= scale;
    x[row] /= scale;
  }
  for (int k = 0; k < kSize; ++k) {
    Eigen::Index pivot = 0;
    const double size = m.col(k).tail(kSize - k).cwiseAbs().maxCoeff(&pivot);
    if (!(size > 0)) throw Error("impact: the equations have no unique solution; check masses and inertias.");
    m.row(k).swap(m.row(k + pivot));
    std::swap(x[k], x[k + pivot]);
    x[k] /= m(k, k);
    m.row(k) /= m(k, k);
    for (int row = 0; row < kSize; ++row) {
      if (row == k || m(row, k) == 0) continue;
      const double factor = m(row, k);
      m.row(row) -= factor * m.row(k);
      x[row] -= factor * x[k];
    }
  }
  return x;
}

/// The conditions on the tangent.
struct Tangent {
  Vec3 u = Vec3::UnitX();
  Vec3 v = Vec3::UnitY();  ///< direction of slip
  bool sticks = true;      ///< (7) and (8), otherwise (9) and (10)
  double friction = 0;
};

// Rows (1)-(4), (6) and the two of the tangent; 15 unknowns, or 9 when B is fixed.
template <int kSize>
Column<kSize> solve(const ImpactBody& a, const ImpactBody& b, const ImpactDesc& desc, const Tangent& tangent)
{
  constexpr bool kBoth = kSize == kMaxUnknowns;
  constexpr int kJ = kSize - 3;
  System<kSize> m = System<kSize>::Zero();
  Column<kSize> y = Column<kSize>::Zero();
  const auto body_rows = [&](int row, const ImpactBody& body, double sign) {
    m.template block<3, 3>(row, row) = body.mass * Mat3::Identity();
    m.template block<3, 3>(row, kJ) = -sign * Mat3::Identity();
    y.template segment<3>(row) = body.mass * body.velocity;
    m.template block<3, 3>(row + 3, row + 3) = body.inertia;
    m.template block<3, 3>(row + 3, kJ) = -sign * base::skew(body.arm);
    y.template segment<3>(row + 3) = body.inertia * body.spin;
  };
  // d . V' with d . (w x r) = w . (r x d).
  const auto speed_row = [&](int row, const Vec3& d, double value) {
    m.template block<1, 3>(row, 0) = d.transpose();
    m.template block<1, 3>(row, 3) = a.arm.cross(d).transpose();
    if constexpr (kBoth) {
      m.template block<1, 3>(row, 6) = -d.transpose();
      m.template block<1, 3>(row, 9) = -b.arm.cross(d).transpose();
      y[row] = value;
    } else {
      y[row] = value + d.dot(b.velocity + b.spin.cross(b.arm));
    }
  };
  body_rows(0, a, 1);
  if constexpr (kBoth) body_rows(6, b, -1);
  speed_row(kJ, desc.normal, -desc.restitution * desc.normal.dot(relative_velocity(a, b)));
  if (tangent.sticks) {
    speed_row(kJ + 1, tangent.u, 0);
    speed_row(kJ + 2, tangent.v, 0);
  } else {
    m.template block<1, 3>(kJ + 1, kJ) = tangent.u.transpose();
    m.template block<1, 3>(kJ + 2, kJ) = (tangent.v + tangent.friction * desc.normal).transpose();
  }
  return gauss_jordan<kSize>(m, y);
}

// Velocities of both bodies and J, which are linear in J: a blend of two solutions is that of the blended
// impulses.
struct Solution {
  Column<12> velocities = Column<12>::Zero();
  Vec3 impulse = Vec3::Zero();

  [[nodiscard]] Solution blend(const Solution& to, double s) const
  {
    return {velocities + s * (to.velocities - velocities), impulse + s * (to.impulse - impulse)};
  }
};

Solution solve_with(const ImpactBody& a, const ImpactBody& b, const ImpactDesc& desc, const Tangent& tangent)
{
  Solution result;
  if (b.fixed) {
    const Column<9> x = solve<9>(a, b, desc, tangent);
    result.velocities << x.head<6>(), b.velocity, b.spin;
    result.impulse = x.tail<3>();
  } else {
    const Column<15> x = solve<15>(a, b, desc, tangent);
    result.velocities = x.head<12>();
    result.impulse = x.tail<3>();
  }
  return result;
}

// Energy that the impulse adds: J . (V + V') / 2.
double added_energy(const ImpactBody& a, const ImpactBody& b, const Solution& s)
{
  const Vec3 after = s.velocities.segment<3>(0) + s.velocities.segment<3>(3).cross(a.arm) -
                     s.velocities.segment<3>(6) - s.velocities.segment<3>(9).cross(b.arm);
  return 0.5 * s.impulse.dot(relative_velocity(a, b) + after);
}

// The largest share of the way from `from`, which adds no energy, to `to` at which none is added. Along it
// the energy is a parabola that opens upwards, known by three values.
double share_without_gain(const ImpactBody& a, const ImpactBody& b, const Solution& from, const Solution& to)
{
  const double e1 = added_energy(a, b, to);
  if (e1 <= 0) return 1;
  const double e0 = std::min(0.0, added_energy(a, b, from));
  const double half = added_energy(a, b, from.blend(to, 0.5));
  const double p = 2 * (e0 + e1) - 4 * half;
  const double q = e1 - e0 - p;
  if (!(p > 0)) return std::clamp(-e0 / (e1 - e0), 0.0, 1.0);
  return std::clamp((-q + std::sqrt(std::max(0.0, q * q - 4 * p * e0))) / (2 * p), 0.0, 1.0);
}

void check(const ImpactBody& a, const ImpactBody& b, const ImpactDesc& desc)
{
  for (const ImpactBody* body : {&a, &b}) {
    if (!body->fixed && !(body->mass > 0))
      throw Error(fmt::format("impact: a mass is {} kg; masses are positive.", body->mass));
  }
  if (a.fixed) throw Error("impact: body A is fixed; give the fixed body as B.");
  if (!(std::abs(desc.normal.norm() - 1) < kUnitTolerance))
    throw Error("impact: the normal is not of length 1.");
  if (!(desc.restitution >= 0 && desc.restitution <= 1))
    throw Error(fmt::format("impact: the restitution is {}; it is from 0 to 1.", desc.restitution));
  if (!(desc.friction >= 0))
    throw Error(fmt::format("impact: the friction is {}; it is 0 or positive.", desc.friction));
}

Vec3 tangent_part(const Vec3& x, const Vec3& n)
{
  return x - n * n.dot(x);
}

}  // namespace

Vec3 relative_velocity(const ImpactBody& a, const ImpactBody& b)
{
  return a.velocity + a.spin.cross(a.arm) - b.velocity - b.spin.cross(b.arm);
}

ImpactResult solve_impact(const ImpactBody& a, const ImpactBody& b, const ImpactDesc& desc)
{
  check(a, b, desc);
  const Vec3& n = desc.normal;
  const Vec3 V = relative_velocity(a, b);
  ImpactResult result;
  result.velocity_a = a.velocity;
  result.spin_a = a.spin;
  result.velocity_b = b.velocity;
  result.spin_b = b.spin;
  if (!(n.dot(V) < 0)) return result;

  // Directions of the tangent: along the slip, or any when there is none.
  const auto set_slip = [&](Tangent& along, const Vec3& direction) {
    Eigen::Index least = 0;
    n.cwiseAbs().minCoeff(&least);
    const Vec3 any = tangent_part(Vec3::Unit(least), n);
    along.v = (direction.norm() > 0 ? direction : any).normalized();
    along.u = along.v.cross(n);
  };
  Tangent tangent;
  const Vec3 slip = tangent_part(V, n);
  set_slip(tangent, slip);

  // Sticking first, then sliding.
  const Solution stuck = solve_with(a, b, desc, tangent);
  const double stuck_normal = n.dot(stuck.impulse);
  const Vec3 stuck_tangent = tangent_part(stuck.impulse, n);
  result.sticks = stuck_normal > 0 && stuck_tangent.norm() <= desc.friction * stuck_normal;
  Solution solution = stuck;
  tangent.sticks = false;
  if (!result.sticks) {
    tangent.friction = desc.friction;
    // What does not slip yet, but cannot stick, slips against the friction that would hold it.
    if (!(slip.norm() > 0)) set_slip(tangent, -stuck_tangent);
    solution = solve_with(a, b, desc, tangent);
  }
  if (desc.limit_energy) {
    tangent.friction = 0;
    const Solution smooth = solve_with(a, b, desc, tangent);
    double share = 1;
    if (!(n.dot(solution.impulse) > 0)) {
      const double j0 = n.dot(smooth.impulse);
      const double rise = stuck_tangent.norm() - desc.friction * (stuck_normal - j0);
      share = rise > 0 ? std::min(1.0, desc.friction * j0 / rise) : 1.0;
      solution = smooth.blend(stuck, share);
    }
    const double energy_share = share_without_gain(a, b, smooth, solution);
    solution = smooth.blend(solution, energy_share);
    result.limited = share < 1 || energy_share < 1;
    result.sticks = result.sticks && !result.limited;
  }
  result.impulse = solution.impulse;
  result.velocity_a = solution.velocities.segment<3>(0);
  result.spin_a = solution.velocities.segment<3>(3);
  result.velocity_b = solution.velocities.segment<3>(6);
  result.spin_b = solution.velocities.segment<3>(9);
  return result;
}

}  // namespace thrum::rigid
