// SPDX-License-Identifier: MIT
// Conditions that every tetrahedral mesh of a solid must satisfy, checked by counting; shared by the tests of
// the meshers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <vector>

#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::support {

inline constexpr double kDegree = std::numbers::pi / 180;

struct AngleRange {
  double min = std::numbers::pi;  ///< [rad]
  double max = 0;                 ///< [rad]
};

inline AngleRange angle_range(const mesh::TetrahedralMesh& mesh)
{
  AngleRange range;
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    for (const double angle : mesh::dihedral_angles(mesh, t)) {
      range.min = std::min(range.min, angle);
      range.max = std::max(range.max, angle);
    }
  }
  return range;
}

/// Number of connected pieces, over shared vertices.
inline std::size_t component_count(std::size_t vertices, const std::vector<Triangle>& triangles)
{
  std::vector<std::size_t> parent(vertices);
  for (std::size_t i = 0; i < vertices; ++i) parent[i] = i;
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const Triangle& t : triangles) {
    for (const std::size_t k : {1u, 2u}) {
      parent[root(static_cast<std::size_t>(t[k]))] = root(static_cast<std::size_t>(t[0]));
    }
  }
  std::set<std::size_t> roots;
  for (std::size_t i = 0; i < vertices; ++i) roots.insert(root(i));
  return roots.size();
}

/// Euler characteristic V - E + F of a triangle mesh.
inline long euler_characteristic(const mesh::TriangleMesh& mesh)
{
  std::set<std::array<Index, 2>> edges;
  for (const Triangle& t : mesh.triangles) {
    for (std::size_t k = 0; k < 3; ++k)
      edges.insert({std::min(t[k], t[(k + 1) % 3]), std::max(t[k], t[(k + 1) % 3])});
  }
  return static_cast<long>(mesh.vertices.size()) - static_cast<long>(edges.size()) +
         static_cast<long>(mesh.triangles.size());
}

/// Positive tetrahedra over used, distinct vertices; each face in one or two of them; the boundary closed,
/// its edges in exactly two triangles of opposite direction, and one fan of triangles around each of its
/// vertices.
inline void expect_valid(const mesh::TetrahedralMesh& mesh)
{
  // Tetrahedra are positive and each vertex is used.
  std::size_t bad = 0;
  std::vector<char> used(mesh.vertices.size(), 0);
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    if (!(mesh::six_times_volume(mesh, t) > 0)) ++bad;
    for (const Index v : mesh.tetrahedra[t]) {
      ASSERT_GE(v, 0);
      ASSERT_LT(static_cast<std::size_t>(v), mesh.vertices.size());
      used[static_cast<std::size_t>(v)] = 1;
    }
  }
  EXPECT_EQ(bad, 0u) << "tetrahedra that are flat or inside out";
  EXPECT_EQ(std::count(used.begin(), used.end(), 0), 0) << "vertices of no tetrahedron";

  // No two vertices at the same position.
  std::set<std::array<double, 3>> places;
  for (const Vec3& p : mesh.vertices) places.insert({p.x(), p.y(), p.z()});
  EXPECT_EQ(places.size(), mesh.vertices.size()) << "vertices at the same position";

  // Each face belongs to one or two tetrahedra, and there are no duplicate tetrahedra.
  std::map<Triangle, int> faces;
  std::set<Tetrahedron> distinct;
  for (Tetrahedron tet : mesh.tetrahedra) {
    std::sort(tet.begin(), tet.end());
    distinct.insert(tet);
    for (std::size_t skip = 0; skip < 4; ++skip) {
      Triangle face{};
      for (std::size_t k = 0, m = 0; k < 4; ++k) {
        if (k != skip) face[m++] = tet[k];
      }
      ++faces[face];
    }
  }
  EXPECT_EQ(distinct.size(), mesh.tetrahedra.size()) << "duplicate tetrahedra";
  for (const auto& [face, count] : faces) ASSERT_LE(count, 2);

  // The boundary is a closed, consistently oriented surface: each directed edge once, and its opposite once.
  // A second sheet through the same edge or vertex would be a hinge.
  const mesh::TriangleMesh surface = mesh::boundary_surface(mesh).surface;
  std::map<std::array<Index, 2>, int> edges;
  std::map<Index, std::map<Index, Index>> fans;
  for (const Triangle& t : surface.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      ++edges[{t[k], t[(k + 1) % 3]}];
      fans[t[k]][t[(k + 1) % 3]] = t[(k + 2) % 3];
    }
  }
  std::size_t open = 0;
  std::size_t shared = 0;
  for (const auto& [edge, count] : edges) {
    if (count != 1) ++shared;
    if (edges.find({edge[1], edge[0]}) == edges.end()) ++open;
  }
  EXPECT_EQ(open, 0u) << "open boundary edges";
  EXPECT_EQ(shared, 0u) << "boundary edges of more than two triangles";
  std::size_t pinched = 0;
  for (const auto& [vertex, next] : fans) {
    std::size_t steps = 0;
    Index at = next.begin()->first;
    do {
      const auto found = next.find(at);
      if (found == next.end()) break;
      at = found->second;
      ++steps;
    } while (at != next.begin()->first && steps <= next.size());
    if (steps != next.size()) ++pinched;
  }
  EXPECT_EQ(pinched, 0u) << "boundary vertices with more than one fan";
  EXPECT_NEAR(mesh::signed_volume(surface), mesh::volume(mesh), 1e-9 * mesh::volume(mesh));
}

}  // namespace thrum::support
