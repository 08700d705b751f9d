// SPDX-License-Identifier: MIT
// An estimate of the discretisation error of a computed frequency, from the stress jumps between elements.
//
// The stress of a finite-element solution jumps from element to element; averaging it at the vertices gives a
// better stress s* [Zienkiewicz and Zhu, Int. J. Numer. Meth. Eng. 24, 1987]. The energy of the difference,
//
//     eta^2 = integral (s* - s) : C^-1 : (s* - s)  /  integral s : C^-1 : s,                             (1)
//
// estimates the fraction of the mode's elastic energy that is error. Elements are too stiff, so w^2 is too
// high by that fraction, w^2 = w_exact^2 + eta^2 w^2, and
//
//     (w - w_exact) / w_exact = 1 / sqrt(1 - eta^2) - 1.                                                  (2)
//
// Departure from the source: stress is averaged at the corners for TET10 too, where it is linear in each
// element, so that (1) measures the jumps and not the curvature; and only within a region, as the exact
// stress jumps where the material changes.
#pragma once

#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/element_mesh.h"
#include "thrum/model/material.h"

namespace thrum::elastic {

/// Estimate (2) for each mode; empty for wedges, and where no two elements share a vertex, so that there are
/// no jumps.
/// `shapes` has 3 rows per node of the element mesh and one column per mode. `element_errors` receives the
/// share of each element in (1), summed over all modes.
[[nodiscard]] VecX estimate_frequency_errors(const ElementMesh& mesh,
                                             std::span<const model::Material> materials,
                                             const Eigen::Ref<const MatX>& shapes,
                                             std::vector<double>* element_errors = nullptr);

}  // namespace thrum::elastic
