// SPDX-License-Identifier: MIT
// Whether two rings are linked, from their middle circles.
#pragma once

#include <cmath>

#include "thrum/base/vec.h"

namespace thrum::test {

/// Circles of radius `radius` about the z axes of their own frames. The linking number of Gauss is the signed number of
/// times that one runs through the disc of the other; a circle meets a plane at most twice, in opposite senses, so they
/// are linked when exactly one of the two places lies in the disc.
inline bool are_linked(const Pose& X_wa, const Pose& X_wb, double radius)
{
  const Pose X_ab = X_wa.inverse() * X_wb;
  // Height of the circle of b over the disc of a: z + radius (u cos t + v sin t).
  const Vec3 x = X_ab.direction(Vec3::UnitX());
  const Vec3 y = X_ab.direction(Vec3::UnitY());
  const double amplitude = radius * std::hypot(x.z(), y.z());
  if (amplitude <= std::abs(X_ab.position.z())) return false;
  const double phase = std::atan2(y.z(), x.z());
  const double half = std::acos(-X_ab.position.z() / amplitude);
  const auto in_disc = [&](double t) {
    const Vec3 p = X_ab.position + radius * (std::cos(t) * x + std::sin(t) * y);
    return std::hypot(p.x(), p.y()) < radius;
  };
  return in_disc(phase + half) != in_disc(phase - half);
}

}  // namespace thrum::test
