// SPDX-License-Identifier: MIT
#include "thrum/tets/small_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <queue>
#include <span>

#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/mesh_topology.h"
#include "thrum/tets/edge_bisection.h"

namespace thrum::tets {

namespace {

// The body below the middle of a triangle [m].
struct Thickness {
  double across = 0;  // straight through it
  double ball = 0;    // of the largest ball within it that touches the triangle there; small near its edges
};

// Smaller balls until nothing of the surface is within one: each next one touches what was closest.
double ball_below(const mesh::Bvh& bvh, const Vec3& point, const Vec3& inwards, double across)
{
  constexpr int kMaxRounds = 20;
  constexpr double kTolerance = 1e-3;
  double diameter = across;
  for (int round = 0; round < kMaxRounds; ++round) {
    const mesh::ClosestPoint closest = bvh.closest_point(point + 0.5 * diameter * inwards);
    if (closest.distance >= (1 - kTolerance) * 0.5 * diameter) break;
    const Vec3 way = closest.point - point;
    diameter = std::min(diameter, way.squaredNorm() / way.dot(inwards));
  }
  return diameter;
}

std::vector<Thickness> thicknesses(const mesh::TriangleMesh& surface)
{
  constexpr double kStart = 1e-7;  // below the surface, of the size
  const mesh::Bvh bvh(surface);
  const double size = bvh.bounds().sizes().maxCoeff();
  std::vector<Thickness> thickness(surface.triangles.size(), {size, 0});
  base::parallel_for(thickness.size(), [&](std::size_t t) {
    const Vec3 area = mesh::area_vector(surface, t);
    if (!(area.norm() > 0)) return;
    const Vec3 inwards = -area.normalized();
    const Vec3 middle = (surface.corner(t, 0) + surface.corner(t, 1) + surface.corner(t, 2)) / 3;
    const mesh::RayHit hit = bvh.first_hit({middle + kStart * size * inwards, inwards});
    if (!hit.found()) return;
    thickness[t] = {hit.t, ball_below(bvh, middle, inwards, hit.t)};
  });
  return thickness;
}

// Whether an edge is sharp and turned inwards.
bool is_notch(const mesh::TriangleMesh& surface, std::span<const mesh::EdgeUse> uses)
{
  constexpr double kSharp = std::numbers::pi / 6;
  const Vec3 normal = mesh::area_vector(surface, at(uses[0].triangle)).normalized();
  const Vec3 other = mesh::area_vector(surface, at(uses[1].triangle)).normalized();
  if (normal.dot(other) > std::cos(kSharp)) return false;
  for (const Index v : surface.triangles[at(uses[1].triangle)])
    if (v != uses[0].low && v != uses[0].high)
      return normal.dot(surface.vertices[at(v)] - surface.vertices[at(uses[0].low)]) > 0;
  return false;
}

// The longest edge allowed at each vertex [m]: that of a root, and more with the distance along edges.
std::vector<double> allowed_lengths(const mesh::TetrahedralMesh& mesh, const std::vector<Root>& roots,
                                    double share)
{
  std::vector<std::vector<Index>> neighbours(mesh.vertices.size());
  for (const Tetrahedron& t : mesh.tetrahedra)
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 4; ++k)
        if (i != k) neighbours[at(t[i])].push_back(t[k]);
  std::vector<double> allowed(mesh.vertices.size(), std::numeric_limits<double>::infinity());
  using Entry = std::pair<double, Index>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto lower = [&](Index v, double length) {
    if (length >= allowed[at(v)]) return;
    allowed[at(v)] = length;
    queue.emplace(length, v);
  };
  for (const Root& root : roots) lower(root.vertex, share * root.thickness);
  while (!queue.empty()) {
    const auto [length, v] = queue.top();
    queue.pop();
    if (length > allowed[at(v)]) continue;
    for (const Index w : neighbours[at(v)])
      lower(w, length + kRootGrowth * (mesh.vertices[at(v)] - mesh.vertices[at(w)]).norm());
  }
  return allowed;
}

double longest_edge(const mesh::TetrahedralMesh& mesh, const Tetrahedron& t)
{
  double longest = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = i + 1; k < 4; ++k)
      longest = std::max(longest, (mesh.vertices[at(t[i])] - mesh.vertices[at(t[k])]).norm());
  return longest;
}

}  // namespace

std::vector<Root> find_roots(const mesh::TetrahedralMesh& mesh)
{
  const mesh::BoundarySurface boundary = mesh::boundary_surface(mesh);
  const mesh::TriangleMesh& surface = boundary.surface;
  const std::vector<Thickness> thickness = thicknesses(surface);
  std::vector<double> at_root(boundary.nodes.size(), std::numeric_limits<double>::infinity());
  mesh::for_each_edge(mesh::edge_uses(surface), [&](std::span<const mesh::EdgeUse> uses) {
    if (uses.size() != 2 || !is_notch(surface, uses)) return;
    // A line across a step or the end of a rib runs along the part: only a ball says that it is thick.
    Thickness part = thickness[at(uses[0].triangle)];
    Thickness large = thickness[at(uses[1].triangle)];
    if (part.across > large.across) std::swap(part, large);
    if (large.ball <= kRootThicknessRatio * part.across) return;
    for (const Index v : {uses[0].low, uses[0].high}) at_root[at(v)] = std::min(at_root[at(v)], part.across);
  });
  std::vector<Root> roots;
  for (std::size_t v = 0; v < at_root.size(); ++v)
    if (std::isfinite(at_root[v])) roots.push_back({boundary.nodes[v], at_root[v]});
  return roots;
}

void refine_at_roots(mesh::TetrahedralMesh& mesh, double share)
{
  constexpr int kMaxRounds = 30;
  constexpr double kTolerance = 1.2;
  for (int round = 0; round < kMaxRounds; ++round) {
    // Halves of edges between two roots are roots too.
    const std::vector<double> allowed = allowed_lengths(mesh, find_roots(mesh), share);
    std::vector<std::uint8_t> levels;
    bool any = false;
    for (const Tetrahedron& t : mesh.tetrahedra) {
      double limit = std::numeric_limits<double>::infinity();
      for (const Index v : t) limit = std::min(limit, allowed[at(v)]);
      const bool too_long = longest_edge(mesh, t) > kTolerance * limit;
      levels.push_back(too_long ? 1 : 0);
      any = any || too_long;
    }
    if (!any) return;
    bisect_tetrahedra(mesh, levels);
  }
}

}  // namespace thrum::tets
