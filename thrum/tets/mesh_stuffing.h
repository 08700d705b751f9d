// SPDX-License-Identifier: MIT
// Tetrahedra for a triangle mesh: isosurface stuffing of its exact signed distance, and what the spacing left out.
//
//   const MeshStuffingResult r = tetrahedralise(MeshDistance(pot), {.spacing = 0.004});
//   if (!r.resolution.resolved()) fmt::print("{}", describe(r.resolution));
#pragma once

#include "thrum/distance/distance_function.h"
#include "thrum/distance/mesh_distance.h"
#include "thrum/tets/isosurface_stuffing.h"
#include "thrum/tets/resolution_report.h"

namespace thrum::tets {

/// The signed distance to a mesh, as the mesher wants it. Refers to `mesh`. A query starts from the answer to the one
/// before it, which is near by.
[[nodiscard]] distance::DistanceFunction distance_to(const distance::MeshDistance& mesh);

struct MeshStuffingDesc {
  double spacing = 0;  ///< as in StuffingDesc; 0: kDefaultCells across the longest side of the mesh [m]
  int grading = 0;     ///< as in StuffingDesc
  double min_piece_cells = 2;  ///< as in StuffingDesc
  bool report = true;          ///< whether to compare the result with the mesh
};

struct MeshStuffingResult {
  StuffingResult stuffing;
  ResolutionReport resolution;  ///< empty unless asked for
  double spacing = 0;           ///< that was used [m]
};

inline constexpr double kDefaultCells = 24;
inline constexpr double kMaxTetrahedra = 5e7;  ///< they take about 10 GB while they are made

/// Fills the mesh. It may be open or dirty if MeshDistance can tell its inside. Throws Error as stuff_isosurface does, and when
/// there would be more than kMaxTetrahedra.
[[nodiscard]] MeshStuffingResult tetrahedralise(const distance::MeshDistance& mesh,
                                                const MeshStuffingDesc& desc = {});

/// The spacing at which a volume [m^3] holds about so many tetrahedra [m].
[[nodiscard]] double spacing_for(double volume, double tetrahedra);

/// Fills the closed mesh with the spacing of `desc`, and when that leaves walls out, once more with the one that resolves most
/// of them, but about `max_tetrahedra` at the most. MeshStuffingResult::spacing says which it was.
[[nodiscard]] MeshStuffingResult tetrahedralise_walls(const distance::MeshDistance& mesh,
                                                      const MeshStuffingDesc& desc, double max_tetrahedra);

}  // namespace thrum::tets
