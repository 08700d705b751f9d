// SPDX-License-Identifier: MIT
#include "thrum/shapes/mesh_arrangement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh/bvh.h"
#include "thrum/shapes/constrained_triangulation.h"

namespace thrum::shapes {

namespace {

constexpr double kPairMargin = 0.5;  // in cells: the hierarchy must not miss pairs that just touch
constexpr double kOutputRounding =
    0x1p14;  // positions are rounded to cell / kOutputRounding, above the error of doubles
constexpr int kImprovePasses = 20;

std::uint64_t undirected(Index a, Index b)
{
  const auto low = static_cast<std::uint32_t>(std::min(a, b));
  const auto high = static_cast<std::uint32_t>(std::max(a, b));
  return (static_cast<std::uint64_t>(low) << 32) | high;
}

Grid grid_for(std::span<const mesh::TriangleMesh> meshes)
{
  Box3 box;
  for (const mesh::TriangleMesh& mesh : meshes) box.extend(bounding_box(mesh));
  const double size = box.isEmpty() ? 0 : box.sizes().maxCoeff();
  if (!(size > 0)) throw Error("The meshes of the boolean operation have no extent.");
  // The largest power of two that keeps every coordinate within kGridBits.
  int exponent = 0;
  std::frexp(size, &exponent);
  Grid grid;
  grid.cell = std::ldexp(1.0, exponent + 1 - mesh::kGridBits);
  grid.origin = (box.min() / grid.cell).array().floor().matrix();
  return grid;
}

// Rounding may make the three corners of a needle collinear. Such a triangle is flat between its long side
// and the two short ones; flipping the long side with the neighbouring triangle removes it and keeps the
// surface closed.
void swap_flat_triangles(std::vector<Triangle>& triangles, const mesh::PointTable& points)
{
  const auto grid = [&](Index i) -> const mesh::GridPoint& {
    return points[i].grid;
  };
  const auto is_flat = [&](const Triangle& t) {
    return mesh::plane_through(grid(t[0]), grid(t[1]), grid(t[2])).is_degenerate();
  };
  const auto length2 = [&](Index a, Index b) {
    return (points[a].approximate - points[b].approximate).squaredNorm();
  };
  for (std::size_t round = 0; round <= triangles.size(); ++round) {
    const auto flat = std::find_if(triangles.begin(), triangles.end(), is_flat);
    if (flat == triangles.end()) return;
    Triangle t = *flat;
    while (length2(t[0], t[1]) < length2(t[1], t[2]) || length2(t[0], t[1]) < length2(t[2], t[0])) {
      std::rotate(t.begin(), t.begin() + 1, t.end());
    }
    // t = (a, b, m) with m between a and b; beyond lies (b, a, d).
    const auto beyond = std::find_if(triangles.begin(), triangles.end(), [&](const Triangle& s) {
      return (s[0] == t[1] && s[1] == t[0]) || (s[1] == t[1] && s[2] == t[0]) ||
             (s[2] == t[1] && s[0] == t[0]);
    });
    if (beyond == triangles.end()) break;
    Index d = -1;
    for (const Index v : *beyond) {
      if (v != t[0] && v != t[1]) d = v;
    }
    if (d == t[2]) {
      // The two coincide with opposite orientation: both are removed.
      const auto [first, second] = std::minmax(flat, beyond);
      triangles.erase(second);
      triangles.erase(first);
      continue;
    }
    *flat = {t[0], d, t[2]};
    *beyond = {d, t[1], t[2]};
  }
  throw Error("A mesh has triangles without area that cannot be removed; repair it first.");
}

void check_closed(const std::vector<Triangle>& triangles, int number)
{
  std::map<std::pair<Index, Index>, int> balance;
  for (const Triangle& t : triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k];
      const Index b = t[(k + 1) % 3];
      balance[std::minmax(a, b)] += a < b ? 1 : -1;
    }
  }
  const auto open =
      std::count_if(balance.begin(), balance.end(), [](const auto& e) { return e.second != 0; });
  if (open > 0) {
    throw Error(
        fmt::format("Mesh {} is not closed ({} open edges); boolean operations need closed meshes. 'thrum "
                    "mesh info' shows where it is open.",
                    number + 1, open));
  }
}

}  // namespace

mesh::GridPoint Grid::round(const Vec3& p) const
{
  mesh::GridPoint g{};
  for (std::size_t k = 0; k < 3; ++k) g[k] = std::llround(p[k] / cell - origin[k]);
  return g;
}

Vec3 Grid::position(const mesh::ExactPoint& p) const
{
  const Vec3 rounded = (p.approximate * kOutputRounding).array().round().matrix() / kOutputRounding;
  return (rounded + origin) * cell;
}

MeshArrangement::MeshArrangement(std::span<const mesh::TriangleMesh> meshes) : grid_(grid_for(meshes))
{
  std::vector<Index> first;
  for (std::size_t m = 0; m < meshes.size(); ++m) {
    first.push_back(count_of(triangles_));
    add_mesh(meshes[m], static_cast<int>(m));
  }
  first.push_back(count_of(triangles_));
  marks_.resize(triangles_.size());
  coplanar_.resize(triangles_.size());
  cuts_.resize(meshes.size());

  // A hierarchy per mesh, in grid cells, finds the pairs that may meet.
  std::vector<mesh::Bvh> hierarchies;
  for (std::size_t m = 0; m < meshes.size(); ++m) {
    mesh::TriangleMesh rounded;
    for (Index t = first[m]; t < first[m + 1]; ++t) {
      const auto base = count_of(rounded.vertices);
      for (const Index v : triangles_[at(t)].corners) {
        rounded.vertices.push_back(points_[v].approximate);
      }
      rounded.triangles.push_back({base, base + 1, base + 2});
    }
    hierarchies.emplace_back(std::move(rounded));
  }
  for (std::size_t m = 0; m < meshes.size(); ++m) {
    for (std::size_t n = m + 1; n < meshes.size(); ++n) {
      mesh::Bvh::for_each_near_pair(hierarchies[m], Pose{}, hierarchies[n], Pose{}, kPairMargin,
                                    [&](Index a, Index b) {
                                      intersect(first[m] + a, first[n] + b);
                                      return true;
                                    });
    }
  }
  for (std::size_t t = 0; t < triangles_.size(); ++t) divide(static_cast<Index>(t));
}

void MeshArrangement::add_mesh(const mesh::TriangleMesh& mesh, int number)
{
  check_indices(mesh);
  std::vector<Index> of_vertex;
  for (const Vec3& v : mesh.vertices) of_vertex.push_back(points_.add(mesh::grid_point(grid_.round(v))));
  std::vector<Triangle> rounded;
  for (const Triangle& t : mesh.triangles) {
    Triangle r{};
    for (std::size_t k = 0; k < 3; ++k) r[k] = of_vertex[at(t[k])];
    if (r[0] != r[1] && r[1] != r[2] && r[2] != r[0]) rounded.push_back(r);
  }
  check_closed(rounded, number);
  swap_flat_triangles(rounded, points_);
  if (rounded.empty()) throw Error(fmt::format("Mesh {} is too small compared with the others.", number + 1));
  for (const Triangle& r : rounded) {
    GridTriangle t;
    t.corners = r;
    t.plane = mesh::plane_through(points_[r[0]].grid, points_[r[1]].grid, points_[r[2]].grid);
    t.mesh = number;
    for (int k = 1; k < 3; ++k) {
      const auto size = [&](int a) {
        return std::abs(t.plane.normal[at(a)]);
      };
      if (size(k) > size(t.axis)) t.axis = k;
    }
    t.turn = t.plane.normal[at(t.axis)] > 0 ? 1 : -1;
    triangles_.push_back(t);
  }
}

int MeshArrangement::orientation_in(const GridTriangle& t, Index a, Index b, Index c) const
{
  return t.turn * orientation(points_[a], points_[b], points_[c], t.axis);
}

bool MeshArrangement::is_cut(int mesh, Index a, Index b) const
{
  return cuts_[at(mesh)].count(undirected(a, b)) > 0;
}

// Whether a point of its plane lies in the triangle or on its border.
bool MeshArrangement::contains(Index t, Index p) const
{
  const GridTriangle& triangle = triangles_[at(t)];
  const Triangle& c = triangle.corners;
  if (p == c[0] || p == c[1] || p == c[2]) return true;
  for (std::size_t k = 0; k < 3; ++k) {
    if (orientation_in(triangle, c[k], c[(k + 1) % 3], p) < 0) return false;
  }
  return true;
}

// Points where the border of t meets u: corners in the plane of u and edges that pass through it.
void MeshArrangement::add_edge_crossings(Index t, Index u, std::vector<Index>& found)
{
  const Triangle& c = triangles_[at(t)].corners;
  const mesh::GridPlane& plane = triangles_[at(u)].plane;
  std::array<int, 3> sides{};
  for (std::size_t k = 0; k < 3; ++k) sides[k] = side(plane, points_[c[k]]);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t next = (k + 1) % 3;
    if (sides[k] == 0 && contains(u, c[k])) found.push_back(c[k]);
    if (sides[k] * sides[next] < 0) {
      // Both triangles at the edge must compute the same point; this holds because the points are exact.
      const Index p = points_.add(line_plane_intersection(points_[c[k]].grid, points_[c[next]].grid, plane));
      if (contains(u, p)) found.push_back(p);
    }
  }
}

void MeshArrangement::intersect(Index t, Index u)
{
  const auto beyond = [&](Index a, Index b) {
    const mesh::GridPlane& plane = triangles_[at(b)].plane;
    int sum = 0;
    int zeros = 0;
    for (const Index v : triangles_[at(a)].corners) {
      const int s = side(plane, points_[v]);
      sum += s;
      zeros += s == 0 ? 1 : 0;
    }
    return zeros == 3 ? 0 : std::abs(sum) == 3 ? 1 : 2;  // in the plane, clear of it, crossing it
  };
  const int kind = beyond(t, u);
  if (kind == 1) return;
  if (kind == 0) return intersect_coplanar(t, u);
  if (beyond(u, t) == 1) return;

  // Two triangles in different planes share a segment, a point or nothing; its ends lie on their borders.
  std::vector<Index> found;
  add_edge_crossings(t, u, found);
  add_edge_crossings(u, t, found);
  mark(t, found);
  mark(u, found);
}

// Records the two extreme points of a collinear set as a segment, or a single one as a point.
void MeshArrangement::mark(Index t, const std::vector<Index>& found)
{
  if (found.empty()) return;
  const auto before = [&](Index a, Index b) {
    return a != b && compare(points_[a], points_[b]) < 0;
  };
  const auto [low, high] = std::minmax_element(found.begin(), found.end(), before);
  Marks& marks = marks_[at(t)];
  marks.points.push_back(*low);
  if (*low == *high) return;
  marks.points.push_back(*high);
  marks.segments.emplace_back(std::min(*low, *high), std::max(*low, *high));
}

void MeshArrangement::intersect_coplanar(Index t, Index u)
{
  const std::size_t before = marks_[at(t)].points.size();
  clip_edges(t, u);
  clip_edges(u, t);
  if (marks_[at(t)].points.size() == before) return;
  coplanar_[at(t)].push_back(u);
  coplanar_[at(u)].push_back(t);
}

// Marks on t, and on u, the part of each edge of u that lies in t.
void MeshArrangement::clip_edges(Index t, Index u)
{
  const GridTriangle& triangle = triangles_[at(t)];
  const Triangle& c = triangle.corners;
  const Triangle& d = triangles_[at(u)].corners;
  for (std::size_t k = 0; k < 3; ++k) {
    const Index p = d[k];
    const Index q = d[(k + 1) % 3];
    std::vector<Index> found;
    if (contains(t, p)) found.push_back(p);
    if (contains(t, q)) found.push_back(q);
    for (std::size_t i = 0; i < 3; ++i) {
      const Index r = c[i];
      const Index s = c[(i + 1) % 3];
      const int r_side = orientation_in(triangle, p, q, r);
      const int s_side = orientation_in(triangle, p, q, s);
      const int p_side = orientation_in(triangle, r, s, p);
      const int q_side = orientation_in(triangle, r, s, q);
      // A corner of t on the edge of u, or a proper crossing of the two edges.
      if (r_side == 0 && r != p && r != q) {
        const bool between = compare(points_[p], points_[r]) * compare(points_[r], points_[q]) > 0;
        if (between) found.push_back(r);
      }
      if (r_side * s_side < 0 && p_side * q_side < 0) {
        found.push_back(
            points_.add(segment_intersection(points_[p], points_[q], points_[r], points_[s], triangle.axis)));
      }
    }
    mark(t, found);
    mark(u, found);
  }
}

// Crossings of the segments on one triangle become points of it.
void MeshArrangement::cross_segments(Index t)
{
  Marks& marks = marks_[at(t)];
  const GridTriangle& triangle = triangles_[at(t)];
  const auto& segments = marks.segments;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    for (std::size_t j = i + 1; j < segments.size(); ++j) {
      const auto [p, q] = segments[i];
      const auto [r, s] = segments[j];
      if (p == r || p == s || q == r || q == s) continue;
      if (orientation_in(triangle, p, q, r) * orientation_in(triangle, p, q, s) >= 0) continue;
      if (orientation_in(triangle, r, s, p) * orientation_in(triangle, r, s, q) >= 0) continue;
      marks.points.push_back(
          points_.add(segment_intersection(points_[p], points_[q], points_[r], points_[s], triangle.axis)));
    }
  }
}

void MeshArrangement::divide(Index t)
{
  const GridTriangle& triangle = triangles_[at(t)];
  Marks& marks = marks_[at(t)];
  if (marks.points.empty()) {
    pieces_.push_back({triangle.corners, t});
    return;
  }
  std::sort(marks.segments.begin(), marks.segments.end());
  marks.segments.erase(std::unique(marks.segments.begin(), marks.segments.end()), marks.segments.end());
  cross_segments(t);
  std::sort(marks.points.begin(), marks.points.end());
  marks.points.erase(std::unique(marks.points.begin(), marks.points.end()), marks.points.end());

  ConstrainedTriangulation cut(triangle.corners,
                               [&](Index a, Index b, Index c) { return orientation_in(triangle, a, b, c); });
  for (const Index p : marks.points) {
    if (std::find(triangle.corners.begin(), triangle.corners.end(), p) == triangle.corners.end())
      cut.insert_point(p);
  }
  for (const auto& [a, b] : marks.segments) {
    if (!cut.insert_segment(a, b))
      throw Error("The intersection of two meshes could not be resolved. Repair them, or move one slightly.");
  }
  // Better-shaped pieces where there is a choice; doubles are accurate enough for the choice.
  cut.improve(
      [&](Index a, Index b, Index c, Index d) {
        const auto cotangent = [&](Index apex) {
          const Vec3 u = points_[a].approximate - points_[apex].approximate;
          const Vec3 v = points_[b].approximate - points_[apex].approximate;
          return u.dot(v) / u.cross(v).norm();
        };
        constexpr double kFlipThreshold = -1e-6;  // sum of cotangents
        return cotangent(c) + cotangent(d) < kFlipThreshold;
      },
      kImprovePasses);
  for (const Triangle& piece : cut.triangles()) {
    pieces_.push_back({piece, t});
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = piece[k];
      const Index b = piece[(k + 1) % 3];
      if (cut.is_constrained(a, b)) cuts_[at(triangle.mesh)].insert(undirected(a, b));
    }
  }
}

}  // namespace thrum::shapes
