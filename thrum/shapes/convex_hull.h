// SPDX-License-Identifier: MIT
// Convex hull of points in space by quickhull on integers.
//
// Points are rounded to a grid of 2^-40 of their bounding box, on which every decision is exact in 128 bits:
// the hull is the true hull of the rounded points, and no tolerance is needed for coplanar, collinear or
// repeated ones. The result keeps the given coordinates.
#pragma once

#include <span>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::shapes {

/// Vertices are corners of the hull only, in the order of the input. Throws Error when the points lie in one
/// plane.
[[nodiscard]] mesh::TriangleMesh convex_hull(std::span<const Vec3> points);

}  // namespace thrum::shapes
