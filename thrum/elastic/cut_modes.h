// SPDX-License-Identifier: MIT
// Modes of any closed surface in cut cells, with cells and degree of the elements chosen by the error.
//
// See docs/methods/cut_cells.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "thrum/elastic/surface_modes.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::elastic {

/// Throws tets::CrossingSurface, and Error as analyse_surface_modes() does.
[[nodiscard]] ModalAnalysisResult analyse_cut_surface(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                                      const ModalAnalysisDesc& desc);

/// The quadratic elements of the first lattice alone, which takes a second; nothing where their error is
/// above that of `fill.quality`, or where cells are much wider than the body is thick.
[[nodiscard]] std::optional<ModalAnalysisResult> analyse_cut_coarsely(const mesh::TriangleMesh& surface,
                                                                      const FillDesc& fill,
                                                                      const ModalAnalysisDesc& desc);

/// How often each element is to be bisected, so that there are about `growth` times as many of them and each
/// contributes the same to the error. `errors` are those of the elements now.
[[nodiscard]] std::vector<std::uint8_t> bisections(const std::vector<double>& errors, double growth);

}  // namespace thrum::elastic
