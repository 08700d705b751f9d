// SPDX-License-Identifier: MIT
// Whether two rings are linked and how deep they overlap, from their middle circles.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "thrum/base/vec.h"

namespace thrum::test {

/// Circles of radius `radius` about the z axes of their own frames. The linking number of Gauss is the signed
/// number of times that one runs through the disc of the other; a circle meets a plane at most twice, in
/// opposite senses, so they are linked when exactly one of the two places lies in the disc.
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

/// The least distance between the two circles [m]. A point has a closed form distance from a circle; along
/// the other circle its minima are bracketed by samples and narrowed by thirds.
inline double distance_of_circles(const Pose& X_wa, const Pose& X_wb, double radius)
{
  constexpr std::size_t kSamples = 48;
  constexpr int kThirds = 40;
  const Pose X_ab = X_wa.inverse() * X_wb;
  const auto distance = [&](double t) {
    const Vec3 p = X_ab.point({radius * std::cos(t), radius * std::sin(t), 0});
    return std::hypot(std::hypot(p.x(), p.y()) - radius, p.z());
  };
  const double spacing = 2 * std::numbers::pi / kSamples;
  std::array<double, kSamples> sampled{};
  for (std::size_t i = 0; i < kSamples; ++i) sampled[i] = distance(static_cast<double>(i) * spacing);
  double least = *std::min_element(sampled.begin(), sampled.end());
  for (std::size_t i = 0; i < kSamples; ++i) {
    if (sampled[i] > sampled[(i + 1) % kSamples] || sampled[i] > sampled[(i + kSamples - 1) % kSamples])
      continue;
    double low = (static_cast<double>(i) - 1) * spacing;
    double high = (static_cast<double>(i) + 1) * spacing;
    for (int k = 0; k < kThirds; ++k) {
      const double u = low + (high - low) / 3;
      const double v = high - (high - low) / 3;
      (distance(u) < distance(v) ? high : low) = distance(u) < distance(v) ? v : u;
    }
    least = std::min(least, distance(0.5 * (low + high)));
  }
  return least;
}

}  // namespace thrum::test
