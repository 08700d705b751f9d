// SPDX-License-Identifier: MIT
// One surface around all closed parts of a mesh, such as the body, the spout and the handle of a teapot that
// were modelled one by one and reach into each other.
#pragma once

#include <cstddef>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::shapes {

struct UnitedParts {
  mesh::TriangleMesh mesh;
  std::size_t parts = 0;  ///< that were united; those that face inwards belong to the one around them
};

/// The union of the parts, which must be closed, face outwards (hollows inwards, as repair_mesh() turns them)
/// and not cross themselves (boolean.h). With fewer than two parts the mesh is not changed. Throws Error when
/// it is not closed, or a part that faces inwards lies in no other one.
[[nodiscard]] UnitedParts unite_parts(const mesh::TriangleMesh& mesh);

/// The parts of a mesh that no edge joins, each with vertices of its own.
[[nodiscard]] std::vector<mesh::TriangleMesh> separate_parts(const mesh::TriangleMesh& mesh);

}  // namespace thrum::shapes
