// SPDX-License-Identifier: MIT
// Stiffness and mass of a whole body, without the fixed unknowns.
//
// The work goes node by node rather than element by element: a node gathers the blocks that its elements
// contribute, in the order of the elements, and writes its own columns. No two nodes write to the same place,
// so the result is bitwise the same for any number of threads; recomputing a block in closed form costs less
// than storing it (see tetrahedron_element.h).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/element_mesh.h"
#include "thrum/model/material.h"
#include "thrum/numerics/sparse_factorisation.h"

namespace thrum::elastic {

/// Which unknowns (node, axis) are free, and their indices in the matrices.
struct FreeUnknowns {
  std::vector<Index> index;  ///< of unknown 3 node + axis, or kHeld; ascending over the free ones
  Index count = 0;

  static constexpr Index kHeld = -1;
};

/// `held[node]` marks which of x, y and z are held fixed; empty: none.
[[nodiscard]] FreeUnknowns free_unknowns(std::size_t node_count, std::span<const std::array<bool, 3>> held);

/// Lower triangles, column by column.
struct AssembledSystem {
  numerics::SparseMatrix stiffness;  ///< [N/m]
  numerics::SparseMatrix mass;       ///< consistent [kg]
  FreeUnknowns unknowns;
};

/// `materials` has an entry for each region of the mesh. Elements must be positive.
[[nodiscard]] AssembledSystem assemble(const ElementMesh& mesh, std::span<const model::Material> materials,
                                       std::span<const std::array<bool, 3>> held = {});

/// The displacement of every node (3 x nodes rows stacked, zero where held) from the free unknowns, column by
/// column.
[[nodiscard]] MatX expand_to_nodes(const FreeUnknowns& unknowns, const Eigen::Ref<const MatX>& free_values);

}  // namespace thrum::elastic
