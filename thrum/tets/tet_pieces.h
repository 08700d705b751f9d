// SPDX-License-Identifier: MIT
// The connectivity of a tetrahedral mesh: neighbours across faces, pieces, and places where pieces merely
// touch.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::tets {

/// For each tetrahedron the one across the face opposite to each corner, or -1 at the boundary. Linear in the
/// number of tetrahedra. Throws Error when three tetrahedra share a face.
[[nodiscard]] std::vector<std::array<Index, 4>> face_neighbours(const mesh::TetrahedralMesh& mesh);

/// Pieces of the mesh that are connected by faces, largest first.
struct TetPieces {
  std::vector<Index> piece_of;  ///< per tetrahedron
  std::vector<double> volumes;  ///< per piece [m^3]
};
[[nodiscard]] TetPieces face_connected_pieces(const mesh::TetrahedralMesh& mesh,
                                              std::span<const std::array<Index, 4>> neighbours);

/// Keeps tetrahedra t with keep[t] != 0 and the vertices that they use, in order.
void keep_tetrahedra(mesh::TetrahedralMesh& mesh, std::span<const char> keep);

/// Where two parts of the solid around a vertex share no face at it, a finite-element model would have a
/// hinge. Gives each such part its own copy of the vertex, and returns the number of copies.
[[nodiscard]] std::size_t split_pinched_vertices(mesh::TetrahedralMesh& mesh,
                                                 std::span<const std::array<Index, 4>> neighbours);

/// Boundary edges that belong to more than two boundary faces.
[[nodiscard]] std::size_t count_pinched_edges(const mesh::TetrahedralMesh& mesh,
                                              std::span<const std::array<Index, 4>> neighbours);

}  // namespace thrum::tets
