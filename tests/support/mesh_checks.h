// SPDX-License-Identifier: MIT
// Checks of a mesh for tests, in the simplest possible form.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::support {

/// Every edge has one triangle on either side, in opposite directions; no triangle repeats a corner.
inline bool is_closed_manifold(const mesh::TriangleMesh& mesh)
{
  std::set<std::pair<Index, Index>> directed;
  for (const Triangle& t : mesh.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k];
      const Index b = t[(k + 1) % 3];
      if (a == b || !directed.emplace(a, b).second) return false;
    }
  }
  return std::all_of(directed.begin(), directed.end(), [&](const auto& e) {
    return directed.count({e.second, e.first}) > 0;
  });
}

/// V - E + F of the vertices in use: 2 for a ball, 0 for a ring.
inline int euler_number(const mesh::TriangleMesh& mesh)
{
  std::set<Index> used;
  for (const Triangle& t : mesh.triangles) used.insert(t.begin(), t.end());
  return static_cast<int>(used.size()) - static_cast<int>(mesh.triangles.size()) / 2;
}

inline int component_count(const mesh::TriangleMesh& mesh)
{
  std::vector<Index> root(mesh.vertices.size());
  for (std::size_t i = 0; i < root.size(); ++i) root[i] = static_cast<Index>(i);
  const auto find = [&](Index i) {
    while (root[static_cast<std::size_t>(i)] != i) {
      i = root[static_cast<std::size_t>(i)] =
          root[static_cast<std::size_t>(root[static_cast<std::size_t>(i)])];
    }
    return i;
  };
  for (const Triangle& t : mesh.triangles) {
    for (const Index v : t) root[static_cast<std::size_t>(find(v))] = find(t[0]);
  }
  std::set<Index> roots;
  for (const Triangle& t : mesh.triangles) roots.insert(find(t[0]));
  return static_cast<int>(roots.size());
}

struct EdgeLengths {
  double min = std::numeric_limits<double>::infinity();
  double mean = 0;
  double max = 0;
};

inline EdgeLengths edge_lengths(const mesh::TriangleMesh& mesh)
{
  EdgeLengths lengths;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const double l = (mesh.corner(t, k) - mesh.corner(t, (k + 1) % 3)).norm();
      lengths.min = std::min(lengths.min, l);
      lengths.max = std::max(lengths.max, l);
      lengths.mean += l / static_cast<double>(3 * mesh.triangles.size());
    }
  }
  return lengths;
}

/// The minimum angle of all triangles [rad].
inline double min_angle(const mesh::TriangleMesh& mesh)
{
  double min = std::numbers::pi;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const Vec3 u = mesh.corner(t, (k + 1) % 3) - mesh.corner(t, k);
      const Vec3 v = mesh.corner(t, (k + 2) % 3) - mesh.corner(t, k);
      min = std::min(min, std::atan2(u.cross(v).norm(), u.dot(v)));
    }
  }
  return min;
}

/// How often the mesh winds about p (Van Oosterom and Strackee's solid angles): 1 inside, 0 outside.
inline double winding_number(const mesh::TriangleMesh& mesh, const Vec3& p)
{
  double angle = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 a = mesh.corner(t, 0) - p;
    const Vec3 b = mesh.corner(t, 1) - p;
    const Vec3 c = mesh.corner(t, 2) - p;
    const double la = a.norm();
    const double lb = b.norm();
    const double lc = c.norm();
    angle += 2 * std::atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
  }
  return angle / (4 * std::numbers::pi);
}

}  // namespace thrum::support
