// SPDX-License-Identifier: MIT
// Checks of a mesh before modal analysis; each error message says what to do.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "thrum/base/vec.h"
#include "thrum/mesh/tetrahedral_mesh.h"
#include "thrum/mesh/triangle_mesh.h"
#include "thrum/model/material.h"

namespace thrum::elastic {

/// Throws Error for a mesh without tetrahedra, indices out of range, coordinates that are not finite,
/// inverted or flat tetrahedra, and for a body in several parts that do not touch.
void check_mesh(const mesh::TetrahedralMesh& mesh);

/// Throws Error when the body is in several parts that share no vertex.
void check_connected(const mesh::TetrahedralMesh& mesh);

/// Throws Error when a surface is open (has edges with one triangle only) or encloses no volume, so that it
/// cannot be filled.
void check_closed(const mesh::TriangleMesh& surface);

/// Throws Error when a region of the mesh has no material, or a material has invalid values.
void check_materials(const mesh::TetrahedralMesh& mesh, std::span<const model::Material> materials);

/// Fraction of the volume in tetrahedra that span from one side of the body to the other: all four corners on
/// the boundary. Near 1 for a plate with one layer of elements.
[[nodiscard]] double single_layer_fraction(const mesh::TetrahedralMesh& mesh);

/// A warning when size and lowest frequency suggest a wrong unit of length; empty when they are plausible.
[[nodiscard]] std::optional<std::string> implausible_size_warning(const Box3& bounds,
                                                                  double lowest_frequency);

}  // namespace thrum::elastic
