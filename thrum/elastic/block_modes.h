// SPDX-License-Identifier: MIT
// Modes of bodies whose faces all lie along three perpendicular axes: boxes, plates, tables, shelves. A grid
// follows their faces (tets/block_tets.h), and the elements are cubic.
//
// See docs/methods/rectilinear_bodies.md.
#pragma once

#include <optional>

#include "thrum/elastic/surface_modes.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::elastic {

/// None when the faces or a support are not along three perpendicular axes, or the faces divide the body into
/// too many cells. The surface is closed. With `must_converge` none also where a finer grid does not make the
/// largest error smaller: a part, such as the handle of a fridge, is too small for a grid of the whole body.
[[nodiscard]] std::optional<ModalAnalysisResult> analyse_blocks(const mesh::TriangleMesh& surface,
                                                                const FillDesc& fill,
                                                                const ModalAnalysisDesc& desc,
                                                                bool must_converge = false);

}  // namespace thrum::elastic
