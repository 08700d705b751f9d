// SPDX-License-Identifier: MIT
// A surface as a sheet with a thickness: its two sides, and the solid between them.
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// Throws Error with the place where a surface cannot be a sheet: more than two triangles at an edge
/// (branches), neighbours that face different ways, only one side, a repeated corner.
void require_sheet(const TriangleMesh& mesh);

/// From each vertex to the upper side of a sheet of `thickness` [m], half of which is on each side: the least
/// squares of having half the thickness over each triangle around it, a mitre at folds. Throws Error with the
/// place where a triangle has no area or a fold is too sharp.
[[nodiscard]] std::vector<Vec3> sheet_offsets(const TriangleMesh& mesh, double thickness);

/// The closed solid between a surface and the same one with each vertex moved by `across`, to its back: the
/// given vertices first, then the moved ones in the same order.
[[nodiscard]] TriangleMesh solid_between(const TriangleMesh& mesh, const std::vector<Vec3>& across);

/// The closed solid between both sides: the upper vertices first, in the order of the mesh, then the lower
/// ones. Throws Error as the functions above, and for a thickness that is not positive.
[[nodiscard]] TriangleMesh solidified(const TriangleMesh& mesh, double thickness);

/// Throws Error with the place where two layers of a sheet, in a roll or a narrow fold, would overlap.
void require_layers_apart(const TriangleMesh& mesh, double thickness);

}  // namespace thrum::mesh
