// SPDX-License-Identifier: MIT
// A triangle mesh as plain data. Triangles are counter-clockwise seen from outside.
#pragma once

#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"

namespace thrum::mesh {

struct TriangleMesh {
  std::vector<Vec3> vertices;       ///< [m]
  std::vector<Triangle> triangles;  ///< indices into vertices

  [[nodiscard]] Vec3 corner(std::size_t triangle, int which) const
  {
    return vertices[at(triangles[triangle][at(which)])];
  }
};

/// Twice the area times the unit normal.
[[nodiscard]] Vec3 area_vector(const TriangleMesh& mesh, std::size_t triangle);

[[nodiscard]] Box3 bounding_box(const TriangleMesh& mesh);

/// Surface area [m^2].
[[nodiscard]] double area(const TriangleMesh& mesh);

/// Volume enclosed by a closed mesh [m^3]; negative when it is inside out.
[[nodiscard]] double signed_volume(const TriangleMesh& mesh);

void transform(TriangleMesh& mesh, const Pose& pose);
void scale(TriangleMesh& mesh, const Vec3& factors);

/// Appends the vertices and triangles of `other` without merging vertices.
void append(TriangleMesh& mesh, const TriangleMesh& other);

/// Throws Error when a triangle names a vertex that does not exist or a coordinate is not finite.
void check_indices(const TriangleMesh& mesh);

}  // namespace thrum::mesh
