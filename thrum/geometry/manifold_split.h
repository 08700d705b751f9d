// SPDX-License-Identifier: MIT
// Makes a closed surface manifold by doubling vertices where it touches itself.
#pragma once

#include "thrum/geometry/triangle_mesh.h"

namespace thrum::geometry {

/// Where more than two triangles share an edge, those that bound the same wedge of material stay together;
/// sheets that then share only a point or an edge get vertices of their own at the same place. The surface
/// must be closed (as many triangles pass an edge one way as the other). Unused vertices are dropped.
[[nodiscard]] TriangleMesh split_into_manifold(const TriangleMesh& mesh);

}  // namespace thrum::geometry
