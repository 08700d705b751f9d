// SPDX-License-Identifier: MIT
// An open or closed surface as a sheet of constant thickness, in wedges with matched nodes on its two sides,
// ready for analyse_elements().
#pragma once

#include "thrum/elastic/element_analysis.h"

namespace thrum::elastic {

/// The sheet extends by half its thickness [m] to both sides of the surface. Edges longer than `longest` [m]
/// are halved. At folds the sides meet in a mitre. Shapes are kept on the surface itself: its vertices come
/// first and in their order. Throws Error with the place where more than two triangles meet at an edge,
/// neighbours face different ways, a fold is too sharp or a bend too narrow for the thickness; for a sheet
/// in several parts; and for supports as held_axes() does.
[[nodiscard]] ElementBody sheet_body(const mesh::TriangleMesh& surface, double thickness, double longest,
                                     const ModalAnalysisDesc& desc);

}  // namespace thrum::elastic
