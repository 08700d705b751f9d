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

}  // namespace thrum::elastic
