// SPDX-License-Identifier: MIT
// Surfaces on which distances are known in closed form.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::support {

/// A grid of (columns + 1) x (rows + 1) vertices mapped by `place(u, v)`, u and v in [0, 1]. Closed
/// directions are connected.
template <class Place>
mesh::TriangleMesh grid(int columns, int rows, bool closed_u, bool closed_v, const Place& place)
{
  mesh::TriangleMesh mesh;
  const int nu = closed_u ? columns : columns + 1;
  const int nv = closed_v ? rows : rows + 1;
  for (int j = 0; j < nv; ++j)
    for (int i = 0; i < nu; ++i)
      mesh.vertices.push_back(place(static_cast<double>(i) / columns, static_cast<double>(j) / rows));
  const auto id = [&](int i, int j) {
    return static_cast<Index>((j % nv) * nu + i % nu);
  };
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < columns; ++i) {
      mesh.triangles.push_back({id(i, j), id(i + 1, j), id(i + 1, j + 1)});
      mesh.triangles.push_back({id(i, j), id(i + 1, j + 1), id(i, j + 1)});
    }
  }
  return mesh;
}

inline mesh::TriangleMesh plane(int columns, int rows, double width, double depth)
{
  return grid(columns, rows, false, false, [=](double u, double v) { return Vec3(width * u, depth * v, 0); });
}

inline mesh::TriangleMesh torus(int around, int tube, double R, double r)
{
  return grid(around, tube, true, true, [=](double u, double v) {
    const double a = 2 * std::numbers::pi * u;
    const double b = 2 * std::numbers::pi * v;
    return Vec3((R + r * std::cos(b)) * std::cos(a), (R + r * std::cos(b)) * std::sin(a), r * std::sin(b));
  });
}

/// The side of a cylinder, open at both ends.
inline mesh::TriangleMesh cylinder_side(int around, int rows, double radius, double height)
{
  return grid(around, rows, true, false, [=](double u, double v) {
    const double a = 2 * std::numbers::pi * u;
    return Vec3(radius * std::cos(a), radius * std::sin(a), height * v);
  });
}

/// An octahedron, its faces subdivided `levels` times and projected onto the unit sphere.
inline mesh::TriangleMesh sphere(int levels)
{
  mesh::TriangleMesh m;
  m.vertices = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  m.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  for (int level = 0; level < levels; ++level) {
    std::map<std::pair<Index, Index>, Index> middles;
    const auto middle = [&](Index a, Index b) {
      const auto [found, is_new] =
          middles.try_emplace(std::minmax(a, b), static_cast<Index>(m.vertices.size()));
      if (is_new)
        m.vertices.push_back(
            (m.vertices[static_cast<std::size_t>(a)] + m.vertices[static_cast<std::size_t>(b)]).normalized());
      return found->second;
    };
    std::vector<Triangle> finer;
    for (const Triangle& t : m.triangles) {
      const Index a = middle(t[0], t[1]);
      const Index b = middle(t[1], t[2]);
      const Index c = middle(t[2], t[0]);
      finer.insert(finer.end(), {{t[0], a, c}, {a, t[1], b}, {c, b, t[2]}, {a, b, c}});
    }
    m.triangles = finer;
  }
  return m;
}

/// Eight vertices, twelve triangles, from the origin to `size`.
inline mesh::TriangleMesh box(const Vec3& size)
{
  mesh::TriangleMesh m;
  for (int k = 0; k < 8; ++k)
    m.vertices.emplace_back(k & 1 ? size.x() : 0, k & 2 ? size.y() : 0, k & 4 ? size.z() : 0);
  m.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                 {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return m;
}

}  // namespace thrum::support
