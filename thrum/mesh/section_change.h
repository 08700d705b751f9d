// SPDX-License-Identifier: MIT
// By how much the sections of the parts of a body change when its surface is replaced by another one.
#pragma once

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// Half of the largest relative change of a local second moment: that of the frequency of a part that bends.
/// Within about one thickness around the middle of the body below each triangle, in the direction of its
/// normal; the inertia of the whole says nothing about a small part, nor does the area of a section about its
/// stiffness. `changed` lies close to `given`, both closed. Exact for round rods, 4/3 of it for plates.
[[nodiscard]] double largest_section_change(const TriangleMesh& given, const TriangleMesh& changed);

}  // namespace thrum::mesh
