// SPDX-License-Identifier: MIT
#include "thrum/tets/surface_recovery.h"

#include <algorithm>
#include <cmath>

#include "thrum/tets/cavity_filling.h"

namespace thrum::tets {

namespace {

Triangle sorted(Triangle t)
{
  std::sort(t.begin(), t.end());
  return t;
}

Vec3 rounded(const Vec3& p)
{
  return {std::round(p.x()), std::round(p.y()), std::round(p.z())};
}

}  // namespace

SurfaceRecovery::SurfaceRecovery(DelaunayMesh& mesh, std::vector<Triangle> triangles, Index first_new)
    : mesh_(mesh), surface_(std::move(triangles)), first_new_(first_new)
{
}

bool SurfaceRecovery::recover(std::size_t max_points)
{
  while (recover_edges(max_points)) {
    const DelaunayMesh delaunay = mesh_;
    const std::vector<Index> missing = recover_triangles();
    if (missing.empty()) return true;
    mesh_ = delaunay;
    for (const Index t : missing)
      if (!split_triangle(t)) return false;
  }
  return false;
}

// New points may remove edges that were there: all of them are looked at until none is missing.
bool SurfaceRecovery::recover_edges(std::size_t max_points)
{
  for (bool all_found = false; !all_found;) {
    all_found = true;
    for (Index t = 0; t < count_of(triangles()); ++t) {
      for (std::size_t k = 0; k < 3; ++k) {
        const Index a = triangles()[at(t)][k];
        const Index b = triangles()[at(t)][(k + 1) % 3];
        if (a > b || mesh_.has_edge(a, b)) continue;
        all_found = false;
        if (flip(a, b)) continue;
        if (!split_edge(a, b) || new_points_ > max_points) return false;
      }
    }
  }
  return true;
}

// Only where the other diagonal is an edge of the mesh.
bool SurfaceRecovery::flip(Index a, Index b)
{
  const auto [c, d] = surface_.opposite_corners(a, b);
  if (!surface_.is_flat(a, b, [this](Index v) -> const Vec3& { return mesh_.point(v); }) ||
      !mesh_.has_edge(c, d))
    return false;
  surface_.flip(a, b);
  return true;
}

// Halfway, or at a power of two from the end that is a vertex of the input: edges that meet there are then
// cut at equal distances and do not lie in each other's way.
Vec3 SurfaceRecovery::splitting_point(Index a, Index b) const
{
  const bool a_is_input = a < first_new_;
  const bool b_is_input = b < first_new_;
  if (a_is_input == b_is_input) return rounded(0.5 * (mesh_.point(a) + mesh_.point(b)));
  const Vec3& from = mesh_.point(a_is_input ? a : b);
  const Vec3 along = mesh_.point(a_is_input ? b : a) - from;
  const double length = along.norm();
  return rounded(from + along * (std::exp2(std::round(std::log2(length / 2))) / length));
}

bool SurfaceRecovery::split_edge(Index a, Index b)
{
  const Index before = mesh_.vertex_count();
  const Index m = mesh_.insert(splitting_point(a, b));
  if (m != before) return false;  // the edge is too short for the grid, or passes through a vertex
  ++new_points_;
  const std::array<Index, 2> across = surface_.opposite_corners(a, b);
  surface_.split_edge(a, b, m);
  if (keeps_delaunay_)
    for (const Index v : across)
      for (const Index end : {a, b}) make_delaunay(v, end);
  return true;
}

// Flips the edge, and then those around it, where its triangles are flat together and the angles opposite to
// it are together more than half a turn.
void SurfaceRecovery::make_delaunay(Index a, Index b)
{
  std::vector<std::array<Index, 2>> suspects = {{a, b}};
  const auto point = [this](Index v) -> const Vec3& {
    return mesh_.point(v);
  };
  while (!suspects.empty()) {
    const auto [from, to] = suspects.back();
    suspects.pop_back();
    if (surface_.triangle_at(from, to) < 0 || is_delaunay(surface_, from, to, point) ||
        !surface_.is_flat(from, to, point))
      continue;
    const auto [c, d] = surface_.opposite_corners(from, to);
    surface_.flip(from, to);
    for (const Index v : {from, to})
      for (const Index end : {c, d}) suspects.push_back({v, end});
  }
}

bool SurfaceRecovery::split_triangle(Index t)
{
  const auto [a, b, c] = triangles()[at(t)];
  const Index before = mesh_.vertex_count();
  const Index m = mesh_.insert(rounded((mesh_.point(a) + mesh_.point(b) + mesh_.point(c)) / 3));
  if (m != before) return false;
  ++new_points_;
  surface_.split_triangle(t, m);
  return true;
}

std::vector<Index> SurfaceRecovery::recover_triangles()
{
  faces_.clear();
  std::vector<Index> missing;
  for (Index t = 0; t < count_of(triangles()); ++t) {
    const Triangle& triangle = triangles()[at(t)];
    if (mesh_.find_face(triangle[0], triangle[1], triangle[2]) >= 0)
      faces_.insert(sorted(triangle));
    else
      missing.push_back(t);
  }
  std::vector<Index> failed;
  for (const Index t : missing) {
    if (recover_triangle(triangles()[at(t)]))
      faces_.insert(sorted(triangles()[at(t)]));
    else
      failed.push_back(t);
  }
  return failed;
}

bool SurfaceRecovery::is_pierced(const Triangle& t, Index p, Index q) const
{
  if (mesh_.orientation(t[0], t[1], t[2], p) * mesh_.orientation(t[0], t[1], t[2], q) >= 0) return false;
  const int first = mesh_.orientation(p, q, t[0], t[1]);
  return first != 0 && first == mesh_.orientation(p, q, t[1], t[2]) &&
         first == mesh_.orientation(p, q, t[2], t[0]);
}

// Those at the edges that pierce the triangle. The first of them lies at its first side.
bool SurfaceRecovery::find_cut_cells(const Triangle& t, std::vector<Index>& cells) const
{
  std::vector<std::array<Index, 2>> edges;
  std::set<Index> found;
  std::set<std::array<Index, 2>> known;
  const auto look_at = [&](Index cell) {
    const auto& v = mesh_.cells()[at(cell)].v;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = i + 1; k < 4; ++k) {
        const std::array<Index, 2> edge = {std::min(v[i], v[k]), std::max(v[i], v[k])};
        if (is_pierced(t, v[i], v[k]) && known.insert(edge).second) edges.push_back(edge);
      }
    }
  };
  std::vector<Index> around;
  mesh_.cells_at(t[0], t[1], around);
  for (const Index cell : around) look_at(cell);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    mesh_.cells_at(edges[i][0], edges[i][1], around);
    for (const Index cell : around)
      if (found.insert(cell).second) look_at(cell);
  }
  cells.assign(found.begin(), found.end());
  return !cells.empty();
}

bool SurfaceRecovery::recover_triangle(const Triangle& t)
{
  if (mesh_.find_face(t[0], t[1], t[2]) >= 0) return true;  // another one brought it back
  for (std::size_t k = 0; k < 3; ++k)
    if (!mesh_.has_edge(t[k], t[(k + 1) % 3])) return false;
  std::vector<Index> cells;
  if (!find_cut_cells(t, cells)) return false;
  std::vector<OpenTriangle> above = {{t[0], t[1], t[2]}};
  std::vector<OpenTriangle> below = {{t[0], t[2], t[1]}};
  for (const Index cell : cells) {
    const DelaunayMesh::Cell& c = mesh_.cells()[at(cell)];
    const auto faces = inward_faces(c.v);
    for (std::size_t k = 0; k < 4; ++k) {
      const bool shared = std::binary_search(cells.begin(), cells.end(), c.n[k]);
      if (shared && !faces_.contains(sorted(faces[k]))) continue;
      int side = 0;
      for (const Index v : faces[k]) {
        const int of_vertex = mesh_.orientation(t[0], t[1], t[2], v);
        if (side * of_vertex < 0) return false;
        if (of_vertex != 0) side = of_vertex;
      }
      (side > 0 ? above : below).push_back(faces[k]);
    }
  }
  auto upper = fill_cavity(mesh_, std::move(above));
  if (!upper) return false;
  const auto lower = fill_cavity(mesh_, std::move(below));
  if (!lower) return false;
  upper->insert(upper->end(), lower->begin(), lower->end());
  (void)mesh_.replace(cells, *upper);
  return true;
}

}  // namespace thrum::tets
