// SPDX-License-Identifier: MIT
// Moves the vertices of a coarse closed mesh so that it lies on both sides of the surface that it stands for
// and encloses its volume: vertices on a convex surface would leave the mesh inside of it.
#pragma once

#include <vector>

#include "thrum/mesh/bvh.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// Moves the vertices `movable`, those of flat parts excepted, along their normals.
void fit_to_surface(TriangleMesh& mesh, const std::vector<Index>& movable, const Bvh& surface);

}  // namespace thrum::mesh
