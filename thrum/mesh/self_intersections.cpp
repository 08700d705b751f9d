// SPDX-License-Identifier: MIT
#include "thrum/mesh/self_intersections.h"

#include <algorithm>
#include <array>

#include "thrum/base/index.h"
#include "thrum/mesh/exact_predicates.h"
#include "thrum/mesh/mesh_topology.h"

namespace thrum::mesh {

namespace {

std::array<Vec3, 3> corners(const TriangleMesh& mesh, std::size_t t)
{
  return {mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)};
}

// Position in `of` of the corner that `other` does not have; triangles with a common edge have one.
std::size_t unshared_corner(const Triangle& of, const Triangle& other)
{
  for (std::size_t k = 0; k < 3; ++k) {
    if (std::find(other.begin(), other.end(), of[k]) == other.end()) return k;
  }
  return 0;
}

// A common edge: they meet elsewhere only when folded flat onto each other.
bool folded(const TriangleMesh& mesh, std::size_t s, std::size_t t)
{
  const std::size_t k = unshared_corner(mesh.triangles[s], mesh.triangles[t]);
  const std::size_t m = unshared_corner(mesh.triangles[t], mesh.triangles[s]);
  const std::array<Vec3, 3> a = corners(mesh, s);
  const Vec3& unshared = a[k];
  const Vec3& p = a[(k + 1) % 3];
  const Vec3& q = a[(k + 2) % 3];
  const Vec3 other = mesh.corner(t, static_cast<int>(m));
  if (orientation_3d(p, q, unshared, other) != 0) return false;
  int axis = 0;
  (p - unshared).cross(q - unshared).cwiseAbs().maxCoeff(&axis);
  const auto flat = [axis](const Vec3& v) {
    return Vec2(v[(axis + 1) % 3], v[(axis + 2) % 3]);
  };
  return orientation_2d(flat(p), flat(q), flat(unshared)) * orientation_2d(flat(p), flat(q), flat(other)) > 0;
}

// One common corner: they meet elsewhere when the opposite edge of one meets the other.
bool opposite_edges_touch(const TriangleMesh& mesh, std::size_t s, std::size_t t, Index common)
{
  const auto far_side = [&](std::size_t of, std::size_t other) {
    const auto& tri = mesh.triangles[of];
    const std::array<Vec3, 3> c = corners(mesh, of);
    const auto k = at(std::find(tri.begin(), tri.end(), common) - tri.begin());
    return segment_touches_triangle(c[(k + 1) % 3], c[(k + 2) % 3], corners(mesh, other));
  };
  return far_side(s, t) || far_side(t, s);
}

bool intersect(const TriangleMesh& mesh, std::size_t s, std::size_t t)
{
  int shared = 0;
  Index common = -1;
  for (const Index v : mesh.triangles[s]) {
    if (std::find(mesh.triangles[t].begin(), mesh.triangles[t].end(), v) != mesh.triangles[t].end()) {
      ++shared;
      common = v;
    }
  }
  switch (shared) {
    case 0:
      return triangles_touch(corners(mesh, s), corners(mesh, t));
    case 1:
      return opposite_edges_touch(mesh, s, t, common);
    case 2:
      return folded(mesh, s, t);
    default:
      return false;
  }
}

}  // namespace

std::vector<TrianglePair> self_intersections(const TriangleMesh& mesh, std::size_t max_pairs)
{
  std::vector<TrianglePair> pairs;
  if (mesh.triangles.size() < 2) return pairs;
  std::vector<char> sound(mesh.triangles.size());
  for (std::size_t t = 0; t < sound.size(); ++t) sound[t] = triangle_kind(mesh, t) == TriangleKind::valid;
  const Bvh bvh(mesh);
  Bvh::for_each_near_pair(bvh, Pose{}, bvh, Pose{}, 0, [&](Index a, Index b) {
    const std::size_t s = at(a);
    const std::size_t t = at(b);
    if (a < b && sound[s] && sound[t] && intersect(mesh, s, t)) pairs.push_back({a, b});
    return pairs.size() < max_pairs;
  });
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace thrum::mesh
