// SPDX-License-Identifier: MIT
// Triangulation of points and segments in a plane, using only an orientation predicate.
//
// The class uses no coordinates: the caller's predicate returns on which side of the line a b the point c
// lies. With an exact predicate the result is exact, whatever the number type of the points (integers for
// polygons, rational numbers for the pieces of a cut triangle).
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::shapes {

class ConstrainedTriangulation {
 public:
  /// +1 when a, b, c turn to the left, -1 to the right, 0 on one line.
  using Orientation = std::function<int(Index a, Index b, Index c)>;

  /// Starts with one triangle, counter-clockwise, that contains all points to be added.
  ConstrainedTriangulation(const Triangle& whole, Orientation orientation);

  /// Adds a point that differs from all present ones and lies in the triangle or on its border.
  void insert_point(Index p);

  /// Makes a b a fixed edge (or a chain of fixed edges through points on it). False when it crosses a fixed
  /// segment.
  [[nodiscard]] bool insert_segment(Index a, Index b);

  /// Flips edges that are not fixed, while `better(a, b, c, d)` prefers the diagonal c d over a b of the quad
  /// a d b c. Each pass visits every edge once; at most `passes`.
  void improve(const std::function<bool(Index a, Index b, Index c, Index d)>& better, int passes);

  [[nodiscard]] const std::vector<Triangle>& triangles() const { return triangles_; }
  [[nodiscard]] bool is_constrained(Index a, Index b) const
  {
    return constrained_.count(undirected(a, b)) > 0;
  }

  /// The triangle that has the edge a -> b, or -1.
  [[nodiscard]] Index triangle_of(Index a, Index b) const;

 private:
  [[nodiscard]] static std::uint64_t directed(Index a, Index b);
  [[nodiscard]] static std::uint64_t undirected(Index a, Index b);
  [[nodiscard]] Index opposite(Index triangle, Index a, Index b) const;
  [[nodiscard]] Index locate(Index p);
  void set_triangle(Index triangle, const Triangle& corners);
  Index add(const Triangle& corners);
  void remove_edges(Index triangle);
  void split_edge(Index a, Index b, Index p);
  bool flip(Index a, Index b);
  bool flip_crossing_edges(Index a, Index b, std::vector<std::pair<Index, Index>> crossed);

  Orientation orientation_;
  std::vector<Triangle> triangles_;
  std::unordered_map<std::uint64_t, Index> triangle_of_edge_;
  std::unordered_set<std::uint64_t> constrained_;
  Index last_ = 0;  ///< found last: where the next search begins
};

/// Triangles of a polygon with holes, as indices into the points of the outline followed by those of each
/// hole and by `extra` points inside, which become vertices too. Counter-clockwise whatever the orientation
/// of the rings; Delaunay except at the rings. Throws Error when rings cross or touch.
[[nodiscard]] std::vector<Triangle> triangulate_polygon(const std::vector<Vec2>& outline,
                                                        const std::vector<std::vector<Vec2>>& holes = {},
                                                        const std::vector<Vec2>& extra = {});

}  // namespace thrum::shapes
