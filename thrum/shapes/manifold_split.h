// SPDX-License-Identifier: MIT
// Makes a closed surface manifold by duplicating vertices where it touches itself.
#pragma once

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::shapes {

/// Where more than two triangles share an edge, those that bound the same wedge of material stay together;
/// sheets that then share only a point or an edge get their own vertices at the same position. The surface
/// must be closed (as many triangles pass an edge one way as the other). Unused vertices are dropped.
[[nodiscard]] mesh::TriangleMesh split_into_manifold(const mesh::TriangleMesh& mesh);

}  // namespace thrum::shapes
