// SPDX-License-Identifier: MIT
// Exact predicates on points with whole coordinates, for Delaunay meshes.
//
// Surfaces are made of planes, grids and circles, so that most of the tests of their Delaunay mesh are ties:
// points in one plane or on one sphere. Coordinates of kDelaunayBits bits make the differences exact, a
// volume fits into 128 bits and the test of a sphere into a few such numbers: a tie costs no more than a
// dozen times an ordinary test.
#pragma once

#include "thrum/base/vec.h"

namespace thrum::tets {

/// Coordinates are whole numbers from 0 to 2^kDelaunayBits.
inline constexpr int kDelaunayBits = 41;

/// Sign of det[b - a, c - a, d - a]: +1 for a positive tetrahedron.
[[nodiscard]] int grid_orientation(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// +1 when e lies inside the sphere through the positive tetrahedron a, b, c, d, 0 on it, -1 outside.
[[nodiscard]] int grid_in_sphere(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d, const Vec3& e);

}  // namespace thrum::tets
