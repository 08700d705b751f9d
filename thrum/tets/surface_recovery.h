// SPDX-License-Identifier: MIT
// Makes the triangles of a closed surface faces of a Delaunay mesh of its vertices: a constrained Delaunay
// mesh [Si and Gaertner 2005; Diazzi et al. 2023].
//
// Edges first: an edge that is missing is flipped where its two triangles are flat, else halved, at a power
// of two from a vertex of the input, so that edges which meet at a sharp angle do not split each other for
// ever [Shewchuk 2002]. Then each missing triangle: the cells that it cuts are taken out, and the spaces
// above and below are filled again.
//
// Departure from [Diazzi et al. 2023]: new points are rounded to the grid (4e-11 of the size of the body)
// instead of kept as expressions; every triangle is a facet of its own, so that a bend of 1e-9 rad in a flat
// face does not matter.
#pragma once

#include <set>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/tets/delaunay_mesh.h"
#include "thrum/tets/surface_triangles.h"

namespace thrum::tets {

class SurfaceRecovery {
 public:
  /// `triangles` of vertices of the mesh, closed: each side has exactly one triangle in each direction.
  /// `first_new`: vertices from here on are not those of the input.
  SurfaceRecovery(DelaunayMesh& mesh, std::vector<Triangle> triangles, Index first_new);

  /// An edge that is not flipped.
  void fix_edge(Index a, Index b) { surface_.fix_edge(a, b); }

  /// From here on flat parts are made Delaunay again where an edge is halved: edges in them may otherwise be
  /// halved in turn for ever, each the side of a narrower triangle.
  void keep_delaunay() { keeps_delaunay_ = true; }

  /// Edges first, then triangles. False when it takes more than `max_points` new points.
  [[nodiscard]] bool recover(std::size_t max_points);

  [[nodiscard]] const std::vector<Triangle>& triangles() const { return surface_.triangles(); }
  [[nodiscard]] std::size_t new_points() const { return new_points_; }

 private:
  [[nodiscard]] bool recover_edges(std::size_t max_points);
  /// Of the triangles that are not faces those which could not be made one.
  [[nodiscard]] std::vector<Index> recover_triangles();
  [[nodiscard]] bool recover_triangle(const Triangle& triangle);
  [[nodiscard]] bool find_cut_cells(const Triangle& triangle, std::vector<Index>& cells) const;
  [[nodiscard]] bool is_pierced(const Triangle& triangle, Index p, Index q) const;
  bool flip(Index a, Index b);
  bool split_edge(Index a, Index b);
  void make_delaunay(Index a, Index b);
  bool split_triangle(Index triangle);
  [[nodiscard]] Vec3 splitting_point(Index a, Index b) const;

  DelaunayMesh& mesh_;
  SurfaceTriangles surface_;
  std::set<Triangle> faces_;  // triangles that are faces of the mesh, corners in ascending order
  Index first_new_;
  std::size_t new_points_ = 0;
  bool keeps_delaunay_ = false;
};

}  // namespace thrum::tets
