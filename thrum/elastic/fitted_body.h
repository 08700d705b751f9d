// SPDX-License-Identifier: MIT
// Tetrahedra that were fitted to a surface, ready for analyse_elements(), with shapes kept at the vertices of
// the surface that was given.
#pragma once

#include "thrum/elastic/element_analysis.h"
#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::elastic {

/// Elements of degree 2 or 3. Shapes are kept at the vertices of `surface`, which come first and in their
/// order, and at points between them at most `longest` [m] apart: each moves as the closest point of the
/// boundary of `mesh` does. Throws Error as analyse_modes() does for a mesh that cannot be analysed, and for
/// supports as held_axes() does.
[[nodiscard]] ElementBody fitted_body(const mesh::TriangleMesh& surface, const mesh::TetrahedralMesh& mesh,
                                      double longest, const ModalAnalysisDesc& desc, int degree = 2);

}  // namespace thrum::elastic
