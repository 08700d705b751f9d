// SPDX-License-Identifier: MIT
// Better tetrahedra on the same surface.
#pragma once

#include <cstddef>

#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::tets {

/// Leaves out flat tetrahedra that have two faces on the surface, which then lies on their other two, and
/// returns how many.
std::size_t remove_flat_tetrahedra(mesh::TetrahedralMesh& mesh);

/// Moves vertices inside towards the middle of their neighbours as long as the worst of their tetrahedra gets
/// better.
void smooth_interior(mesh::TetrahedralMesh& mesh, int rounds);

}  // namespace thrum::tets
