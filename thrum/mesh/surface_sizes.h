// SPDX-License-Identifier: MIT
// How long the edges of a closed surface may be where it is to be filled with straight elements: short where
// it is curved, and more so where it is thin.
#pragma once

#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// For each vertex.
struct SurfaceSizes {
  std::vector<double> lengths;     ///< of the edges around it [m]
  std::vector<double> deviations;  ///< how far the surface may move there [m]
};

struct SurfaceSizesDesc {
  double max_length = 0;       ///< [m], > 0
  double curved_length = 0.6;  ///< times sqrt(R t)
  double max_triangles = 1e4;  ///< about; edges are as long as it takes
};

/// Edges of curved_length sqrt(R t), R the radius of curvature, t the thickness below the surface, at most
/// max_length: over one of 0.6 sqrt(R t) a facet is up to a twentieth of t away from the curved surface.
/// Edges bent by more than 65 degrees are sharp, not curved. Lengths change gradually from vertex to vertex.
[[nodiscard]] SurfaceSizes sizes_for_elements(const TriangleMesh& mesh, const SurfaceSizesDesc& desc);

}  // namespace thrum::mesh
