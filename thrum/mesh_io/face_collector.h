// SPDX-License-Identifier: MIT
// Collects the faces of a mesh file while it is read, and triangulates polygons when all vertices are known.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh_io {

/// Cuts a polygon, given by its corners in order, into size - 2 triangles of corner numbers with the same
/// orientation. Convex: a fan. Otherwise ears are clipped in the plane of the mean normal, so that concave
/// outlines are triangulated correctly. Returns false when no valid triangulation was found (a polygon that
/// crosses itself) and the rest was cut as a fan.
bool triangulate_polygon(std::span<const Vec3> corners, std::span<Triangle> triangles);

class FaceCollector {
 public:
  void reserve(std::size_t triangles) { triangles_.reserve(triangles); }
  [[nodiscard]] std::size_t size() const { return triangles_.size(); }
  void add_triangle(Index a, Index b, Index c) { triangles_.push_back({a, b, c}); }
  /// Three corners or more.
  void add_polygon(std::span<const Index> corners);

  /// Moves the triangles into `mesh`, whose vertices must be complete and indices checked.
  void finish(mesh::TriangleMesh& mesh, std::vector<std::string>& notes);

 private:
  // A polygon is a placeholder among the triangles until its corners have coordinates.
  struct Polygon {
    std::size_t first_triangle;
    std::size_t first_corner;
    std::size_t corners;
  };
  std::vector<Triangle> triangles_;
  std::vector<Polygon> polygons_;
  std::vector<Index> corners_;
};

}  // namespace thrum::mesh_io
