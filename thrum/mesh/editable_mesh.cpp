// SPDX-License-Identifier: MIT
#include "thrum/mesh/editable_mesh.h"

#include <algorithm>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::mesh {

EditableMesh::EditableMesh(const TriangleMesh& mesh) : positions_(mesh.vertices), triangles_(mesh.triangles)
{
  check_indices(mesh);
  around_.resize(positions_.size());
  for (std::size_t t = 0; t < triangles_.size(); ++t) {
    for (const Index v : triangles_[t]) around_[at(v)].push_back(static_cast<Index>(t));
  }
}

EditableMesh::EdgeSides EditableMesh::sides(Index a, Index b) const
{
  EdgeSides found;
  for (const Index t : around(a)) {
    const Triangle& c = triangle(t);
    for (std::size_t k = 0; k < 3; ++k) {
      if (c[k] == a && c[(k + 1) % 3] == b) {
        found.left = t;
        found.left_apex = c[(k + 2) % 3];
      } else if (c[k] == b && c[(k + 1) % 3] == a) {
        found.right = t;
        found.right_apex = c[(k + 2) % 3];
      }
    }
  }
  return found;
}

bool EditableMesh::has_edge(Index a, Index b) const
{
  for (const Index t : around(a)) {
    const Triangle& c = triangle(t);
    if (c[0] == b || c[1] == b || c[2] == b) return true;
  }
  return false;
}

std::vector<Index> EditableMesh::neighbours(Index v) const
{
  std::vector<Index> found;
  for (const Index t : around(v)) {
    for (const Index w : triangle(t)) {
      if (w != v) found.push_back(w);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void EditableMesh::remove_triangle(Index v, Index t)
{
  auto& list = around_[at(v)];
  list.erase(std::find(list.begin(), list.end(), t));
}

void EditableMesh::set(Index t, const Triangle& corners)
{
  triangles_[at(t)] = corners;
  for (const Index v : corners) around_[at(v)].push_back(t);
}

void EditableMesh::replace_corner(Index t, Index from, Index to)
{
  Triangle& c = triangles_[at(t)];
  std::replace(c.begin(), c.end(), from, to);
  remove_triangle(from, t);
  around_[at(to)].push_back(t);
}

Index EditableMesh::split(Index a, Index b, const Vec3& position)
{
  const EdgeSides s = sides(a, b);
  const Index m = vertex_count();
  positions_.push_back(position);
  around_.emplace_back();
  // left (a, b, l) becomes (a, m, l) and (m, b, l); right (b, a, r) becomes (m, a, r) and (b, m, r).
  replace_corner(s.left, b, m);
  triangles_.emplace_back();
  set(triangle_count() - 1, {m, b, s.left_apex});
  replace_corner(s.right, b, m);
  triangles_.emplace_back();
  set(triangle_count() - 1, {b, m, s.right_apex});
  return m;
}

bool EditableMesh::can_collapse(Index a, Index b) const
{
  const std::vector<Index> na = neighbours(a);
  const std::vector<Index> nb = neighbours(b);
  std::vector<Index> common;
  std::set_intersection(na.begin(), na.end(), nb.begin(), nb.end(), std::back_inserter(common));
  // A tetrahedron cannot be collapsed: its vertices have three neighbours each.
  return common.size() == 2 && !(na.size() == 3 && nb.size() == 3);
}

void EditableMesh::collapse(Index removed, Index kept, const Vec3& position)
{
  const std::vector<Index> fan = around(removed);
  for (const Index t : fan) {
    const Triangle c = triangle(t);
    if (c[0] == kept || c[1] == kept || c[2] == kept) {
      for (const Index v : c) remove_triangle(v, t);
      triangles_[at(t)][0] = -1;
    } else {
      replace_corner(t, removed, kept);
    }
  }
  move(kept, position);
}

bool EditableMesh::can_flip(Index a, Index b) const
{
  const EdgeSides s = sides(a, b);
  if (s.left < 0 || s.right < 0 || s.left_apex == s.right_apex) return false;
  // Either end must keep three triangles.
  return around(a).size() > 3 && around(b).size() > 3 && !has_edge(s.left_apex, s.right_apex);
}

void EditableMesh::flip(Index a, Index b)
{
  const EdgeSides s = sides(a, b);
  for (const Index v : {a, b, s.left_apex}) remove_triangle(v, s.left);
  for (const Index v : {a, b, s.right_apex}) remove_triangle(v, s.right);
  set(s.left, {s.left_apex, s.right_apex, b});
  set(s.right, {s.right_apex, s.left_apex, a});
}

Vec3 EditableMesh::area_vector(const Vec3& a, const Vec3& b, const Vec3& c)
{
  return (b - a).cross(c - a);
}

Vec3 EditableMesh::area_vector(Index t) const
{
  const Triangle& c = triangle(t);
  return area_vector(position(c[0]), position(c[1]), position(c[2]));
}

std::vector<std::array<Index, 2>> EditableMesh::edges() const
{
  std::vector<std::array<Index, 2>> found;
  for (const Triangle& c : triangles_) {
    if (c[0] < 0) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      if (c[k] < c[(k + 1) % 3]) found.push_back({c[k], c[(k + 1) % 3]});
    }
  }
  return found;
}

TriangleMesh EditableMesh::to_mesh() const
{
  TriangleMesh mesh;
  std::vector<Index> renumbered(positions_.size(), -1);
  for (std::size_t v = 0; v < positions_.size(); ++v) {
    if (around_[v].empty()) continue;
    renumbered[v] = count_of(mesh.vertices);
    mesh.vertices.push_back(positions_[v]);
  }
  for (const Triangle& c : triangles_) {
    if (c[0] < 0) continue;
    mesh.triangles.push_back({renumbered[at(c[0])], renumbered[at(c[1])], renumbered[at(c[2])]});
  }
  return mesh;
}

}  // namespace thrum::mesh
