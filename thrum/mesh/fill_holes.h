// SPDX-License-Identifier: MIT
// Closes the holes of a surface.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

struct FillHolesResult {
  std::size_t filled = 0;  ///< holes
  std::size_t new_triangles = 0;
  std::size_t kept = 0;            ///< borders that are not simple loops, left open
  std::vector<std::string> lines;  ///< one sentence for each hole that was filled or left, largest first
};

/// Each loop of edges with one triangle is closed by triangles to a new vertex at its middle, or by one
/// triangle where it has three edges. The vertices of the mesh stay as they are. Expects neighbours to face
/// the same way (repair.h). The caps are flat fans: good for small holes, rough for the mouth of a vessel.
FillHolesResult fill_holes(TriangleMesh& mesh);

}  // namespace thrum::mesh
