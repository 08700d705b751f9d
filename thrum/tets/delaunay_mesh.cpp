// SPDX-License-Identifier: MIT
#include "thrum/tets/delaunay_mesh.h"

#include <algorithm>
#include <cassert>

namespace thrum::tets {

namespace {

// The corners of the face opposite to corner k.
constexpr std::array<std::array<std::size_t, 3>, 4> kFaces = {{{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}}};

bool has_corner(const DelaunayMesh::Cell& cell, Index vertex)
{
  return std::find(cell.v.begin(), cell.v.end(), vertex) != cell.v.end();
}

}  // namespace

DelaunayMesh::DelaunayMesh()
{
  const double m = static_cast<double>(1LL << kDelaunayBits);
  points_ = {Vec3(0, 0, 0), Vec3(m, m, 0), Vec3(0, m, m), Vec3(m, 0, m)};
  cell_of_.assign(4, 0);
  const Index first = new_cell({0, 1, 2, 3});
  if (orientation(0, 1, 2, 3) < 0) std::swap(cells_[at(first)].v[2], cells_[at(first)].v[3]);
}

int DelaunayMesh::orientation(Index a, Index b, Index c, Index d) const
{
  return grid_orientation(points_[at(a)], points_[at(b)], points_[at(c)], points_[at(d)]);
}

// The lift of vertex i is raised by an infinitesimal that grows with i. Where the determinant of the sphere
// is 0, the coefficient of the largest infinitesimal decides that is not: for a corner, the orientation with
// e in its place; for e itself, it moves outwards.
bool DelaunayMesh::is_in_sphere(Index a, Index b, Index c, Index d, Index e) const
{
  const int side =
      grid_in_sphere(points_[at(a)], points_[at(b)], points_[at(c)], points_[at(d)], points_[at(e)]);
  if (side != 0) return side > 0;
  std::array<Index, 5> order = {a, b, c, d, e};
  std::sort(order.begin(), order.end(), std::greater<>());
  for (const Index top : order) {
    if (top == e) return false;
    std::array<Index, 4> v = {a, b, c, d};
    *std::find(v.begin(), v.end(), top) = e;
    const int sign = orientation(v[0], v[1], v[2], v[3]);
    if (sign != 0) return sign > 0;
  }
  return false;
}

Index DelaunayMesh::new_cell(const std::array<Index, 4>& v)
{
  Index cell = count_of(cells_);
  if (free_.empty()) {
    cells_.emplace_back();
    seen_.push_back(0);
  } else {
    cell = free_.back();
    free_.pop_back();
  }
  cells_[at(cell)] = {v, {-1, -1, -1, -1}};
  seen_[at(cell)] = 0;
  for (const Index vertex : v) cell_of_[at(vertex)] = cell;
  return cell;
}

void DelaunayMesh::remove_cell(Index cell)
{
  cells_[at(cell)].v[0] = -1;
  free_.push_back(cell);
}

// Walks towards the point, through any face that has it on its other side. In a Delaunay mesh no cell comes
// twice.
Index DelaunayMesh::locate(const Vec3& point) const
{
  Index cell = is_used(last_) ? last_ : cell_of_[0];
  for (std::size_t turn = 0;; ++turn) {
    const Cell& here = cells_[at(cell)];
    Index next = -1;
    for (std::size_t i = 0; i < 4 && next < 0; ++i) {
      const std::size_t k = (i + turn) % 4;
      std::array<const Vec3*, 4> p;
      for (std::size_t j = 0; j < 4; ++j) p[j] = j == k ? &point : &points_[at(here.v[j])];
      if (here.n[k] >= 0 && grid_orientation(*p[0], *p[1], *p[2], *p[3]) < 0) next = here.n[k];
    }
    if (next < 0) return cell;
    cell = next;
  }
}

void DelaunayMesh::find_conflicts(Index first, Index vertex)
{
  ++round_;
  conflicts_.assign(1, first);
  seen_[at(first)] = 2 * round_ + 1;
  for (std::size_t i = 0; i < conflicts_.size(); ++i) {
    for (const Index next : cells_[at(conflicts_[i])].n) {
      if (next < 0 || seen_[at(next)] >= 2 * round_) continue;
      const auto& v = cells_[at(next)].v;
      const bool inside = is_in_sphere(v[0], v[1], v[2], v[3], vertex);
      seen_[at(next)] = 2 * round_ + (inside ? 1 : 0);
      if (inside) conflicts_.push_back(next);
    }
  }
}

Index DelaunayMesh::insert(const Vec3& point)
{
  const Index first = locate(point);
  for (const Index v : cells_[at(first)].v)
    if (points_[at(v)] == point) return v;
  const Index vertex = add_vertex(point);
  find_conflicts(first, vertex);

  // Every face of the conflicting cells to one outside makes a cell with the new point.
  open_.clear();
  for (const Index cell : conflicts_) {
    for (std::size_t k = 0; k < 4; ++k) {
      const Index outside = cells_[at(cell)].n[k];
      if (outside >= 0 && seen_[at(outside)] == 2 * round_ + 1) continue;
      std::array<Index, 4> v = cells_[at(cell)].v;
      v[k] = vertex;
      const Index made = new_cell(v);
      assert(orientation(v[0], v[1], v[2], v[3]) > 0);
      cells_[at(made)].n[k] = outside;
      if (outside >= 0) {
        auto& back = cells_[at(outside)].n;
        *std::find(back.begin(), back.end(), cell) = made;
      }
      for (std::size_t j = 0; j < 4; ++j)
        if (j != k)
          open_.push_back({{v[kFaces[j][0]], v[kFaces[j][1]], v[kFaces[j][2]]}, made, static_cast<int>(j)});
      last_ = made;
    }
  }
  join_open_faces();
  for (const Index cell : conflicts_) remove_cell(cell);
  return vertex;
}

void DelaunayMesh::join_open_faces()
{
  for (OpenFace& face : open_) std::sort(face.key.begin(), face.key.end());
  std::sort(open_.begin(), open_.end(), [](const OpenFace& a, const OpenFace& b) { return a.key < b.key; });
  for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
    const OpenFace &a = open_[i], &b = open_[i + 1];
    if (a.key != b.key) continue;
    cells_[at(a.cell)].n[at(a.face)] = b.cell;
    cells_[at(b.cell)].n[at(b.face)] = a.cell;
    ++i;
  }
}

Index DelaunayMesh::add_vertex(const Vec3& point)
{
  points_.push_back(point);
  cell_of_.push_back(-1);
  return vertex_count() - 1;
}

std::vector<Index> DelaunayMesh::replace(std::span<const Index> cells,
                                         std::span<const std::array<Index, 4>> by)
{
  open_.clear();
  const auto add_face = [this](Index cell, std::size_t k) {
    const auto& v = cells_[at(cell)].v;
    open_.push_back({{v[kFaces[k][0]], v[kFaces[k][1]], v[kFaces[k][2]]}, cell, static_cast<int>(k)});
  };
  ++round_;
  for (const Index cell : cells) seen_[at(cell)] = 2 * round_ + 1;
  for (const Index cell : cells) {
    for (const Index outside : cells_[at(cell)].n) {
      if (outside < 0 || seen_[at(outside)] == 2 * round_ + 1) continue;
      const auto& back = cells_[at(outside)].n;
      add_face(outside, static_cast<std::size_t>(std::find(back.begin(), back.end(), cell) - back.begin()));
    }
  }
  for (const Index cell : cells) remove_cell(cell);
  std::vector<Index> made;
  for (const auto& v : by) {
    made.push_back(new_cell(v));
    for (std::size_t k = 0; k < 4; ++k) add_face(made.back(), k);
    last_ = made.back();
  }
  join_open_faces();
  return made;
}

void DelaunayMesh::cells_at(Index vertex, std::vector<Index>& out) const
{
  out.assign(1, cell_of_[at(vertex)]);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Cell& cell = cells_[at(out[i])];
    for (std::size_t k = 0; k < 4; ++k) {
      const Index next = cell.n[k];
      if (cell.v[k] == vertex || next < 0) continue;
      if (std::find(out.begin(), out.end(), next) == out.end()) out.push_back(next);
    }
  }
}

void DelaunayMesh::cells_at(Index a, Index b, std::vector<Index>& out) const
{
  cells_at(a, out);
  std::erase_if(out, [&](Index cell) { return !has_corner(cells_[at(cell)], b); });
}

bool DelaunayMesh::has_edge(Index a, Index b) const
{
  std::vector<Index> around;
  cells_at(a, b, around);
  return !around.empty();
}

Index DelaunayMesh::find_face(Index a, Index b, Index c) const
{
  std::vector<Index> around;
  cells_at(a, b, around);
  for (const Index cell : around)
    if (has_corner(cells_[at(cell)], c)) return cell;
  return -1;
}

}  // namespace thrum::tets
