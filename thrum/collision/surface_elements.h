// SPDX-License-Identifier: MIT
// The corners and edges of a shape with which it can touch something that is only known by its distance.
//
// Where two solids are nearest, or just overlap, a corner of one meets a face of the other, or two edges
// cross. So it is enough to look at corners and at edges that bend outward: an edge in a flat face or in a
// notch is never the nearest part. What is left is kept in a hierarchy of balls, each holding whole edges, so
// that one sample of the other's distance at the centre of a ball may rule all of them out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::collision {

struct SurfaceEdge {
  std::array<Index, 2> ends = {0, 0};
  std::array<Index, 2> opposite_vertices = {
      -1, -1};          ///< third corners of its two triangles; -1 at an open border
  bool crease = false;  ///< bends by more than kCreaseBend
};

/// A ball in the hierarchy. Children of node i begin at i + 1; a walk that leaves it out goes on at `skip`.
struct ElementBall {
  Vec3 centre = Vec3::Zero();  ///< [m]
  double radius = 0;           ///< [m]
  Index skip = 0;
  Index first_edge = 0;  ///< of a leaf
  Index end_edge = 0;    ///< equal to first_edge for an inner node
};

/// Which edges of a mesh can touch something.
enum class EdgeChoice : std::uint8_t {
  outward,  ///< those that bend outward
  all       ///< also flat ones: the mesh will bend
};

class SurfaceElements {
 public:
  /// Meshes that bend by less everywhere are taken as round (cosine of 50 degrees).
  static constexpr double kSmoothBend = 0.64;
  /// In the others, edges that bend by more push along their own normals (cosine of 15 degrees).
  static constexpr double kCreaseBend = 0.966;

  SurfaceElements() = default;
  /// The mesh may be open.
  explicit SurfaceElements(const mesh::TriangleMesh& mesh, EdgeChoice choice = EdgeChoice::outward);
  /// Sets new vertex positions (as many as before); edges and hierarchy stay, their balls follow.
  void refit(std::span<const Vec3> vertices);

  [[nodiscard]] std::span<const Vec3> vertices() const { return vertices_; }
  [[nodiscard]] std::span<const SurfaceEdge> edges() const { return edges_; }
  [[nodiscard]] std::span<const ElementBall> balls() const { return balls_; }
  /// Corners joined to `vertex` by an edge, flat ones included.
  [[nodiscard]] std::span<const Index> neighbours(Index vertex) const
  {
    const std::size_t v = at(vertex);
    return std::span(neighbours_)
        .subspan(static_cast<std::size_t>(neighbour_begin_[v]),
                 static_cast<std::size_t>(neighbour_begin_[v + 1] - neighbour_begin_[v]));
  }
  [[nodiscard]] bool has_sharp_edges() const { return sharp_; }

 private:
  void find_edges(const mesh::TriangleMesh& mesh, EdgeChoice choice);
  void add_balls(Index begin, Index end);

  std::vector<Vec3> vertices_;
  std::vector<SurfaceEdge> edges_;  ///< in the order of the hierarchy's leaves
  std::vector<ElementBall> balls_;
  std::vector<Index> neighbour_begin_;
  std::vector<Index> neighbours_;
  bool sharp_ = false;
};

}  // namespace thrum::collision
