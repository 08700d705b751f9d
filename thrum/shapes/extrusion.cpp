// SPDX-License-Identifier: MIT
#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/shapes/constrained_triangulation.h"
#include "thrum/shapes/prism.h"
#include "thrum/shapes/profile.h"
#include "thrum/shapes/shape_checks.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {

namespace {

// The ring cut into pieces of about edge_length, oriented with the material on the left.
std::vector<Vec2> prepared_ring(const std::vector<Vec2>& ring, double edge_length, bool counter_clockwise)
{
  std::vector<Vec2> points;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Vec2& a = ring[i];
    const Vec2& b = ring[(i + 1) % ring.size()];
    const int count = segment_count((b - a).norm(), edge_length);
    for (int k = 0; k < count; ++k) points.push_back(a + (b - a) * (static_cast<double>(k) / count));
  }
  if ((twice_area(points) > 0) != counter_clockwise) std::reverse(points.begin(), points.end());
  return points;
}

// Points of a triangular grid inside the polygon and away from its rings, so that the cap's triangles are
// even.
std::vector<Vec2> grid_points_inside(const std::vector<std::vector<Vec2>>& rings, double edge_length)
{
  Vec2 low = rings[0][0];
  Vec2 high = rings[0][0];
  for (const Vec2& p : rings[0]) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  constexpr double kRowHeight = 0.8660254037844386;  // of a triangular grid of unit edge
  constexpr double kClearance = 0.6;                 // from the rings, in edge lengths
  const int rows = segment_count(high.y() - low.y(), edge_length * kRowHeight);
  const int columns = segment_count(high.x() - low.x(), edge_length);
  std::vector<Vec2> inside;
  for (int j = 0; j <= rows; ++j) {
    for (int i = 0; i <= columns; ++i) {
      const Vec2 p = low + edge_length * Vec2(i + (j % 2 == 0 ? 0.25 : 0.75), j * kRowHeight);
      bool odd = false;
      double distance = (high - low).norm();
      for (const auto& ring : rings) {
        for (std::size_t k = 0; k < ring.size(); ++k) {
          const Vec2& a = ring[k];
          const Vec2& b = ring[(k + 1) % ring.size()];
          if ((a.y() > p.y()) != (b.y() > p.y()) &&
              p.x() < a.x() + (p.y() - a.y()) / (b.y() - a.y()) * (b.x() - a.x())) {
            odd = !odd;
          }
          const double t = std::clamp((p - a).dot(b - a) / (b - a).squaredNorm(), 0.0, 1.0);
          distance = std::min(distance, (p - a - t * (b - a)).norm());
        }
      }
      if (odd && distance > kClearance * edge_length) inside.push_back(p);
    }
  }
  return inside;
}

}  // namespace

mesh::TriangleMesh generate(const ExtrusionDesc& desc)
{
  require_positive(desc.height, "height of the extrusion");
  require_not_negative(desc.edge_length, "edge length");
  return make_prism(desc, segment_count(desc.height, desc.edge_length), PrismDiagonals::parallel);
}

mesh::TriangleMesh make_prism(const ExtrusionDesc& desc, int layers, PrismDiagonals diagonals)
{
  if (desc.outline.size() < 3) throw Error("The outline of an extrusion needs at least three points.");
  std::vector<std::vector<Vec2>> rings = {prepared_ring(desc.outline, desc.edge_length, true)};
  for (const auto& hole : desc.holes) {
    if (hole.size() < 3) throw Error("A hole of an extrusion needs at least three points.");
    rings.push_back(prepared_ring(hole, desc.edge_length, false));
  }
  std::vector<Vec2> extra;
  if (desc.edge_length > 0) extra = grid_points_inside(rings, desc.edge_length);
  const std::vector<Triangle> cap =
      triangulate_polygon(rings[0], std::vector(rings.begin() + 1, rings.end()), extra);

  // Levels of ring points from the bottom up, then the extra points of the two caps.
  std::vector<Vec2> outline;
  for (const auto& ring : rings) outline.insert(outline.end(), ring.begin(), ring.end());
  const auto count = count_of(outline);
  const Index levels = static_cast<Index>(layers);
  mesh::TriangleMesh mesh;
  for (Index level = 0; level <= levels; ++level) {
    const double z = level == levels ? desc.height : desc.height * level / levels;
    for (const Vec2& p : outline) mesh.vertices.emplace_back(p.x(), p.y(), z);
  }
  for (const double z : {0.0, desc.height}) {
    for (const Vec2& p : extra) mesh.vertices.emplace_back(p.x(), p.y(), z);
  }

  const Index extra_bottom = (levels + 1) * count;
  const auto extra_count = count_of(extra);
  const auto bottom = [&](Index p) {
    return p < count ? p : extra_bottom + p - count;
  };
  const auto top = [&](Index p) {
    return p < count ? levels * count + p : extra_bottom + extra_count + p - count;
  };
  for (const Triangle& t : cap) {
    mesh.triangles.push_back({bottom(t[0]), bottom(t[2]), bottom(t[1])});
    mesh.triangles.push_back({top(t[0]), top(t[1]), top(t[2])});
  }
  Index first = 0;
  for (const auto& ring : rings) {
    const auto size = count_of(ring);
    for (Index i = 0; i < size; ++i) {
      for (Index level = 0; level < levels; ++level) {
        const Index a = level * count + first + i;
        const Index b = level * count + first + (i + 1) % size;
        if (diagonals == PrismDiagonals::alternating && level % 2 == 1) {
          mesh.triangles.push_back({a, b, a + count});
          mesh.triangles.push_back({b, b + count, a + count});
        } else {
          mesh.triangles.push_back({a, b, b + count});
          mesh.triangles.push_back({a, b + count, a + count});
        }
      }
    }
    first += size;
  }
  return mesh;
}

}  // namespace thrum::shapes
