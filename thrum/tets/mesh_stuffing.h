// SPDX-License-Identifier: MIT
// Tetrahedra for a triangle mesh: isosurface stuffing of its exact signed distance, and a report of what the
// spacing cannot resolve.
//
//   const MeshStuffingResult r = tetrahedralise(MeshDistance(pot), {.spacing = 0.004});
//   if (!r.resolution.resolved()) fmt::print("{}", describe(r.resolution));
#pragma once

#include "thrum/distance/distance_function.h"
#include "thrum/distance/mesh_distance.h"
#include "thrum/tets/isosurface_stuffing.h"
#include "thrum/tets/resolution_report.h"

namespace thrum::tets {

/// The signed distance to a mesh, in the form that the mesher uses. Refers to `mesh`. A query starts from the
/// result of the previous one, which is close.
[[nodiscard]] distance::DistanceFunction distance_to(const distance::MeshDistance& mesh);

struct MeshStuffingDesc {
  double spacing = 0;  ///< as in StuffingDesc; 0: kDefaultCells across the longest side of the mesh [m]
  int grading = 0;     ///< as in StuffingDesc
  double min_piece_cells = 2;  ///< as in StuffingDesc
  bool report = true;          ///< whether to compare the result with the mesh
};

struct MeshStuffingResult {
  StuffingResult stuffing;
  ResolutionReport resolution;  ///< empty unless requested
  double spacing = 0;           ///< the spacing used [m]
};

inline constexpr double kDefaultCells = 24;
inline constexpr double kMaxTetrahedra = 5e7;  ///< needs about 10 GB while meshing

/// Fills the mesh. It may be open or defective if MeshDistance can determine its inside. Throws Error as
/// stuff_isosurface does, and when there would be more than kMaxTetrahedra.
[[nodiscard]] MeshStuffingResult tetrahedralise(const distance::MeshDistance& mesh,
                                                const MeshStuffingDesc& desc = {});

/// The spacing at which a volume [m^3] contains about this many tetrahedra [m].
[[nodiscard]] double spacing_for(double volume, double tetrahedra);

/// Fills the closed mesh with the spacing of `desc`, and when that misses walls, once more with the spacing
/// that resolves most of them, limited to about `max_tetrahedra`. MeshStuffingResult::spacing is the one
/// used.
[[nodiscard]] MeshStuffingResult tetrahedralise_walls(const distance::MeshDistance& mesh,
                                                      const MeshStuffingDesc& desc, double max_tetrahedra);

}  // namespace thrum::tets
