// SPDX-License-Identifier: MIT
// Triangles of a mesh that cross or touch each other where they should not.
#pragma once

#include <vector>

#include "thrum/mesh/bvh.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// Pairs a < b, ascending, that have more in common than shared corners and sides: crossing, touching from
/// afar, or folded onto each other. Signs are exact, so the answer does not depend on rounding. Pairs with
/// the same three corners are duplicates, not crossings, and triangles without area are left out.
/// Stops after `max_pairs` pairs.
[[nodiscard]] std::vector<TrianglePair> self_intersections(const TriangleMesh& mesh,
                                                           std::size_t max_pairs = 100000);

}  // namespace thrum::mesh
