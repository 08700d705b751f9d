// SPDX-License-Identifier: MIT
// Rigid motions of a body, which have no elastic energy, and the scale of its lowest elastic mode.
#pragma once

#include <array>
#include <span>

#include "thrum/base/vec.h"
#include "thrum/elastic/assembly.h"
#include "thrum/elastic/element_mesh.h"
#include "thrum/model/material.h"

namespace thrum::elastic {

/// A basis of the infinitesimal rigid motions (three translations, three rotations) that the supports allow,
/// in the free unknowns: six columns for a free body, none for a clamped one.
[[nodiscard]] MatX rigid_motions(const ElementMesh& mesh, const FreeUnknowns& unknowns);

/// A rough upper bound of the lowest eigenvalue w^2 of the free body [rad^2/s^2], by Rayleigh and Ritz with
/// quadratic displacement fields. For a slender beam in bending it is 1.2 times too high in frequency;
/// accurate enough to choose a shift.
[[nodiscard]] double estimate_lowest_eigenvalue(const ElementMesh& mesh,
                                                std::span<const model::Material> materials);

}  // namespace thrum::elastic
