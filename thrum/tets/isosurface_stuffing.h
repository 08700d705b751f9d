// SPDX-License-Identifier: MIT
// Tetrahedra for any solid with a signed distance, by isosurface stuffing [Labelle07]: a body-centred cubic
// lattice is filled into the shape, lattice vertices close to the surface are moved onto it, and the
// tetrahedra that it still cuts are replaced by their inside part. Every dihedral angle of a uniform mesh
// lies between 10.78 and 164.74 degrees, whatever the shape; in return, sharp edges are chamfered by a
// fraction of the spacing.
//
// See docs/methods/isosurface_stuffing.md.
#pragma once

#include <cstddef>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/distance/distance_function.h"
#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::tets {

/// Bounds on the dihedral angles of a uniform mesh of any function [deg]. They follow from the stencils and
/// the thresholds of lattice_cuts.h alone: a test checks every stencil with every moved corner and every cut
/// point at the ends of its range. A graded mesh keeps them at the surface and has better angles inside.
inline constexpr double kStuffingMinDihedral = 10.78;
inline constexpr double kStuffingMaxDihedral = 164.74;

struct StuffingDesc {
  distance::DistanceFunction distance;  ///< of the shape; negative inside
  /// contains the shape; a lattice plane passes through bounds.min() [m]
  Box3 bounds;
  double spacing = 0;  ///< side of the lattice cubes = length of the long edges [m]
  /// How much coarser the inside may be: 0 uniform, n up to 2^n times (at most 3). The surface is always at
  /// `spacing`, and cells that touch differ by at most a factor of two.
  int grading = 0;
  /// Pieces not connected to the rest by a face and smaller than this many lattice cubes are dropped and
  /// reported.
  double min_piece_cells = 2;
};

struct StuffingResult {
  mesh::TetrahedralMesh mesh;
  /// Face-connected pieces, largest first: volume of each [m^3].
  std::vector<double> pieces;
  std::size_t dropped_pieces = 0;  ///< too small to keep
  double dropped_volume = 0;       ///< of these [m^3]
  /// Vertices duplicated where parts of the solid touched only at a vertex or along an edge. Not zero where a
  /// wall or a gap is about as thin as the lattice.
  std::size_t split_vertices = 0;
  /// Boundary edges with four faces that remain, between parts that are connected at both ends of the edge.
  std::size_t pinched_edges = 0;
  std::size_t distance_evaluations = 0;  ///< calls of the distance function, in points
};

/// Fills the shape. Boundary vertices lie on the zero set to within kStuffingSurfaceTolerance * spacing. The
/// result is empty when the shape lies entirely between the lattice points. Throws Error when the box cuts
/// through the shape, the spacing is not positive, or the distance is not a number.
[[nodiscard]] StuffingResult stuff_isosurface(const StuffingDesc& desc);

/// Distance of boundary vertices from the surface, as a fraction of the spacing.
inline constexpr double kStuffingSurfaceTolerance = 1e-7;

}  // namespace thrum::tets
