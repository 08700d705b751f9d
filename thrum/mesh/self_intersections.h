// SPDX-License-Identifier: MIT
// Triangles of a mesh that cross or touch each other where they should not.
#pragma once

#include <vector>

#include "thrum/mesh/bvh.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// Pairs a < b, ascending, that intersect beyond shared corners and edges: crossing, touching without being
/// neighbours, or folded onto each other. The predicates are exact, so the result does not depend on
/// rounding. Pairs with the same three corners are duplicates, not crossings, and triangles without area are
/// left out. Stops after `max_pairs` pairs.
[[nodiscard]] std::vector<TrianglePair> self_intersections(const TriangleMesh& mesh,
                                                           std::size_t max_pairs = 100000);

}  // namespace thrum::mesh
