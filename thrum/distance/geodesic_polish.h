// SPDX-License-Identifier: MIT
// Distances by straight lines over unfolded triangles: exact on flat parts, and accurate within a few
// triangles of a source on curved ones. The heat method uses them for the distances next to the source and
// for its constant; on request all distances are refined.
#pragma once

#include <vector>

#include "thrum/distance/intrinsic_triangulation.h"
#include "thrum/distance/surface_laplacian.h"

namespace thrum::distance {

/// Distance of the third corner of a triangle from a source seen through the edge j-k, `base` long, whose
/// ends are at distances d_j and d_k: the source is placed in the plane behind the edge [Novotni02]. `l_j`,
/// `l_k`: lengths of the other two edges [m]. Never more than the path along an edge.
[[nodiscard]] double distance_through_edge(double d_j, double d_k, double base, double l_j, double l_k);

struct NearVertex {
  Index vertex;
  Index ring;  ///< edges between it and the nearest seed
};

/// Fills in distances around the seeds, the vertices `seeds` at which `distance` [m] is known; elsewhere it
/// is infinity. Returns the vertices up to `rings` edges away, nearest ring first.
[[nodiscard]] std::vector<NearVertex> fill_near_distances(const IntrinsicTriangulation& triangulation,
                                                          const VertexTriangles& around,
                                                          const std::vector<Index>& seeds, Index rings,
                                                          std::vector<double>& distance);

/// `known` holds distances near the sources and infinity elsewhere [m]; `distance` gives the order in which
/// vertices are visited and receives the result. Unreachable vertices stay infinite.
void polish_distances(const IntrinsicTriangulation& triangulation, const VertexTriangles& around,
                      const std::vector<double>& known, std::vector<double>& distance);

}  // namespace thrum::distance
