// SPDX-License-Identifier: MIT
// The part of one tetrahedron that lies inside a closed surface: its connected pieces and their moments.
//
// The surface is clipped to the tetrahedron, and the body of the pieces is integrated as a sum of signed
// cones with the apex at corner 0:
//
//     inside part  =  sum of cones over the clipped triangles
//                   + cone over the inside part of face 123, which is in turn
//                       the sum of triangles from corner 1 to the segments where the surface cuts that face
//                     + the triangle from corner 1 over the inside part of edge 23, which is in turn
//                         the sum of the intervals between the points where the surface cuts that edge.
//
// The segments and points are the edges and corners of the clipped triangles, so that nothing has to be
// matched, and the only decision is whether the corners are inside. Each cone is a tetrahedron within the
// given one and is integrated exactly. Sums over a piece of the body that is bounded by its own triangles
// give the moments of that piece.
#pragma once

#include <array>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/tets/cell_moments.h"

namespace thrum::tets {

class CutTetrahedron {
 public:
  /// Starts a new tetrahedron, of which the corners are inside or not. Above zero, `monomial_degree` is that
  /// of further moments (monomial_moments.h).
  void reset(const std::array<bool, 4>& inside, int monomial_degree = 0);

  /// Clips a triangle of the surface, outward, given by the barycentric coordinates of its corners. `edges`
  /// identifies its edges, equal for the two triangles at an edge; edge k is from corner k to corner k + 1.
  void add_triangle(Index triangle, const std::array<Vec4, 3>& corners, const std::array<Index, 3>& edges);

  /// Whether any part of the surface is within the tetrahedron.
  [[nodiscard]] bool is_cut() const { return !polygons_.empty(); }

  /// Finds the pieces and integrates them. False when the triangles do not match the corners, as where the
  /// surface crosses itself or passes through a corner.
  [[nodiscard]] bool integrate();

  struct FaceSegment {
    int face;  ///< opposite to this corner
    Index triangle;
    int piece;
  };
  [[nodiscard]] const std::vector<CellMoments>& pieces() const { return pieces_; }
  /// Moments of all monomials, for each piece; empty without a degree.
  [[nodiscard]] const std::vector<std::vector<double>>& monomial_pieces() const { return monomial_pieces_; }
  /// The piece of each corner, or -1 outside.
  [[nodiscard]] const std::array<int, 4>& corner_pieces() const { return corner_pieces_; }
  /// Where the surface cuts the faces.
  [[nodiscard]] const std::vector<FaceSegment>& face_segments() const { return face_segments_; }
  /// The piece that a triangle bounds, or -1 when it does not pass through.
  [[nodiscard]] int piece_of_triangle(Index triangle) const;
  /// All triangles within, with the pieces that they bound.
  [[nodiscard]] std::vector<std::pair<Index, int>> triangle_pieces() const;

 private:
  // A corner of a clipped triangle, with the kind of the edge that starts there: a face 0..3 of the
  // tetrahedron, or 4 + an edge of the triangle.
  struct Corner {
    Vec4 point;
    int edge;
  };
  struct Polygon {
    Index triangle;
    std::size_t first;
    std::size_t count;
    std::array<Index, 3> edges;
  };
  // Where the surface cuts the edge between corners a < b.
  struct Crossing {
    int a;
    int b;
    double at;    // barycentric coordinate of b
    bool enters;  // the body, going from a to b
    std::size_t polygon;
  };

  void find_crossings();
  void join_neighbours();
  [[nodiscard]] bool join_along_edges();
  void join_loops();
  void number_pieces();
  void add_cones();
  void add_cone(const Vec4& a, const Vec4& b, const Vec4& c, int piece);
  [[nodiscard]] std::size_t root(std::size_t item);
  void join(std::size_t a, std::size_t b);
  [[nodiscard]] std::size_t corner_item(int corner) const
  {
    return polygons_.size() + static_cast<std::size_t>(corner);
  }

  std::array<bool, 4> inside_{};
  std::vector<Polygon> polygons_;
  std::vector<Corner> corners_;
  std::vector<Crossing> crossings_;
  std::vector<std::size_t> parent_;  // of polygons, then of the four corners
  std::vector<int> piece_of_;
  std::vector<CellMoments> pieces_;
  int monomial_degree_ = 0;
  std::vector<std::vector<double>> monomial_pieces_;
  std::array<int, 4> corner_pieces_{};
  std::vector<FaceSegment> face_segments_;
  std::vector<Corner> clip_in_;
  std::vector<Corner> clip_out_;
};

/// Adds the moments of a signed tetrahedron with these corners in barycentric coordinates.
void add_moments(const Vec4& a, const Vec4& b, const Vec4& c, const Vec4& d, CellMoments& moments);

}  // namespace thrum::tets
