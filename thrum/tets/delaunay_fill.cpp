// SPDX-License-Identifier: MIT
#include "thrum/tets/delaunay_fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <optional>
#include <set>

#include "thrum/base/index.h"
#include "thrum/mesh/self_intersections.h"
#include "thrum/mesh/unused_vertices.h"
#include "thrum/tets/cell_improvement.h"
#include "thrum/tets/delaunay_mesh.h"
#include "thrum/tets/grid_predicates.h"
#include "thrum/tets/interior_smoothing.h"
#include "thrum/tets/surface_recovery.h"
#include "thrum/tets/surface_triangles.h"

namespace thrum::tets {

namespace {

// The lattice inside: points of a body-centred cubic one, whose cells have edges of 1 and 0.87 times its
// width, at least this share of the spacing from the surface.
constexpr double kMinDepth = 0.55;
// New points of the surface, at most this many times as many as it has vertices.
constexpr double kMaxNewPoints = 20;
// Several times as many may be foreseen as are then needed: many edges are there by themselves.
constexpr double kForeseen = 4;

Triangle sorted(Triangle t)
{
  std::sort(t.begin(), t.end());
  return t;
}

// Points of space as points of the grid.
class GridMap {
 public:
  explicit GridMap(const Box3& box)
      : centre_(box.center()),
        scale_(kDelaunayReach / (0.5 * box.diagonal().norm())),
        middle_(Vec3::Constant(0.5 * static_cast<double>(1LL << kDelaunayBits)))
  {
  }
  [[nodiscard]] Vec3 to_grid(const Vec3& p) const
  {
    const Vec3 q = middle_ + scale_ * (p - centre_);
    return {std::round(q.x()), std::round(q.y()), std::round(q.z())};
  }
  [[nodiscard]] Vec3 to_space(const Vec3& q) const { return centre_ + (q - middle_) / scale_; }

 private:
  Vec3 centre_;
  double scale_;
  Vec3 middle_;
};

// Interleaved bits of the coordinates: neighbours in this order are near each other, so that a walk between
// them is short.
std::uint64_t place_on_curve(const Vec3& grid_point)
{
  std::uint64_t key = 0;
  for (int bit = kDelaunayBits; bit > kDelaunayBits - 21; --bit)
    for (int axis = 0; axis < 3; ++axis)
      key = (key << 1) | ((static_cast<std::uint64_t>(grid_point[axis]) >> bit) & 1U);
  return key;
}

void require_manifold(const mesh::TriangleMesh& surface)
{
  std::set<std::array<Index, 2>> sides;
  for (const Triangle& t : surface.triangles)
    for (std::size_t k = 0; k < 3; ++k)
      if (!sides.insert({t[k], t[(k + 1) % 3]}).second)
        throw SurfaceNotKept(
            "An edge of the surface has more than two triangles, or they face opposite ways.");
  for (const auto& [a, b] : sides)
    if (!sides.contains({b, a})) throw SurfaceNotKept("The surface is not closed.");
}

// The points of the lattice that are deep enough inside. Distances change no faster than the place: a block
// of the lattice is all outside, or divided in eight.
class InnerPoints {
 public:
  InnerPoints(const distance::MeshDistance& surface, const Box3& box, double spacing, double max_points)
      : surface_(surface),
        box_(box),
        spacing_(spacing),
        max_points_(max_points),
        from_(box.min() - Vec3::Constant(0.31 * spacing))
  {
    const Eigen::Vector3i count = (box.sizes() / spacing).array().ceil().cast<int>() + 2;
    add_block(Eigen::Vector3i::Zero(), count);
    std::sort(places_.begin(), places_.end());
  }

  [[nodiscard]] std::vector<Vec3> points() const
  {
    std::vector<Vec3> points;
    for (const auto& [i, j, k, half] : places_) points.push_back(point({i, j, k}, half));
    return points;
  }

 private:
  [[nodiscard]] Vec3 point(const Eigen::Vector3i& cell, int half) const
  {
    return from_ + spacing_ * (cell.cast<double>() + Vec3::Constant(0.5 * half));
  }

  // Cells of the lattice from `low` to before `high`.
  void add_block(const Eigen::Vector3i& low, const Eigen::Vector3i& high)
  {
    const Vec3 first = point(low, 0), last = point(high - Eigen::Vector3i::Ones(), 1);
    const double reach = 0.5 * (last - first).norm();
    const double middle = surface_.signed_distance(0.5 * (first + last)).distance;
    const double limit = -kMinDepth * spacing_;
    constexpr double kRounding = 1e-9;
    if (middle - reach > limit + kRounding * reach) return;
    const Eigen::Vector3i size = high - low;
    if (size == Eigen::Vector3i::Ones()) {
      for (const int half : {0, 1}) add_point(low, half);
      return;
    }
    const Eigen::Vector3i cut = low + (size.array() / 2).max(1).matrix();
    for (int corner = 0; corner < 8; ++corner) {
      Eigen::Vector3i from = low, to = high;
      for (int axis = 0; axis < 3; ++axis)
        ((corner >> axis & 1) != 0 ? from[axis] : to[axis]) = std::min(cut[axis], high[axis]);
      if ((to - from).minCoeff() > 0) add_block(from, to);
    }
  }

  void add_point(const Eigen::Vector3i& cell, int half)
  {
    const Vec3 p = point(cell, half);
    if (!box_.contains(p) || surface_.signed_distance(p).distance > -kMinDepth * spacing_) return;
    places_.push_back({cell.x(), cell.y(), cell.z(), half});
    if (static_cast<double>(places_.size()) > max_points_)
      throw SurfaceNotKept(
          fmt::format("A spacing of {:.3g} m takes more than {:.0f} points.", spacing_, max_points_));
  }

  const distance::MeshDistance& surface_;
  Box3 box_;
  double spacing_;
  double max_points_;
  Vec3 from_;
  std::vector<std::array<int, 4>> places_;  // cell and, for its middle, 1
};

// At most about so many vertices the surface has once its edges are edges of the mesh: where its triangles
// are not flat together, an edge is halved until it is at most twice as long as they are wide.
double expected_points(const SurfacePieces& surface)
{
  const SurfaceTriangles triangles(surface.triangles);
  const auto point = [&](Index v) -> const Vec3& {
    return surface.vertices[at(v)];
  };
  auto count = static_cast<double>(surface.vertices.size());
  for (const Triangle& t : surface.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k], b = t[(k + 1) % 3];
      if (a > b || triangles.is_flat(a, b, point)) continue;
      const double width = narrow_width(triangles, a, b, point);
      if (width > 0) count += std::max(0.0, (point(b) - point(a)).norm() / (2 * width) - 1);
    }
  }
  return count;
}

// Whether each cell is inside: 0 or 1; the surface is between cells that differ.
std::vector<std::uint8_t> find_inside(const DelaunayMesh& mesh, const std::set<Triangle>& faces)
{
  constexpr std::uint8_t kUnknown = 2;
  const auto cells = mesh.cells();
  std::vector<std::uint8_t> inside(cells.size(), kUnknown);
  std::deque<Index> queue;
  for (Index c = 0; c < count_of(cells) && queue.empty(); ++c) {
    const auto& v = cells[at(c)].v;
    if (mesh.is_used(c) && *std::min_element(v.begin(), v.end()) < DelaunayMesh::kOuterVertices)
      queue.push_back(c);
  }
  inside[at(queue.front())] = 0;
  while (!queue.empty()) {
    const Index c = queue.front();
    queue.pop_front();
    for (std::size_t k = 0; k < 4; ++k) {
      const Index next = cells[at(c)].n[k];
      if (next < 0 || inside[at(next)] != kUnknown) continue;
      Triangle face;
      for (std::size_t i = 0, j = 0; i < 4; ++i)
        if (i != k) face[j++] = cells[at(c)].v[i];
      inside[at(next)] = faces.contains(sorted(face)) ? 1 - inside[at(c)] : inside[at(c)];
      queue.push_back(next);
    }
  }
  return inside;
}

// A Delaunay mesh with the triangles of a surface among its faces.
struct KeptTriangles {
  DelaunayMesh mesh;
  std::vector<Index> point_of;  // of each vertex: among those of the surface and those inside; -1: outer
  std::vector<Triangle> triangles;
  std::size_t new_points = 0;
};

// Nothing where it takes too many new points.
std::optional<KeptTriangles> keep_triangles(const SurfacePieces& surface, const std::vector<Vec3>& inner,
                                            const GridMap& grid, double max_points, bool flat_delaunay)
{
  // Vertices of the surface and points inside, in an order in which each is near the one before.
  std::vector<Vec3> points = surface.vertices;
  points.insert(points.end(), inner.begin(), inner.end());
  std::vector<std::pair<std::uint64_t, Index>> order;
  for (Index i = 0; i < count_of(points); ++i)
    order.emplace_back(place_on_curve(grid.to_grid(points[at(i)])), i);
  std::sort(order.begin(), order.end());
  KeptTriangles kept;
  std::vector<Index> vertex_of(points.size());
  kept.point_of.assign(DelaunayMesh::kOuterVertices, -1);
  for (const auto& [key, i] : order) {
    vertex_of[at(i)] = kept.mesh.insert(grid.to_grid(points[at(i)]));
    if (vertex_of[at(i)] < count_of(kept.point_of))
      throw SurfaceNotKept("Two vertices of the surface are at the same point.");
    kept.point_of.push_back(i);
  }
  std::vector<Triangle> triangles;
  for (const Triangle& t : surface.triangles)
    triangles.push_back({vertex_of[at(t[0])], vertex_of[at(t[1])], vertex_of[at(t[2])]});
  SurfaceRecovery recovery(kept.mesh, std::move(triangles), kept.mesh.vertex_count());
  for (const auto& [a, b] : surface.fixed_edges) recovery.fix_edge(vertex_of[at(a)], vertex_of[at(b)]);
  if (flat_delaunay) recovery.keep_delaunay();
  const double max_new = std::min(kMaxNewPoints * static_cast<double>(surface.vertices.size()),
                                  max_points - static_cast<double>(points.size()));
  if (max_new < 0 || !recovery.recover(static_cast<std::size_t>(max_new))) return std::nullopt;
  kept.triangles = recovery.triangles();
  kept.new_points = recovery.new_points();
  return kept;
}

[[noreturn]] void throw_not_kept(const mesh::TriangleMesh& surface, const DelaunayFillDesc& desc)
{
  const std::vector<mesh::TrianglePair> crossing = mesh::self_intersections(surface, 1);
  if (crossing.empty())
    throw SurfaceNotKept(fmt::format(
        "The surface, which does not cross itself, cannot be kept with a spacing of {:.3g} m and at most "
        "{:.0f} points: its triangles are too narrow, or parts of it too close together. Try another "
        "spacing.",
        desc.spacing, desc.max_points));
  const Triangle& t = surface.triangles[at(crossing.front().a)];
  const Vec3 place =
      (surface.vertices[at(t[0])] + surface.vertices[at(t[1])] + surface.vertices[at(t[2])]) / 3;
  throw SurfaceNotKept(
      fmt::format("The surface crosses or touches itself, at a triangle around ({:.4g}, {:.4g}, {:.4g}) m.",
                  place.x(), place.y(), place.z()));
}

}  // namespace

DelaunayFillResult fill_by_delaunay(const distance::MeshDistance& surface, const DelaunayFillDesc& desc)
{
  const mesh::TriangleMesh& input = surface.bvh().mesh();
  require_manifold(input);
  SurfacePieces pieces{input.vertices, input.triangles};
  for (const CuttingPlane& plane : desc.planes) cut_at_plane(pieces, plane.normal, plane.offset);
  SurfacePieces fine = refine_surface(std::move(pieces), desc.spacing);
  if (expected_points(fine) > kForeseen * desc.max_points)
    throw SurfaceNotKept("Long narrow triangles on curved parts take too many points.");
  const Box3 box = mesh::bounding_box(input);
  const std::vector<Vec3> inner = InnerPoints(surface, box, desc.spacing, desc.max_points).points();

  const GridMap grid(box);
  std::optional<KeptTriangles> found = keep_triangles(fine, inner, grid, desc.max_points, false);
  // Long edges between narrow triangles may be halved for ever, each for the other.
  if (!found) {
    fine = refine_narrow_triangles(std::move(fine), desc.spacing);
    found = keep_triangles(fine, inner, grid, desc.max_points, true);
  }
  if (!found) throw_not_kept(input, desc);
  DelaunayMesh& delaunay = found->mesh;

  DelaunayFillResult result;
  result.inner_points = inner.size();
  result.surface_points = fine.vertices.size() - input.vertices.size() + found->new_points;
  KeptSurface kept;
  for (const Triangle& t : found->triangles) {
    kept.triangles.insert(sorted(t));
    for (std::size_t k = 0; k < 3; ++k)
      kept.edges.insert({std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])});
  }
  kept.inside = find_inside(delaunay, kept.triangles);
  (void)improve_cells(delaunay, kept);
  std::vector<Vec3> points = fine.vertices;
  points.insert(points.end(), inner.begin(), inner.end());
  std::vector<Index>& point_of = found->point_of;
  for (Index v = count_of(point_of); v < delaunay.vertex_count(); ++v) {
    point_of.push_back(count_of(points));
    points.push_back(grid.to_space(delaunay.point(v)));
  }
  for (Index c = 0; c < count_of(delaunay.cells()); ++c) {
    if (!delaunay.is_used(c) || kept.inside[at(c)] != 1) continue;
    Tetrahedron t;
    for (std::size_t k = 0; k < 4; ++k) t[k] = point_of[at(delaunay.cells()[at(c)].v[k])];
    result.mesh.tetrahedra.push_back(t);
  }
  result.mesh.vertices = std::move(points);
  result.flat_removed = remove_flat_tetrahedra(result.mesh);
  (void)mesh::remove_unused_vertices(result.mesh.vertices, result.mesh.tetrahedra);
  smooth_interior(result.mesh, desc.smoothing_rounds);
  return result;
}

}  // namespace thrum::tets
