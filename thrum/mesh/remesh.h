// SPDX-License-Identifier: MIT
// Even triangles of a chosen edge length on the same surface, with its sharp edges and corners kept.
//
// Each round splits long edges, collapses short ones, flips edges to Delaunay and smooths the vertices within
// the surface, or along their sharp edge; everything is projected back onto the input surface. A closed mesh
// stays closed. Parts of the surface that are closer to each other than the deviation may intersect
// afterwards; mesh_report.h finds that.
#pragma once

#include <numbers>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

struct RemeshDesc {
  double edge_length = 0;                              ///< target [m]
  double feature_angle = 35 * std::numbers::pi / 180;  ///< an edge bent by more is sharp and kept [rad]
  /// maximum distance of the result from the surface [m]; 0: a twentieth of edge_length
  double deviation = 0;
  int rounds = 6;
  /// Not 0: for a body that is to be filled with straight elements. Edges are also at most so many times
  /// sqrt(R t) long, R the radius of curvature and t the thickness there (surface_sizes.h), the deviation
  /// follows them, and the volume is kept: between its sharp edges the result lies on both sides of the
  /// surface.
  double curved_length = 0;
  double max_triangles = 1e4;  ///< about, where curved_length is not 0: edges are as long as it takes
};

/// Throws Error when the mesh is not closed and manifold (every edge with two triangles, in opposite
/// directions).
[[nodiscard]] TriangleMesh remesh(const TriangleMesh& mesh, const RemeshDesc& desc);

}  // namespace thrum::mesh
