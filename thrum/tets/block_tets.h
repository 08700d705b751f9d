// SPDX-License-Identifier: MIT
// Tetrahedra for bodies whose faces all lie along the axes: boxes, slabs, tables with straight legs.
//
// The planes of all faces cut space into blocks, each wholly inside or outside. Blocks are divided into cells
// of at most a given size, which may differ between the axes: a slab needs one or two cells through its
// thickness, where the cubes of isosurface stuffing would have to be as small as the slab is thin. The result
// fills the body exactly, edges and corners included.
#pragma once

#include "thrum/base/vec.h"
#include "thrum/mesh/tetrahedral_mesh.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::tets {

inline constexpr double kMaxBlockCells = 1e6;  ///< of the whole grid, outside the body too

/// Fills the closed surface with the cells of a grid, `max_cell` [m] along x, y and z at most, five
/// tetrahedra a cell, mirrored from cell to cell (BoxSplit::five). Throws Error when a face does not lie
/// along the axes, a size is not positive, or the grid would have more than kMaxBlockCells cells.
[[nodiscard]] mesh::TetrahedralMesh tetrahedralise_blocks(const mesh::TriangleMesh& surface,
                                                          const Vec3& max_cell);

}  // namespace thrum::tets
