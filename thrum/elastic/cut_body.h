// SPDX-License-Identifier: MIT
// A closed surface as cut cells (tets/cut_cells.h), with supports, ready for analyse_elements().
#pragma once

#include "thrum/distance/mesh_distance.h"
#include "thrum/elastic/element_analysis.h"
#include "thrum/tets/cut_cells.h"

namespace thrum::elastic {

/// The cells of a uniform lattice. The first support that is a half space lies along faces of the lattice,
/// which hold it exactly; without one, boxes that end in the same plane do. Throws Error for supports that no
/// surface can have, and as CutCells does.
[[nodiscard]] tets::CutCells supported_cells(const distance::MeshDistance& surface, double spacing,
                                             int degree, const ModalAnalysisDesc& desc,
                                             const tets::CutCells::Advance& advance = {});

/// The body in cells of supported_cells(), or finer ones. Supports that lie along no faces of the lattice
/// hold the nodes that they select, and the surface within them by stiff springs. Shapes are kept at the
/// vertices of the given surface, which come first and in their order, and at points between them at most a
/// spacing of the lattice apart. Throws Error for supports that hold nothing or everything.
[[nodiscard]] ElementBody cut_body(const distance::MeshDistance& surface, const tets::CutCells& cells,
                                   const ModalAnalysisDesc& desc);

}  // namespace thrum::elastic
