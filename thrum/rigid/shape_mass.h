// SPDX-License-Identifier: MIT
// Mass, centre and inertia of a shape filled with material of one density.
#pragma once

#include <string>

#include "thrum/mesh/mass_properties.h"
#include "thrum/model/shape.h"

namespace thrum::rigid {

/// In shape axes. Closed forms for round shapes, exact integrals for polyhedra; parts of a compound are
/// added, overlaps counted twice. Throws Error for shapes without a volume: planes, height fields, open or
/// inverted meshes.
[[nodiscard]] mesh::MassProperties shape_mass(const model::Shape& shape, double density);

/// Why no solid body has this inertia tensor about its centre of mass, as the end of a sentence that begins
/// with its name; empty when one can have it. Principal moments are positive, and none is greater than the
/// sum of the other two.
[[nodiscard]] std::string find_inertia_mistake(const Mat3& inertia);

}  // namespace thrum::rigid
