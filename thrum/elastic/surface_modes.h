// SPDX-License-Identifier: MIT
// From a surface and a material to the modes of the body: a closed one is filled, an open one is a sheet.
//
//   const ModalAnalysisResult mug =
//       analyse_surface_modes_cached(surface, {}, {.name = "mug", .materials = {ceramic}});
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "thrum/base/cache.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::elastic {

/// How a closed surface is filled.
enum class FillMethod {
  /// free bodies of revolution as round (docs/methods/revolved_bodies.md), bodies along three axes in a grid
  /// (docs/methods/rectilinear_bodies.md), free thin walls in wedges (docs/methods/sheets.md), others in
  /// tetrahedra that keep the surface, remeshed where it has too many triangles or narrow ones, or in cut
  /// cells where one lattice of them suffices or nothing else does
  automatic,
  cut_cells,  ///< exact volume, sharp edges: elements partly inside (tets/cut_cells.h); TET10 only
  stuffing,   ///< fitted tetrahedra that cut off edges (tets/isosurface_stuffing.h)
  netgen,     ///< fitted tetrahedra by a program of others, which must be installed (tets/netgen.h)
  delaunay,   ///< tetrahedra that keep the surface (tets/delaunay_fill.h); TET10 only
};

/// How accurate the frequencies shall be, where the spacing is not given: the largest stated error of the
/// modes asked for, up to 20 kHz.
enum class Quality {
  draft,   ///< 5 %, at most 6,000 quadratic or 1,600 cubic cells
  normal,  ///< 1 %, at most 25,000 or 6,700
  fine,    ///< 0.2 %, at most 120,000 or 32,000
};

struct FillDesc {
  /// of the lattice [m]; 0: chosen by `quality` (cut cells), or a 24th of the length, coarser for solid
  /// bodies, or as fine as the thinnest wall needs (stuffing)
  double spacing = 0;
  /// With spacing 0, a lattice of more than about this many tetrahedra is not used, whatever the walls need.
  double max_tetrahedra = 100e3;
  /// A grid with cells of at most this size along x, y and z instead of the lattice [m]: exact for bodies
  /// whose faces all lie along the axes (tets/block_tets.h), an error for others.
  std::optional<Vec3> grid = {};
  FillMethod method = FillMethod::automatic;
  /// The surface, open or closed, is a sheet of this thickness, half of it to each side, in wedges [m]; 0: it
  /// is the boundary of a solid. `spacing` is then the longest edge.
  double thickness = 0;
  Quality quality = Quality::normal;
};

/// The default spacing for a body without thin walls [m]; `volume` is the body's [m^3].
[[nodiscard]] double default_spacing(const mesh::TriangleMesh& surface, double volume, ElementKind element);

/// Fills the surface and analyses it as analyse_modes does. Details that the lattice cannot resolve give a
/// warning of the model, a refined lattice gives a hint. Throws Error when the surface is not closed or no
/// part of it is thick enough.
[[nodiscard]] ModalAnalysisResult analyse_surface_modes(const mesh::TriangleMesh& surface,
                                                        const FillDesc& fill, const ModalAnalysisDesc& desc);

/// The same, or the result of an earlier call with the same input from the cache, without filling the surface
/// again.
[[nodiscard]] ModalAnalysisResult analyse_surface_modes_cached(const mesh::TriangleMesh& surface,
                                                               const FillDesc& fill,
                                                               const ModalAnalysisDesc& desc,
                                                               const base::Cache& cache = base::Cache());

/// The modal model of a surface of one material, cached, for programs that need no more than that: 20 modes,
/// held where the clamps say (supports.h, such as "z<0.01"; none: it is free). Throws Error with what to do
/// when there is none.
[[nodiscard]] std::shared_ptr<const model::ModalModel> modal_model(
    const mesh::TriangleMesh& surface, const model::Material& material,
    const std::vector<std::string>& clamps = {}, const FillDesc& fill = {});

}  // namespace thrum::elastic
