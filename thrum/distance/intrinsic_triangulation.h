// SPDX-License-Identifier: MIT
// A triangulation defined by edge lengths alone: which triangles are glued along which edges, and how long
// the edges are. Flipping an edge changes the triangles, never the surface or its vertices, so a mesh of
// needles becomes a Delaunay triangulation of the same surface, on which linear elements are accurate.
//
//            c                      c
//          /   \                  / | \          edge h = 3 t + k runs from corner k of triangle t to
//         /     \                /  |  \         corner k + 1, and corner k + 2 is opposite to it;
//        a ----- b      ->      a   |   b
//         \     /                \  |  /         twin[h] is the same edge seen from the triangle on the
//          \   /                  \ | /          other side, or -1
//            d                      d
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::distance {

struct IntrinsicTriangulation {
  Index vertex_count = 0;
  std::vector<Index> corners;      ///< three per triangle; corners[3 t + k]
  std::vector<double> lengths;     ///< of edge 3 t + k [m]
  std::vector<double> cotangents;  ///< of the angle opposite to edge 3 t + k
  std::vector<Index> twins;  ///< the edge on the other side, or -1: an open edge, or one that more than two
                             ///< triangles share, which is never flipped
  std::vector<char> vertex_is_open;  ///< 1 for vertices on an open edge (of one triangle only)
  double added_length = 0;           ///< added to every edge by mollification [m]
  double mean_length = 0;            ///< of the edges [m]
  Index shared_edges = 0;            ///< edges of more than two triangles

  [[nodiscard]] Index triangle_count() const { return static_cast<Index>(corners.size() / 3); }
};

/// Lengths and gluing of a mesh. Triangles that use a vertex twice are left out. Triangles without area are
/// given some by mollification [Sharp20, sec. 4.5]: the same small length is added to every edge until each
/// triangle inequality holds with a margin. Orientation does not matter. Throws Error for indices out of
/// range or coordinates that are not finite.
[[nodiscard]] IntrinsicTriangulation intrinsic_triangulation(const mesh::TriangleMesh& mesh);

struct DelaunayResult {
  Index flips = 0;
  bool finished =
      true;  ///< false when the limit on flips was reached; the triangulation is valid in any case
};

/// Flips edges until the two angles opposite to each edge sum to at most pi [Bobenko07].
DelaunayResult flip_to_delaunay(IntrinsicTriangulation& triangulation);

/// Connected component of each vertex, counted from 0 in order of the lowest vertex; -1 for vertices without
/// triangle.
[[nodiscard]] std::vector<Index> vertex_components(const IntrinsicTriangulation& triangulation);

}  // namespace thrum::distance
