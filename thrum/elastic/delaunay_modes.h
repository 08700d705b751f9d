// SPDX-License-Identifier: MIT
// Modes of a closed surface in tetrahedra that keep it, with size and degree of the elements chosen by the
// error.
//
// See docs/methods/constrained_delaunay.md.
#pragma once

#include <optional>

#include "thrum/elastic/surface_modes.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::elastic {

/// Nothing where the surface has more triangles than the elements that `fill` allows. Throws
/// tets::SurfaceNotKept where it cannot be kept, and Error as analyse_surface_modes() does.
[[nodiscard]] std::optional<ModalAnalysisResult> analyse_delaunay(const mesh::TriangleMesh& surface,
                                                                  const FillDesc& fill,
                                                                  const ModalAnalysisDesc& desc);

/// The same with the surface remeshed first, where it has too many triangles or long narrow ones: sharp edges
/// and the volume are kept, and shapes are carried to the surface that was given. Nothing where the result
/// would cross itself, or differ from the surface by more than 0.5 % of its inertia.
[[nodiscard]] std::optional<ModalAnalysisResult> analyse_remeshed(const mesh::TriangleMesh& surface,
                                                                  const FillDesc& fill,
                                                                  const ModalAnalysisDesc& desc);

}  // namespace thrum::elastic
