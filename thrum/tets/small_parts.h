// SPDX-License-Identifier: MIT
// Where a thin part stands on a thick one: the handle of a fridge, a peg, a fin, a rib.
//
// What holds a small part is small too: around its root the large body gives way within about the width of
// the part, which elements of the size of the large body do not show. The frequencies of the part are then
// too high, and alike in elements of every degree.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::tets {

/// A vertex of the boundary at which a part ends that is thinner than what it stands on.
struct Root {
  Index vertex = 0;
  double thickness = 0;  ///< of the thin part [m]
};

/// The ends of sharp edges that are turned inwards, where balls within the body on one side are more than
/// kRootThicknessRatio times as wide as the body is thick on the other.
[[nodiscard]] std::vector<Root> find_roots(const mesh::TetrahedralMesh& mesh);

inline constexpr double kRootThicknessRatio = 3;

/// Bisects tetrahedra until those at a root are no longer than `share` of the thickness there, and those at a
/// distance d from it no longer than that and kRootGrowth d. The vertices of `mesh` keep their numbers.
void refine_at_roots(mesh::TetrahedralMesh& mesh, double share);

inline constexpr double kRootGrowth = 1.5;

}  // namespace thrum::tets
