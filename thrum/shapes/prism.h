// SPDX-License-Identifier: MIT
// The mesh of a prism in even layers, for extrusions and for what is swept along a curve.
#pragma once

#include "thrum/mesh/triangle_mesh.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {

/// How the quadrilaterals of the sides are cut in two.
enum class PrismDiagonals {
  parallel,
  alternating  ///< from layer to layer: what they take from a prism that is bent, the next ones give back
};

/// From z = 0 to z = height in `layers` layers of equal height; edges of the outline and of the caps by the
/// edge length.
[[nodiscard]] mesh::TriangleMesh make_prism(const ExtrusionDesc& desc, int layers, PrismDiagonals diagonals);

}  // namespace thrum::shapes
