// SPDX-License-Identifier: MIT
// A finer triangulation of the same surface: edges that are too long are halved until none is left.
#pragma once

#include <array>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/surface_point.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::distance {

struct RefinedSurface {
  mesh::TriangleMesh mesh;                   ///< the vertices of the input come first, in their order
  std::vector<Index> parent;                 ///< triangle of the input in which each triangle lies
  std::vector<std::array<Vec3, 3>> corners;  ///< barycentric coordinates of its corners in the parent
  std::vector<Index> first_child;  ///< children of input triangle t: first_child[t] .. first_child[t + 1]

  /// The point of the refined mesh that corresponds to the point `p` of the input.
  [[nodiscard]] mesh::SurfacePoint locate(const mesh::SurfacePoint& p) const;
};

/// Halves every edge longer than `longest` [m] (> 0), triangle by triangle and without hanging vertices,
/// until all are at most that long. Throws Error when that takes more than `triangle_limit` triangles.
[[nodiscard]] RefinedSurface split_long_edges(const mesh::TriangleMesh& mesh, double longest,
                                              std::size_t triangle_limit = 20'000'000);

}  // namespace thrum::distance
