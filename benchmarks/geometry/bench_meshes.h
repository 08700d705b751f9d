// SPDX-License-Identifier: MIT
// A closed mesh of a given size and the queries on it, shared by the geometry benchmarks.
#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"
#include "thrum/shapes/shapes.h"

namespace thrum::bench {

/// A torus with waves on it, about `triangles` triangles, all of about the same size; 1 m across the middle
/// circle.
inline mesh::TriangleMesh wavy_torus(int triangles)
{
  const int tube = static_cast<int>(std::lround(std::sqrt(triangles / 5.0)));
  const int around = triangles / (2 * tube);
  constexpr double kMajor = 0.5, kMinor = 0.2;
  mesh::TriangleMesh mesh = shapes::generate(shapes::TorusDesc{
      .major_radius = kMajor, .minor_radius = kMinor, .major_segments = around, .minor_segments = tube});
  for (Vec3& p : mesh.vertices) {
    const double u = std::atan2(p.y(), p.x());
    const double v = std::atan2(p.z(), std::hypot(p.x(), p.y()) - kMajor);
    const double minor = kMinor * (1 + 0.15 * std::sin(7 * u + 2 * v));
    const double r = kMajor + minor * std::cos(v);
    p = Vec3(r * std::cos(u), r * std::sin(u), minor * std::sin(v));
  }
  return mesh;
}

/// Points at most `reach` from the surface along the normals, spread over the triangles in random order.
inline std::vector<Vec3> points_near_surface(const mesh::TriangleMesh& mesh, std::size_t count, double reach)
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
    points.push_back(on + reach * (2 * unit(generator) - 1) * mesh::area_vector(mesh, t).normalized());
  }
  return points;
}

}  // namespace thrum::bench
