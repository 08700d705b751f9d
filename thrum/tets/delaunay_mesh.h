// SPDX-License-Identifier: MIT
// The Delaunay tetrahedra of points, built point by point [Bowyer 1981, Watson 1981], and the editing that
// recovers the triangles of a surface in them (surface_recovery.h).
//
// Points have whole coordinates (grid_predicates.h). Where more than four of them lie on a sphere, each is
// taken as lifted by an amount of another order of magnitude, later points by more [Devillers and Teillaud
// 2003], so that the mesh is unique, and without flat cells. The first four points are the corners of a
// tetrahedron around everything.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/tets/grid_predicates.h"

namespace thrum::tets {

/// Points lie within this distance of the middle of the grid. The outer tetrahedron is some forty times
/// farther away: the nearer it is, the larger the cells that reach through a thin wall to it instead of to
/// the other side.
inline constexpr double kDelaunayReach = static_cast<double>(1LL << kDelaunayBits) / 160;

class DelaunayMesh {
 public:
  struct Cell {
    std::array<Index, 4> v{};  ///< positive; -1: not in use
    std::array<Index, 4> n{};  ///< cell across the face opposite to v[k]; -1: none
  };
  static constexpr Index kOuterVertices = 4;

  DelaunayMesh();

  /// Adds a point and returns its vertex, or the vertex that is there already.
  Index insert(const Vec3& point);

  [[nodiscard]] const Vec3& point(Index vertex) const { return points_[at(vertex)]; }
  [[nodiscard]] Index vertex_count() const { return count_of(points_); }
  [[nodiscard]] std::span<const Cell> cells() const { return cells_; }
  [[nodiscard]] bool is_used(Index cell) const { return cells_[at(cell)].v[0] >= 0; }

  [[nodiscard]] bool has_edge(Index a, Index b) const;
  /// A cell with the face a, b, c; -1: there is none.
  [[nodiscard]] Index find_face(Index a, Index b, Index c) const;
  /// The cells at a vertex, at an edge.
  void cells_at(Index vertex, std::vector<Index>& out) const;
  void cells_at(Index a, Index b, std::vector<Index>& out) const;

  /// Adds a point that no cell has yet; replace() is to follow.
  Index add_vertex(const Vec3& point);

  /// Replaces cells by others that fill the same space, given by their corners; faces of the outside match.
  /// Returns the new cells.
  std::vector<Index> replace(std::span<const Index> cells, std::span<const std::array<Index, 4>> by);

  /// Sign of the volume of a tetrahedron of vertices.
  [[nodiscard]] int orientation(Index a, Index b, Index c, Index d) const;
  /// Whether e lies inside the sphere through the positive tetrahedron a, b, c, d; ties are broken as
  /// described above.
  [[nodiscard]] bool is_in_sphere(Index a, Index b, Index c, Index d, Index e) const;

 private:
  [[nodiscard]] Index locate(const Vec3& point) const;
  void find_conflicts(Index first, Index vertex);
  Index new_cell(const std::array<Index, 4>& v);
  void remove_cell(Index cell);
  /// Joins faces without a neighbour that are listed in `open_`.
  void join_open_faces();

  struct OpenFace {
    std::array<Index, 3> key;  // sorted
    Index cell;
    int face;
  };

  std::vector<Vec3> points_;
  std::vector<Cell> cells_;
  std::vector<Index> cell_of_;  // of each vertex
  std::vector<Index> free_;     // cells not in use
  std::vector<std::uint32_t>
      seen_;  // per cell: the round in which it was looked at, twice, plus 1 for a conflict
  std::uint32_t round_ = 0;
  std::vector<Index> conflicts_;
  std::vector<OpenFace> open_;
  Index last_ = 0;  // where the next search starts
};

}  // namespace thrum::tets
