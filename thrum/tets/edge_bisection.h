// SPDX-License-Identifier: MIT
// Smaller tetrahedra where they are wanted, in the same body.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::tets {

/// Bisects tetrahedra, each as often as `levels` says (three times halves its size): the longest edge is
/// halved, and all tetrahedra at that edge are cut in two, so that they still match. Edges are halved where
/// they are longest first, which keeps angles from becoming much smaller [Rivara 1991]. Vertices are added at
/// the end; the body and its surface are the same.
void bisect_tetrahedra(mesh::TetrahedralMesh& mesh, std::vector<std::uint8_t> levels);

}  // namespace thrum::tets
