// SPDX-License-Identifier: MIT
// What a lattice of a given spacing could not resolve of a surface: thin walls, narrow gaps and small details
// that the tetrahedra miss, where they are, and the spacing that would keep them.
//
// A wall of thickness t between parallel planes, in any position, is filled by isosurface stuffing of spacing
// h when
//
//     t >= 2 (sqrt(5)/4 + 0.39882 sqrt(3)/2) h = 1.81 h,
//
// since every point has a lattice site within sqrt(5)/4 h, and a site deeper than 0.39882 sqrt(3)/2 h is not
// moved onto the surface. Thinner walls may be kept, pierced or lost, depending on the position of the
// lattice.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::tets {

/// Thickness of a wall that is always resolved, in spacings.
inline constexpr double kResolvedThickness = 1.8089;
/// Thickness, in spacings, that a suggested spacing gives a wall: the above with a small margin.
inline constexpr double kSuggestedThickness = 2;

enum class UnresolvedKind {
  thin_wall,   ///< material thinner than the lattice resolves
  narrow_gap,  ///< space between walls that the lattice bridges
  detail,      ///< neither thin nor narrow where measured: a spike, a sharp corner
};

/// A connected place where the tetrahedra miss the surface.
struct UnresolvedRegion {
  UnresolvedKind kind = UnresolvedKind::detail;
  Box3 box;            ///< around the missed surface [m]
  double area = 0;     ///< of the missed surface [m^2]
  double width = 0;    ///< of the wall or gap: nine tenths of the missed surface are wider [m]
  double spacing = 0;  ///< that would resolve it [m]
};

struct ResolutionReport {
  double surface_area = 0;  ///< of the input [m^2]
  double missing_area = 0;  ///< further from the tetrahedra than the thresholds below [m^2]
  double thin_area = 0;     ///< over walls thinner than kResolvedThickness, missed or not [m^2]
  double missing_volume =
      0;  ///< of the input minus that of the tetrahedra; negative when gaps were bridged [m^3]
  double max_distance = 0;     ///< from a sample of the surface to the tetrahedra; infinite without any [m]
  std::size_t lost_parts = 0;  ///< connected parts of the surface that are missed entirely
  std::vector<UnresolvedRegion> regions;  ///< largest missed area first
  /// The spacing that resolves every region, or 0 when there is none [m].
  double spacing = 0;
  /// The spacing that resolves nine tenths of their area: a crack of a few micrometres does not decide it
  /// [m].
  double spacing_for_most_area = 0;

  [[nodiscard]] bool resolved() const { return regions.empty(); }
};

/// Surface over a wall or gap that is too thin counts as missed when further than this from the tetrahedra;
/// other surface, where a chamfered edge is expected, further than kMissedDetail. In spacings.
inline constexpr double kMissedThin = 0.25;
inline constexpr double kMissedDetail = 0.75;

/// Compares the tetrahedra, made with `spacing` [m], with the closed surface that they should fill. The
/// surface is sampled about twice per spacing, large meshes more sparsely.
[[nodiscard]] ResolutionReport check_resolution(const mesh::Bvh& surface, const mesh::TetrahedralMesh& mesh,
                                                double spacing);

/// Sentences that state what is missing, where, and what to do. Empty when everything is resolved.
[[nodiscard]] std::string describe(const ResolutionReport& report);

}  // namespace thrum::tets
