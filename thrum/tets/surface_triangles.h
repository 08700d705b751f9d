// SPDX-License-Identifier: MIT
// The triangles of a closed surface while edges of it are halved and flipped.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"

namespace thrum::tets {

class SurfaceTriangles {
 public:
  /// Each side has exactly one triangle in each direction.
  explicit SurfaceTriangles(std::vector<Triangle> triangles);

  [[nodiscard]] const std::vector<Triangle>& triangles() const { return triangles_; }
  /// The triangle with the side from a to b; -1: none.
  [[nodiscard]] Index triangle_at(Index a, Index b) const;
  /// The third corners of the triangles at an edge, at the side a b and at the side b a.
  [[nodiscard]] std::array<Index, 2> opposite_corners(Index a, Index b) const;

  /// An edge that is never flipped; its halves are not either.
  void fix_edge(Index a, Index b);
  [[nodiscard]] bool is_fixed(Index a, Index b) const;
  /// All of them, each once.
  [[nodiscard]] std::vector<std::array<Index, 2>> fixed_edges() const;

  /// Puts the vertex m on the edge.
  void split_edge(Index a, Index b, Index m);
  /// Puts the vertex m into the triangle.
  void split_triangle(Index triangle, Index m);

  using Point = std::function<const Vec3&(Index)>;
  /// Can the edge be flipped without moving the surface: are its triangles flat together, within 1e-4 rad,
  /// and is the other diagonal not an edge already? Never for a fixed edge.
  [[nodiscard]] bool is_flat(Index a, Index b, const Point& point) const;
  /// Replaces the edge by the other diagonal of its two triangles.
  void flip(Index a, Index b);

 private:
  void set_triangle(Index t, const Triangle& triangle);

  std::vector<Triangle> triangles_;
  std::unordered_map<std::uint64_t, Index> triangle_of_side_;
  std::set<std::array<Index, 2>> fixed_;  // ascending
};

/// A surface as its points and triangles, closed.
struct SurfacePieces {
  std::vector<Vec3> vertices;  ///< those of the input come first [m]
  std::vector<Triangle> triangles;
  std::vector<std::array<Index, 2>> fixed_edges = {};  ///< that stay edges
};

/// Halves edges longer than `longest` [m], longest first, and flips edges of flat parts so that their
/// triangles are Delaunay: well-shaped ones on the same surface, also where the input has long narrow ones.
[[nodiscard]] SurfacePieces refine_surface(SurfacePieces surface, double longest);

/// Are the two angles opposite to the edge together at most half a turn?
[[nodiscard]] bool is_delaunay(const SurfaceTriangles& surface, Index a, Index b,
                               const SurfaceTriangles::Point& point);

/// How far the third corners of the triangles at an edge are from it, the least of them, or its length if
/// that is shorter [m].
[[nodiscard]] double narrow_width(const SurfaceTriangles& surface, Index a, Index b,
                                  const SurfaceTriangles::Point& point);

/// The same, and halves edges between triangles that are not flat together until they are at most twice as
/// long as these triangles were wide: the facets of a slender rod.
[[nodiscard]] SurfacePieces refine_narrow_triangles(SurfacePieces surface, double longest);

/// Halves edges where they cross the plane normal . x = offset; those in the plane are fixed.
void cut_at_plane(SurfacePieces& surface, const Vec3& normal, double offset);

}  // namespace thrum::tets
