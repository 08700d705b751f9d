// SPDX-License-Identifier: MIT
#include "thrum/elastic/contact_spring.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace thrum::elastic {

// Restitution of a mass on a one-sided spring and dashpot of damping ratio z, which let go when the force
// would pull: with s = sqrt(|1 - z^2|) and the time t at which the force vanishes, e = exp(-z t) in units of
// the spring [Schwager and Poeschel 2007]:
//
//     t = (pi - atan2(2 z s, 1 - 2 z^2)) / s    for z < 1,       t = ln((z + s) / (z - s)) / s    for z > 1.
double spring_restitution(double z)
{
  constexpr double kCritical = 1e-4;  // near z = 1 both tend to t = 2
  const double s = std::sqrt(std::abs(1 - z * z));
  if (s < kCritical) return std::exp(-2.0);
  const double t =
      z < 1 ? (std::numbers::pi - std::atan2(2 * z * s, 1 - 2 * z * z)) / s : std::log((z + s) / (z - s)) / s;
  return std::exp(-z * t);
}

// Its inverse, from a table made by halving.
double damping_ratio(double restitution)
{
  constexpr std::size_t kEntries = 257;
  static const std::array<double, kEntries> table = [] {
    constexpr int kBisections = 50;
    constexpr double kMaxDampingRatio = 10;  // bounces with 0.0025
    std::array<double, kEntries> ratios{};
    for (std::size_t i = 0; i + 1 < kEntries; ++i) {
      const double e = static_cast<double>(i) / (kEntries - 1);
      double low = 0;
      double high = kMaxDampingRatio;
      for (int k = 0; k < kBisections; ++k)
        (spring_restitution((low + high) / 2) > e ? low : high) = (low + high) / 2;
      ratios[i] = (low + high) / 2;
    }
    return ratios;
  }();
  const double at = std::clamp(restitution, 0.0, 1.0) * (kEntries - 1);
  const auto i = std::min(static_cast<std::size_t>(at), kEntries - 2);
  const double share = at - static_cast<double>(i);
  return (1 - share) * table[i] + share * table[i + 1];
}

}  // namespace thrum::elastic
