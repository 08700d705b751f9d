// SPDX-License-Identifier: MIT
// A closed triangle mesh whose edges can be split, collapsed and flipped. Every change keeps it closed and
// manifold.
#pragma once

#include <array>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

class EditableMesh {
 public:
  explicit EditableMesh(const TriangleMesh& mesh);

  /// The two triangles at an edge and the vertices opposite to it; left has the edge a -> b.
  struct EdgeSides {
    Index left = -1, right = -1;
    Index left_apex = -1, right_apex = -1;
  };

  [[nodiscard]] EdgeSides sides(Index a, Index b) const;
  [[nodiscard]] bool has_edge(Index a, Index b) const;
  [[nodiscard]] std::vector<Index> neighbours(Index v) const;

  /// Inserts a vertex at the middle of the edge and returns it.
  Index split(Index a, Index b, const Vec3& position);

  /// Whether the surface stays manifold: the two ends share exactly the two apexes.
  [[nodiscard]] bool can_collapse(Index a, Index b) const;

  /// Removes `removed` by merging it into `kept`, which moves to `position`.
  void collapse(Index removed, Index kept, const Vec3& position);

  /// Whether the other diagonal does not exist yet.
  [[nodiscard]] bool can_flip(Index a, Index b) const;
  void flip(Index a, Index b);

  [[nodiscard]] const Vec3& position(Index v) const { return positions_[at(v)]; }
  void move(Index v, const Vec3& position) { positions_[at(v)] = position; }
  [[nodiscard]] const std::vector<Index>& around(Index v) const { return around_[at(v)]; }
  [[nodiscard]] const Triangle& triangle(Index t) const { return triangles_[at(t)]; }
  [[nodiscard]] bool is_alive(Index t) const { return triangles_[at(t)][0] >= 0; }
  [[nodiscard]] Index vertex_count() const { return count_of(positions_); }
  [[nodiscard]] Index triangle_count() const { return count_of(triangles_); }

  /// Twice the area times the unit normal, of triangle t and of any three points.
  [[nodiscard]] Vec3 area_vector(Index t) const;
  [[nodiscard]] static Vec3 area_vector(const Vec3& a, const Vec3& b, const Vec3& c);

  /// Every edge once, low vertex first, in an order that depends on the mesh only.
  [[nodiscard]] std::vector<std::array<Index, 2>> edges() const;

  /// The mesh without removed vertices and triangles.
  [[nodiscard]] TriangleMesh to_mesh() const;

 private:
  void replace_corner(Index t, Index from, Index to);
  void remove_triangle(Index v, Index t);
  void set(Index t, const Triangle& corners);

  std::vector<Vec3> positions_;
  std::vector<Triangle> triangles_;         // first corner -1: removed
  std::vector<std::vector<Index>> around_;  // triangles at each vertex
};

}  // namespace thrum::mesh
