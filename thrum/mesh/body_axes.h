// SPDX-License-Identifier: MIT
// Axes that belong to a body and turn with it, so that what is computed along them does not depend on how the
// body lies in its file.
#pragma once

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// The principal axes of the surface as columns, right-handed, the longest first. Where two moments are equal
/// an axis points to the vertex farthest from the centre or from the unique axis.
[[nodiscard]] Mat3 body_axes(const TriangleMesh& mesh);

/// The given perpendicular axes (columns) in the order of the surface's second moments along them, largest
/// first, each pointing to where its third moment is positive, as far as a right-handed system allows. Of
/// axes in which the body is symmetric any order and direction may come out.
[[nodiscard]] Mat3 ordered_axes(const TriangleMesh& mesh, const Mat3& axes);

}  // namespace thrum::mesh
