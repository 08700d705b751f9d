// SPDX-License-Identifier: MIT
#include "thrum/mesh/triangle_mesh.h"

#include <fmt/format.h>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::mesh {

Vec3 area_vector(const TriangleMesh& mesh, std::size_t triangle)
{
  const Vec3 a = mesh.corner(triangle, 0);
  return (mesh.corner(triangle, 1) - a).cross(mesh.corner(triangle, 2) - a);
}

Box3 bounding_box(const TriangleMesh& mesh)
{
  Box3 box;
  for (const Vec3& v : mesh.vertices) box.extend(v);
  return box;
}

double area(const TriangleMesh& mesh)
{
  double twice = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) twice += area_vector(mesh, t).norm();
  return twice / 2;
}

double signed_volume(const TriangleMesh& mesh)
{
  if (mesh.vertices.empty()) return 0;
  // Measured from a corner of the mesh, not from the origin: a small part far away keeps its digits.
  const Vec3 origin = mesh.vertices.front();
  double six_times_volume = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 a = mesh.corner(t, 0) - origin;
    six_times_volume += a.dot((mesh.corner(t, 1) - origin).cross(mesh.corner(t, 2) - origin));
  }
  return six_times_volume / 6;
}

void transform(TriangleMesh& mesh, const Pose& pose)
{
  for (Vec3& v : mesh.vertices) v = pose.point(v);
}

void scale(TriangleMesh& mesh, const Vec3& factors)
{
  for (Vec3& v : mesh.vertices) v = v.cwiseProduct(factors);
  if (factors.prod() < 0) {
    for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  }
}

void append(TriangleMesh& mesh, const TriangleMesh& other)
{
  const auto offset = count_of(mesh.vertices);
  mesh.vertices.insert(mesh.vertices.end(), other.vertices.begin(), other.vertices.end());
  mesh.triangles.reserve(mesh.triangles.size() + other.triangles.size());
  for (const Triangle& t : other.triangles) {
    mesh.triangles.push_back({t[0] + offset, t[1] + offset, t[2] + offset});
  }
}

void check_indices(const TriangleMesh& mesh)
{
  const auto count = count_of(mesh.vertices);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (const Index v : mesh.triangles[t]) {
      if (v < 0 || v >= count) {
        throw Error(fmt::format("Triangle {} names vertex {}, but the mesh has {} vertices.", t, v, count));
      }
    }
  }
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (!mesh.vertices[v].allFinite()) throw Error(fmt::format("Vertex {} is not a finite point.", v));
  }
}

}  // namespace thrum::mesh
