// SPDX-License-Identifier: MIT
// Several closed meshes cut along each other: every triangle is divided wherever a triangle of another mesh
// meets it.
//
//   round to a common grid  ->  find pairs that meet  ->  points and segments on each triangle  ->  divide it
//
// All points are exact (exact_point.h), so a curve where two surfaces meet is divided in the same way on
// both, and the pieces of one mesh still form the closed surface they came from.
#pragma once

#include <span>
#include <unordered_set>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/mesh/exact_point.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::shapes {

/// A triangle of an input mesh on the grid.
struct GridTriangle {
  Triangle corners{};  ///< indices into the table of points
  mesh::GridPlane plane;
  int mesh = 0;
  int axis = 0;  ///< of the largest component of the normal: the triangle is seen along it
  int turn = 1;  ///< +1 when it is counter-clockwise seen from there
};

/// A piece of GridTriangle `source`.
struct Piece {
  Triangle corners{};
  Index source = 0;
};

/// The grid: x = (origin + cell count) * cell, a power of two, so that rounding twice changes nothing.
struct Grid {
  Vec3 origin = Vec3::Zero();  ///< in cells
  double cell = 1;             ///< [m]

  [[nodiscard]] mesh::GridPoint round(const Vec3& p) const;
  [[nodiscard]] Vec3 position(const mesh::ExactPoint& p) const;  ///< [m]
};

class MeshArrangement {
 public:
  /// Throws Error when a mesh is not closed.
  explicit MeshArrangement(std::span<const mesh::TriangleMesh> meshes);

  [[nodiscard]] const mesh::PointTable& points() const { return points_; }
  [[nodiscard]] const std::vector<GridTriangle>& triangles() const { return triangles_; }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] const Grid& grid() const { return grid_; }

  /// Whether the edge a b of a piece of `mesh` lies on the surface of another mesh.
  [[nodiscard]] bool is_cut(int mesh, Index a, Index b) const;

  /// Triangles of other meshes that lie in the plane of the triangle and meet it.
  [[nodiscard]] const std::vector<Index>& coplanar(Index triangle) const { return coplanar_[at(triangle)]; }

  [[nodiscard]] int orientation_in(const GridTriangle& t, Index a, Index b, Index c) const;

 private:
  using Segment = std::pair<Index, Index>;
  struct Marks {
    std::vector<Index> points;
    std::vector<Segment> segments;
  };

  void add_mesh(const mesh::TriangleMesh& mesh, int number);
  void intersect(Index t, Index u);
  void intersect_coplanar(Index t, Index u);
  void clip_edges(Index t, Index u);
  void add_edge_crossings(Index t, Index u, std::vector<Index>& found);
  [[nodiscard]] bool contains(Index t, Index p) const;
  void mark(Index t, const std::vector<Index>& found);
  void cross_segments(Index t);
  void divide(Index t);

  Grid grid_;
  mesh::PointTable points_;
  std::vector<GridTriangle> triangles_;
  std::vector<Marks> marks_;
  std::vector<std::vector<Index>> coplanar_;
  std::vector<Piece> pieces_;
  std::vector<std::unordered_set<std::uint64_t>> cuts_;  // per mesh, undirected edges
};

}  // namespace thrum::shapes
