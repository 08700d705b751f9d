// SPDX-License-Identifier: MIT
// Signed distances in closed form, for tests and benchmarks.
#pragma once

#include <algorithm>
#include <cmath>

#include "thrum/base/vec.h"

namespace thrum::support {

inline double ball_distance(const Vec3& p, double radius)
{
  return p.norm() - radius;
}

/// A box of half-size `half` around the origin.
inline double box_distance(const Vec3& p, const Vec3& half)
{
  const Vec3 q = p.cwiseAbs() - half;
  return q.cwiseMax(0).norm() + std::min(q.maxCoeff(), 0.0);
}

/// A torus around the z axis.
inline double torus_distance(const Vec3& p, double major, double minor)
{
  return std::hypot(std::hypot(p.x(), p.y()) - major, p.z()) - minor;
}

/// A cylinder around the z axis.
inline double cylinder_distance(const Vec3& p, double radius, double half_height)
{
  const double r = std::hypot(p.x(), p.y()) - radius;
  const double z = std::abs(p.z()) - half_height;
  return std::hypot(std::max(r, 0.0), std::max(z, 0.0)) + std::min(std::max(r, z), 0.0);
}

}  // namespace thrum::support
