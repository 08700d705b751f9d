// SPDX-License-Identifier: MIT
// Bodies of revolution from lines in the half plane (r, z).
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/shapes/shapes.h"

namespace thrum::bench {

inline mesh::TriangleMesh lathe(std::vector<Vec2> profile)
{
  return shapes::generate(shapes::LatheDesc{.profile = std::move(profile), .segments = 96});
}

/// A line from the axis as a wall: its points on both sides, half of `wall` away.
inline std::vector<Vec2> shell(const std::vector<Vec2>& line, double wall)
{
  std::vector<Vec2> outer;
  std::vector<Vec2> inner;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const Vec2 along = line[std::min(k + 1, line.size() - 1)] - line[k > 0 ? k - 1 : 0];
    const Vec2 normal = k == 0 ? Vec2(0, 1) : Vec2(Vec2(-along.y(), along.x()).normalized());
    outer.emplace_back(line[k] - 0.5 * wall * normal);
    inner.emplace_back(line[k] + 0.5 * wall * normal);
  }
  outer.insert(outer.end(), inner.rbegin(), inner.rend());
  return outer;
}

// Points between those of a line, at most 4 mm apart.
inline std::vector<Vec2> divided(const std::vector<Vec2>& line)
{
  std::vector<Vec2> points = {line[0]};
  for (std::size_t k = 1; k < line.size(); ++k) {
    const Vec2 along = line[k] - line[k - 1];
    const int pieces = std::max(1, static_cast<int>(along.norm() / 0.004));
    for (int i = 1; i <= pieces; ++i) points.emplace_back(line[k - 1] + along * i / pieces);
  }
  return points;
}

/// Of the wine glass of the acceptance values, 0.18 m high, wall [m].
inline std::vector<Vec2> wine_glass(double wall)
{
  return divided({{0, 0},
                  {0.034, 0},
                  {0.034, 0.0015},
                  {0.005, 0.004},
                  {0.004, 0.07},
                  {0.006, 0.085},
                  {0.022, 0.095},
                  {0.034, 0.115},
                  {0.037, 0.14},
                  {0.033, 0.18},
                  {0.033 - wall, 0.18},
                  {0.037 - wall, 0.14},
                  {0.034 - wall, 0.115},
                  {0.022 - 0.8 * wall, 0.095 + 0.8 * wall},
                  {0.008, 0.0875},
                  {0, 0.0875}});
}

/// A quarter of a circle, from below the centre up to its height.
inline std::vector<Vec2> hemisphere(double radius, int count)
{
  std::vector<Vec2> line;
  for (int k = 0; k <= count; ++k) {
    const double angle = std::numbers::pi / 2 * k / count;
    line.emplace_back(k == 0 ? 0 : radius * std::sin(angle), -radius * std::cos(angle));
  }
  return line;
}

}  // namespace thrum::bench
