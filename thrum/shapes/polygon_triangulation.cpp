// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/shapes/constrained_triangulation.h"

namespace thrum::shapes {

namespace {

using GridPoint = std::array<std::int64_t, 2>;

// Points are rounded to a grid of 2^-27 of the polygon's size, on which orientations are exact in 64 bits.
constexpr double kGridCells = 1 << 27;
constexpr int kImprovePasses = 50;

int sign_of_turn(const GridPoint& a, const GridPoint& b, const GridPoint& c)
{
  const std::int64_t det = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  return det > 0 ? 1 : det < 0 ? -1 : 0;
}

std::vector<GridPoint> on_grid(const std::vector<Vec2>& points)
{
  Vec2 low = points.front();
  Vec2 high = points.front();
  for (const Vec2& p : points) {
    if (!p.allFinite()) throw Error("A point of the polygon is not finite.");
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const double size = (high - low).maxCoeff();
  if (!(size > 0)) throw Error("The polygon is a single point.");
  std::vector<GridPoint> grid;
  for (const Vec2& p : points) {
    const Vec2 scaled = (p - low) * (kGridCells / size);
    grid.push_back({std::llround(scaled.x()), std::llround(scaled.y())});
  }
  return grid;
}

// Triangles inside: those reached from the outermost ones by crossing the rings an odd number of times.
std::vector<Triangle> inside_triangles(const ConstrainedTriangulation& cut, Index first_helper)
{
  const auto& all = cut.triangles();
  std::vector<int> depth(all.size(), -1);
  std::vector<std::size_t> front;
  for (std::size_t t = 0; t < all.size(); ++t) {
    if (*std::max_element(all[t].begin(), all[t].end()) < first_helper) continue;
    depth[t] = 0;
    front.push_back(t);
  }
  // All triangles at one depth first, then those one ring further inside.
  for (int level = 0; !front.empty(); ++level) {
    std::vector<std::size_t> beyond;
    while (!front.empty()) {
      const std::size_t t = front.back();
      front.pop_back();
      for (std::size_t k = 0; k < 3; ++k) {
        const Index a = all[t][k];
        const Index b = all[t][(k + 1) % 3];
        const Index across = cut.triangle_of(b, a);
        if (across < 0 || depth[at(across)] >= 0) continue;
        if (cut.is_constrained(a, b)) {
          beyond.push_back(at(across));
        } else {
          depth[at(across)] = level;
          front.push_back(at(across));
        }
      }
    }
    for (const std::size_t t : beyond) {
      if (depth[t] >= 0) continue;
      depth[t] = level + 1;
      front.push_back(t);
    }
  }
  std::vector<Triangle> inside;
  for (std::size_t t = 0; t < all.size(); ++t) {
    if (depth[t] % 2 == 1) inside.push_back(all[t]);
  }
  return inside;
}

}  // namespace

std::vector<Triangle> triangulate_polygon(const std::vector<Vec2>& outline,
                                          const std::vector<std::vector<Vec2>>& holes,
                                          const std::vector<Vec2>& extra)
{
  std::vector<Vec2> points = outline;
  std::vector<std::pair<std::size_t, std::size_t>> rings = {{0, outline.size()}};
  for (const auto& hole : holes) {
    rings.emplace_back(points.size(), hole.size());
    points.insert(points.end(), hole.begin(), hole.end());
  }
  for (const auto& [first, count] : rings) {
    if (count < 3) throw Error("Every ring of a polygon needs at least three points.");
  }
  points.insert(points.end(), extra.begin(), extra.end());
  std::vector<GridPoint> grid = on_grid(points);
  std::map<GridPoint, std::size_t> seen;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (!seen.try_emplace(grid[i], i).second) {
      throw Error(fmt::format("The polygon passes twice through ({}, {}).", points[i].x(), points[i].y()));
    }
  }

  // Three auxiliary points far outside: the triangle x, y >= -cells, x + y <= 6 cells contains the polygon
  // with a wide margin.
  const auto helper = count_of(grid);
  constexpr auto kCells = static_cast<std::int64_t>(kGridCells);
  grid.push_back({-kCells, -kCells});
  grid.push_back({7 * kCells, -kCells});
  grid.push_back({-kCells, 7 * kCells});
  ConstrainedTriangulation cut({helper, helper + 1, helper + 2}, [&](Index a, Index b, Index c) {
    return sign_of_turn(grid[at(a)], grid[at(b)], grid[at(c)]);
  });
  for (Index p = 0; p < helper; ++p) cut.insert_point(p);
  for (const auto& [first, count] : rings) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!cut.insert_segment(static_cast<Index>(first + i), static_cast<Index>(first + (i + 1) % count))) {
        throw Error("The polygon crosses itself or one of its holes.");
      }
    }
  }
  // Delaunay flips: swap while the angles opposite to the edge sum to more than a half turn.
  const auto point = [&](Index i) {
    return points[at(i)];
  };
  cut.improve(
      [&](Index a, Index b, Index c, Index d) {
        if (std::max({a, b, c, d}) >= helper) return false;
        const auto cotangent = [&](Index apex) {
          const Vec2 u = point(a) - point(apex);
          const Vec2 v = point(b) - point(apex);
          return u.dot(v) / std::abs(u.x() * v.y() - u.y() * v.x());
        };
        // sum of cotangents; rounding must not cause an infinite loop
        constexpr double kFlipThreshold = -1e-9;
        return cotangent(c) + cotangent(d) < kFlipThreshold;
      },
      kImprovePasses);
  return inside_triangles(cut, helper);
}

}  // namespace thrum::shapes
