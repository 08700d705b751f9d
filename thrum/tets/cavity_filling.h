// SPDX-License-Identifier: MIT
// Fills a hole in a mesh of tetrahedra without a new point.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/tets/delaunay_mesh.h"

namespace thrum::tets {

/// Three vertices; the positive side, from which they turn counter-clockwise, is the one to be filled.
using OpenTriangle = std::array<Index, 3>;

/// The faces of a positive tetrahedron, each with the inside on its positive side; face k is opposite to
/// corner k.
[[nodiscard]] std::array<OpenTriangle, 4> inward_faces(const std::array<Index, 4>& tetrahedron);

/// Tetrahedra between the faces, by gift wrapping: each face takes the vertex whose sphere is empty of the
/// others, or the next one that can be seen [Diazzi et al. 2023, section 4.3]. Nothing when a face has no
/// such vertex; where all edges of the faces are Delaunay that does not happen.
[[nodiscard]] std::optional<std::vector<std::array<Index, 4>>> fill_cavity(const DelaunayMesh& mesh,
                                                                           std::vector<OpenTriangle> faces);

}  // namespace thrum::tets
