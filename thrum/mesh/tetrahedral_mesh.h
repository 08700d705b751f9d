// SPDX-License-Identifier: MIT
// A tetrahedral mesh as plain data, linear (4 nodes) or quadratic (10 nodes, as in FEM).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// Positive tetrahedra: det[v1-v0, v2-v0, v3-v0] > 0.
struct TetrahedralMesh {
  std::vector<Vec3> vertices;             ///< [m]
  std::vector<Tetrahedron> tetrahedra;    ///< corner indices into vertices
  std::vector<Index> regions;             ///< per tetrahedron, an index into region_names; empty: one region
  std::vector<std::string> region_names;  ///< may be empty
};

/// The boundary of a tetrahedral mesh, facing outwards, with the map back to the volume: surface vertex i is
/// node `nodes[i]`, and surface triangle t is a face of tetrahedron `tetrahedra[t]`.
struct BoundarySurface {
  TriangleMesh surface;
  std::vector<Index> nodes;
  std::vector<Index> tetrahedra;
};

/// Six times the signed volume of a tetrahedron.
[[nodiscard]] double six_times_volume(const TetrahedralMesh& mesh, std::size_t tetrahedron);

/// Total volume [m^3].
[[nodiscard]] double volume(const TetrahedralMesh& mesh);

/// Faces that belong to one tetrahedron only. The order follows the tetrahedra, so it is the same on every
/// run.
[[nodiscard]] BoundarySurface boundary_surface(const TetrahedralMesh& mesh);

/// The six dihedral angles of a tetrahedron [rad], at the edges 01 02 03 12 13 23.
[[nodiscard]] std::array<double, 6> dihedral_angles(const TetrahedralMesh& mesh, std::size_t tetrahedron);

}  // namespace thrum::mesh
