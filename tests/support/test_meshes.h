// SPDX-License-Identifier: MIT
// Small closed meshes and random triangles for the tests of the hierarchy and the distance field.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::support {

/// Box with corners lower and upper, 12 triangles.
inline mesh::TriangleMesh box_mesh(const Vec3& lower, const Vec3& upper)
{
  mesh::TriangleMesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.emplace_back((i & 1) ? upper.x() : lower.x(), (i & 2) ? upper.y() : lower.y(),
                               (i & 4) ? upper.z() : lower.z());
  }
  mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return mesh;
}

/// Sphere about the origin from an octahedron, each triangle divided into four `levels` times: 8 * 4^levels
/// triangles.
inline mesh::TriangleMesh sphere_mesh(double radius, int levels)
{
  mesh::TriangleMesh mesh;
  mesh.vertices = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  mesh.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  for (int level = 0; level < levels; ++level) {
    std::map<std::pair<Index, Index>, Index> middle_of;
    const auto middle = [&](Index a, Index b) {
      const auto [it, fresh] =
          middle_of.try_emplace(std::minmax(a, b), static_cast<Index>(mesh.vertices.size()));
      if (fresh) {
        mesh.vertices.push_back(
            (mesh.vertices[static_cast<std::size_t>(a)] + mesh.vertices[static_cast<std::size_t>(b)])
                .normalized());
      }
      return it->second;
    };
    std::vector<Triangle> finer;
    for (const auto& [a, b, c] : mesh.triangles) {
      const Index ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
    }
    mesh.triangles = std::move(finer);
  }
  for (Vec3& v : mesh.vertices) v *= radius;
  return mesh;
}

/// Torus about the z axis with 2 * around * tube triangles.
inline mesh::TriangleMesh torus_mesh(double major, double minor, int around, int tube)
{
  mesh::TriangleMesh mesh;
  for (int i = 0; i < around; ++i) {
    for (int j = 0; j < tube; ++j) {
      const double u = 2 * std::numbers::pi * i / around, v = 2 * std::numbers::pi * j / tube;
      const double r = major + minor * std::cos(v);
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

/// The same surface turned inside out.
inline mesh::TriangleMesh flipped(mesh::TriangleMesh mesh)
{
  for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  return mesh;
}

inline Vec3 random_point(std::mt19937& generator, double half_side)
{
  std::uniform_real_distribution<double> coordinate(-half_side, half_side);
  const double x = coordinate(generator), y = coordinate(generator);
  return {x, y, coordinate(generator)};
}

/// `count` triangles of about `size` in the cube [-1, 1]^3, with shared vertices, needles, points and
/// duplicates among them.
inline mesh::TriangleMesh random_triangles(std::mt19937& generator, int count, double size)
{
  mesh::TriangleMesh mesh;
  std::uniform_int_distribution<int> kind(0, 19);
  for (int i = 0; i < count; ++i) {
    const auto n = static_cast<Index>(mesh.vertices.size());
    const int k = kind(generator);
    if (n >= 6 && k < 6) {
      mesh.vertices.push_back(random_point(generator, 1));
      mesh.triangles.push_back({n - 1, n - 2, n});
    } else if (n >= 6 && k == 6) {
      mesh.triangles.push_back(mesh.triangles[static_cast<std::size_t>(i) / 2]);
    } else {
      const Vec3 centre = random_point(generator, 1);
      for (int c = 0; c < 3; ++c) mesh.vertices.push_back(centre + random_point(generator, size));
      if (k == 7) mesh.vertices[static_cast<std::size_t>(n) + 2] = mesh.vertices[static_cast<std::size_t>(n)];
      if (k == 8) {
        mesh.vertices[static_cast<std::size_t>(n) + 1] = mesh.vertices[static_cast<std::size_t>(n)];
        mesh.vertices[static_cast<std::size_t>(n) + 2] = mesh.vertices[static_cast<std::size_t>(n)];
      }
      mesh.triangles.push_back({n, n + 1, n + 2});
    }
  }
  return mesh;
}

/// A triangle of height 1, 0.1, ... 1e-17 of its length, with no vertex shared, and corners in any order.
struct Needle {
  std::array<Vec3, 3> corners;
  double height;
};
inline std::vector<Needle> needles(std::mt19937& generator, int count)
{
  std::vector<Needle> list;
  for (int i = 0; i < count; ++i) {
    const Vec3 a = random_point(generator, 1), along = random_point(generator, 0.3);
    const double height = std::pow(10.0, -(i % 18)) * along.norm();
    const double foot = std::uniform_real_distribution<double>(-0.2, 1.2)(generator);
    const Vec3 aside = along.cross(random_point(generator, 1)).normalized();
    std::array<Vec3, 3> corners = {a, a + along, a + foot * along + height * aside};
    std::rotate(corners.begin(), corners.begin() + i % 3, corners.end());
    list.push_back({corners, height});
  }
  return list;
}

inline mesh::TriangleMesh mesh_of(const std::vector<Needle>& needles)
{
  mesh::TriangleMesh mesh;
  for (const Needle& needle : needles) {
    const auto n = static_cast<Index>(mesh.vertices.size());
    mesh.vertices.insert(mesh.vertices.end(), needle.corners.begin(), needle.corners.end());
    mesh.triangles.push_back({n, n + 1, n + 2});
  }
  return mesh;
}

}  // namespace thrum::support
