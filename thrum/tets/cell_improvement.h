// SPDX-License-Identifier: MIT
// Swaps edges and faces of tetrahedra where the worst of them gets better, and keeps a surface.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/tets/delaunay_mesh.h"

namespace thrum::tets {

/// The surface in a mesh: which cells are inside, and the edges and triangles between inside and outside,
/// corners in ascending order.
struct KeptSurface {
  std::vector<std::uint8_t> inside;  ///< per cell, 0 or 1
  std::set<Triangle> triangles;
  std::set<std::array<Index, 2>> edges;
};

/// Improves the cells inside whose radius ratio is low. An edge of n cells is removed by the best of all ways
/// to join the n vertices around it [Klincsek 1980], two cells at a face become three. What is still nearly
/// flat is opened by a point beside its longest edge. Returns the number of changes.
std::size_t improve_cells(DelaunayMesh& mesh, KeptSurface& surface);

}  // namespace thrum::tets
