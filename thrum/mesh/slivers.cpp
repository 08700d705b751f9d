// SPDX-License-Identifier: MIT
#include "thrum/mesh/slivers.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/mesh/editable_mesh.h"

namespace thrum::mesh {

namespace {

constexpr double kTurnLimit = 0.7;  // cosine of the angle by which one change may turn a normal

void check_closed(const TriangleMesh& mesh)
{
  std::map<std::pair<Index, Index>, int> directed;
  for (const Triangle& t : mesh.triangles) {
    for (std::size_t k = 0; k < 3; ++k) ++directed[{t[k], t[(k + 1) % 3]}];
  }
  for (const auto& [edge, count] : directed) {
    if (count != 1 || directed.count({edge.second, edge.first}) == 0) {
      throw Error(fmt::format(
          "The edge between vertices {} and {} does not have two triangles in opposite directions; "
          "only closed, manifold meshes can be remeshed.",
          edge.first, edge.second));
    }
  }
}

struct TriangleThickness {
  double height;   // over the longest side [m]
  double longest;  // [m]
  double shortest;
  std::size_t longest_side;
  std::size_t shortest_side;
};

TriangleThickness measure_thickness(const EditableMesh& mesh, Index t)
{
  const Triangle& c = mesh.triangle(t);
  TriangleThickness thin{0, 0, 0, 0, 0};
  for (std::size_t k = 0; k < 3; ++k) {
    const double l = (mesh.position(c[k]) - mesh.position(c[(k + 1) % 3])).norm();
    if (k == 0 || l > thin.longest) thin.longest = l, thin.longest_side = k;
    if (k == 0 || l < thin.shortest) thin.shortest = l, thin.shortest_side = k;
  }
  thin.height = thin.longest > 0 ? mesh.area_vector(t).norm() / thin.longest : 0;
  return thin;
}

// Whether merging `removed` into `kept` flips no triangle that has a well-defined normal.
bool is_collapse_safe(const EditableMesh& mesh, Index removed, Index kept, double thickness)
{
  if (!mesh.can_collapse(removed, kept)) return false;
  for (const Index t : mesh.around(removed)) {
    const Triangle& c = mesh.triangle(t);
    if (c[0] == kept || c[1] == kept || c[2] == kept) continue;
    if (measure_thickness(mesh, t).height < thickness) continue;
    std::array<Vec3, 3> p;
    for (std::size_t k = 0; k < 3; ++k) p[k] = mesh.position(c[k] == removed ? kept : c[k]);
    const Vec3 after = EditableMesh::area_vector(p[0], p[1], p[2]);
    const Vec3 before = mesh.area_vector(t);
    if (after.dot(before) <= kTurnLimit * after.norm() * before.norm()) return false;
  }
  return true;
}

// A needle: its short edge is collapsed.
bool collapse_needle(EditableMesh& mesh, Index t, std::size_t shortest_side, double thickness)
{
  const Index a = mesh.triangle(t)[shortest_side];
  const Index b = mesh.triangle(t)[(shortest_side + 1) % 3];
  for (const auto& [removed, kept] : {std::pair(a, b), std::pair(b, a)}) {
    if (!is_collapse_safe(mesh, removed, kept, thickness)) continue;
    mesh.collapse(removed, kept, mesh.position(kept));
    return true;
  }
  return false;
}

// A cap: its long edge is flipped, if the neighbouring triangle then keeps its direction.
bool flip_cap(EditableMesh& mesh, Index t, std::size_t longest_side)
{
  const Index a = mesh.triangle(t)[longest_side];
  const Index b = mesh.triangle(t)[(longest_side + 1) % 3];
  if (!mesh.can_flip(a, b)) return false;
  const auto s = mesh.sides(a, b);
  const Vec3 beyond = mesh.area_vector(s.left == t ? s.right : s.left);
  const Vec3 one =
      EditableMesh::area_vector(mesh.position(s.left_apex), mesh.position(s.right_apex), mesh.position(b));
  const Vec3 two =
      EditableMesh::area_vector(mesh.position(s.right_apex), mesh.position(s.left_apex), mesh.position(a));
  if (one.dot(beyond) <= 0 || two.dot(beyond) <= 0) return false;
  mesh.flip(a, b);
  return true;
}

}  // namespace

TriangleMesh remove_slivers(const TriangleMesh& input, double thickness)
{
  check_closed(input);
  EditableMesh mesh(input);
  constexpr int kPasses = 10;
  for (int pass = 0; pass < kPasses; ++pass) {
    bool changed = false;
    for (Index t = 0; t < mesh.triangle_count(); ++t) {
      if (!mesh.is_alive(t)) continue;
      const TriangleThickness thin = measure_thickness(mesh, t);
      if (thin.height >= thickness) continue;
      const bool removed_one = thin.shortest < thickness
                                   ? collapse_needle(mesh, t, thin.shortest_side, thickness)
                                   : flip_cap(mesh, t, thin.longest_side);
      changed = changed || removed_one;
    }
    if (!changed) break;
  }
  return mesh.to_mesh();
}

}  // namespace thrum::mesh
