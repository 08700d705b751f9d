// SPDX-License-Identifier: MIT
// How a shape of contact looks in pictures.
#pragma once

#include <memory>

#include "thrum/mesh/triangle_mesh.h"
#include "thrum/model/shape.h"

namespace thrum::sim {

/// Triangles of the surface in the axes of the shape; round shapes are approximated, and a plane has none.
[[nodiscard]] std::shared_ptr<const mesh::TriangleMesh> display_mesh(const model::Shape& shape);

}  // namespace thrum::sim
