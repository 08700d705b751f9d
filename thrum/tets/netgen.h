// SPDX-License-Identifier: MIT
// Fitted tetrahedra by Netgen, a program of others (LGPL 2.1, Debian package netgen) that is looked for when
// it is needed and run as a child process: a crash of it, or a search that never ends, stops nothing else.
#pragma once

#include <filesystem>

#include "thrum/base/progress.h"
#include "thrum/mesh/tetrahedral_mesh.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::tets {

/// Where the program is, by PATH; empty when it is not installed.
[[nodiscard]] std::filesystem::path find_netgen();

struct NetgenDesc {
  double edge = 0;          ///< longest edge [m]
  double time_limit = 300;  ///< then the child is ended [s]
  base::StopToken stop = {};
};

/// Fills a closed surface, whose triangles are made anew: edges bent by more than 30 degrees are kept, curved
/// parts become facets of the new edge length, so that volumes differ. Flat tetrahedra are left out. Throws
/// Error with what to do when the program is not there, fails, or does not end in time.
[[nodiscard]] mesh::TetrahedralMesh tetrahedralise_with_netgen(const mesh::TriangleMesh& surface,
                                                               const NetgenDesc& desc);

/// The tetrahedra of a file in the format 2 of Gmsh, as Netgen writes it, all made positive; those with less
/// than a millionth of the volume of their edges are left out. Throws Error when it has none.
[[nodiscard]] mesh::TetrahedralMesh read_netgen_mesh(const std::filesystem::path& file);

}  // namespace thrum::tets
