// SPDX-License-Identifier: MIT
// Exact predicates: on which side of a line or plane a point lies. Evaluated in doubles with Shewchuk's error
// bound first; only what the bound cannot decide is computed again without rounding, as a sum of
// non-overlapping doubles [Shewchuk 1997, Adaptive precision floating-point arithmetic and fast robust
// geometric predicates]. Exact as long as no product under- or overflows: coordinates between 1e-90 and 1e90
// in size, or zero.
#pragma once

#include <array>

#include "thrum/base/vec.h"

namespace thrum::mesh {

/// Sign of det[b - a, c - a, d - a]: +1 when d lies on the side from which a, b, c turn counter-clockwise.
[[nodiscard]] int orientation_3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// Sign of the turn a, b, c: +1 to the left.
[[nodiscard]] int orientation_2d(const Vec2& a, const Vec2& b, const Vec2& c);

/// Do the closed triangles have a point in common?
[[nodiscard]] bool triangles_touch(const std::array<Vec3, 3>& s, const std::array<Vec3, 3>& t);

/// Does the closed segment p q have a point in common with the closed triangle?
[[nodiscard]] bool segment_touches_triangle(const Vec3& p, const Vec3& q, const std::array<Vec3, 3>& t);

}  // namespace thrum::mesh
