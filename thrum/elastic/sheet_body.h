// SPDX-License-Identifier: MIT
// An open or closed surface as a sheet of constant thickness, or a closed solid that is a thin wall, in
// wedges with matched nodes on its two sides, ready for analyse_elements().
#pragma once

#include "thrum/elastic/element_analysis.h"
#include "thrum/mesh/wall.h"

namespace thrum::elastic {

/// The sheet extends by half its thickness [m] to both sides of the surface. Edges longer than `longest` [m]
/// are halved. At folds the sides meet in a mitre. Shapes are kept on the surface itself: its vertices come
/// first and in their order. Throws Error with the place where more than two triangles meet at an edge,
/// neighbours face different ways, a fold is too sharp or a bend too narrow for the thickness; for a sheet
/// in several parts; and for supports as held_axes() does.
[[nodiscard]] ElementBody sheet_body(const mesh::TriangleMesh& surface, double thickness, double longest,
                                     const ModalAnalysisDesc& desc);

/// The solid in wedges between the sides of its wall. Shapes are kept at its own vertices, which come first
/// and in their order, and at points between them at most `longest` [m] apart. Throws Error when a wedge is
/// folded over.
[[nodiscard]] ElementBody wall_body(const mesh::TriangleMesh& solid, const mesh::Wall& wall, double longest,
                                    const ModalAnalysisDesc& desc);

/// The largest e^2/(R t) of a surface with edges of at most `longest` [m] and walls of `thickness` [m], R the
/// radius of curvature: above 0.5 wedges are too stiff by more than about 1 % (docs/methods/sheets.md). Edges
/// bent by more than 35 degrees are folds, which have no radius. The most curved twentieth of the area is
/// left out.
[[nodiscard]] double largest_locking_ratio(const mesh::TriangleMesh& surface, double thickness,
                                           double longest);

}  // namespace thrum::elastic
