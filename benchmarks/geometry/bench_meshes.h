// SPDX-License-Identifier: MIT
// A closed mesh of a wanted size and the queries on it that the geometry rows share.
#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "thrum/geometry/triangle_mesh.h"

namespace thrum::bench {

/// A torus with waves on it, about `triangles` triangles, all of about the same size; 1 m across the middle
/// circle.
inline geometry::TriangleMesh wavy_torus(int triangles)
{
  const int tube = static_cast<int>(std::lround(std::sqrt(triangles / 5.0)));
  const int around = triangles / (2 * tube);
  geometry::TriangleMesh mesh;
  for (int i = 0; i < around; ++i) {
    for (int j = 0; j < tube; ++j) {
      const double u = 2 * std::numbers::pi * i / around, v = 2 * std::numbers::pi * j / tube;
      const double minor = 0.2 * (1 + 0.15 * std::sin(7 * u + 2 * v));
      const double r = 0.5 + minor * std::cos(v);
      mesh.vertices.emplace_back(r * std::cos(u), r * std::sin(u), minor * std::sin(v));
    }
  }
  const auto at = [&](int i, int j) {
    return static_cast<Index>((i % around) * tube + j % tube);
  };
  for (int i = 0; i < around; ++i) {
    for (int j = 0; j < tube; ++j) {
      mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  }
  return mesh;
}

/// Points at most `reach` from the surface along the normals, spread over the triangles in random order.
inline std::vector<Vec3> points_near_surface(const geometry::TriangleMesh& mesh, std::size_t count,
                                             double reach)
{
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Vec3> points;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t t = generator() % mesh.triangles.size();
    double s = unit(generator), r = unit(generator);
    if (s + r > 1) s = 1 - s, r = 1 - r;
    const Vec3 on = mesh.corner(t, 0) + s * (mesh.corner(t, 1) - mesh.corner(t, 0)) +
                    r * (mesh.corner(t, 2) - mesh.corner(t, 0));
    points.push_back(on + reach * (2 * unit(generator) - 1) * geometry::area_vector(mesh, t).normalized());
  }
  return points;
}

}  // namespace thrum::bench
