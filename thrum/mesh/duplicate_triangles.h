// SPDX-License-Identifier: MIT
// Which of several triangles with the same three corners to drop. Part of repair.h.
#pragma once

#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

struct DuplicateTriangles {
  std::vector<char> dropped;      ///< by triangle: 1 when it is to be dropped
  std::size_t repeated = 0;       ///< dropped, and another one with the same corners stays
  std::size_t opposed_pairs = 0;  ///< both dropped: they face each other and enclose nothing
};

/// Copies that face the same way leave one. Two that face opposite ways add nothing to the boundary of the
/// surface,
///
///     d(t) + d(-t) = 0,
///
/// so both go and a closed surface stays closed; to drop only one would open its three edges. There are two
/// exceptions. One of them stays where the surface around needs it, that is where dropping both would leave
/// more edges with an odd number of triangles than dropping one (a face that was doubled and flipped by
/// mistake). And one of each stays in a mesh of nothing but such pairs: a sheet that was modelled with two
/// sides.
[[nodiscard]] DuplicateTriangles find_duplicate_triangles(const TriangleMesh& mesh);

}  // namespace thrum::mesh
