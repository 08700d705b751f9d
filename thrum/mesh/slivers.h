// SPDX-License-Identifier: MIT
// Removes the thin triangles that a union leaves in a closed mesh.
#pragma once

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// Collapses and flips away triangles that are thinner than `thickness` [m], and no others: the needles that
/// a union leaves where surfaces meet at a small angle. Flat faces and sharp edges move by at most
/// `thickness`. Throws Error when the mesh is not closed and manifold (every edge with two triangles, in
/// opposite directions).
[[nodiscard]] TriangleMesh remove_slivers(const TriangleMesh& mesh, double thickness);

}  // namespace thrum::mesh
