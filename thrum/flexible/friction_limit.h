// SPDX-License-Identifier: MIT
// Friction within its limit: the nearest force, and in which directions that force follows; not for others.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace thrum::flexible {

using Pair = std::array<double, 2>;

struct LimitedForce {
  Pair force{};
  /// Directions in which it follows a change of what was wanted: 2 inside, 1 on a side or arc, 0 in a corner.
  int free_directions = 2;
  Pair along{};      ///< that one direction
  double share = 1;  ///< by which it follows there
};

/// The point of a regular polygon nearest to p. One corner lies on the first axis, at `radius`.
inline LimitedForce into_polygon(const Pair& p, double radius, int corners)
{
  const double sector = 2 * std::numbers::pi / corners;
  const double angle = std::atan2(p[1], p[0]);
  const double middle = (std::floor(angle / sector) + 0.5) * sector;  // of the side that p sees
  const double apothem = radius * std::cos(0.5 * sector);
  const double out = p[0] * std::cos(middle) + p[1] * std::sin(middle);
  if (out <= apothem) return {p};
  const double half = radius * std::sin(0.5 * sector);
  const Pair side = {-std::sin(middle), std::cos(middle)};
  const double wanted = p[0] * side[0] + p[1] * side[1];
  const double along = std::clamp(wanted, -half, half);
  return {{apothem * std::cos(middle) + along * side[0], apothem * std::sin(middle) + along * side[1]},
          along == wanted ? 1 : 0,
          side};
}

inline LimitedForce into_disk(const Pair& p, double radius)
{
  const double length = std::hypot(p[0], p[1]);
  if (length <= radius) return {p};
  const double share = radius / length;
  return {{p[0] * share, p[1] * share}, radius > 0 ? 1 : 0, {-p[1] / length, p[0] / length}, share};
}

/// Of `count` directions; a polygon needs two.
inline LimitedForce into_limit(const Pair& p, int count, double radius, int corners)
{
  if (count == 2) return corners > 0 ? into_polygon(p, radius, corners) : into_disk(p, radius);
  const double force = std::clamp(p[0], -radius, radius);
  return {{force, 0}, force == p[0] ? 1 : 0, {1, 0}};
}

}  // namespace thrum::flexible
