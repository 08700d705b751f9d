// SPDX-License-Identifier: MIT
// Tetrahedra that keep a closed surface: its vertices, sharp edges and volume, walls of any thickness.
//
//   const DelaunayFillResult pot = fill_by_delaunay(MeshDistance(surface), {.spacing = 0.004});
//
// Long edges of the surface are halved, points of a lattice are added inside, and all of them are meshed by a
// constrained Delaunay method (surface_recovery.h). See docs/methods/constrained_delaunay.md.
#pragma once

#include <cstddef>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/distance/mesh_distance.h"
#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::tets {

/// The surface cannot be kept: it crosses or touches itself, is not closed, or would take too many points.
class SurfaceNotKept : public Error {
 public:
  using Error::Error;
};

/// The points with normal . x = offset.
struct CuttingPlane {
  Vec3 normal = Vec3::Zero();
  double offset = 0;  ///< in the unit of normal . x
};

struct DelaunayFillDesc {
  double spacing = 0;        ///< longest edge of the surface and width of the lattice inside [m], > 0
  double max_points = 2e6;   ///< more vertices than this are an error, at once where many more are foreseen
  int smoothing_rounds = 4;  ///< in which points inside move to where their tetrahedra are better
  /// Edges of the surface end at these planes, such as those where a support begins.
  std::vector<CuttingPlane> planes = {};
};

struct DelaunayFillResult {
  mesh::TetrahedralMesh mesh;      ///< vertices of the surface come first, in their order
  std::size_t surface_points = 0;  ///< added to the surface, to halve edges and to recover them
  std::size_t inner_points = 0;    ///< added inside
  std::size_t flat_removed = 0;    ///< flat tetrahedra on flat parts of the surface, left out
};

/// Throws SurfaceNotKept with the reason.
[[nodiscard]] DelaunayFillResult fill_by_delaunay(const distance::MeshDistance& surface,
                                                  const DelaunayFillDesc& desc);

}  // namespace thrum::tets
