// SPDX-License-Identifier: MIT
// Bodies of revolution from lines in the half plane (r, z).
#pragma once

#include <algorithm>
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

}  // namespace thrum::bench
