// SPDX-License-Identifier: MIT
// When a shape that moves along a straight line, without turning, first touches another one.
//
// Method: the distance d of two convex shapes and its direction n (from the moving one to the other) give a
// plane that separates them. Moving by t m, they cannot touch before the gap along n is closed:
//
//     t <- t + d / (n . m)                                                                       (1)
//
// and never touch when n . m <= 0. This is Newton's method for the distance, which is a convex function of t:
// it comes from before the impact and never steps over it. It ends when the gap is within
// shape_cast_tolerance(). Compounds are cast part by part; meshes and height fields triangle by triangle, in
// pieces of the way.
#pragma once

#include <optional>

#include "thrum/collision/prepared_shape.h"

namespace thrum::collision {

struct ShapeCastHit {
  double fraction = 0.0;         ///< of the motion, at which the shapes touch; 0 if they overlap at the start
  Vec3 position = Vec3::Zero();  ///< where they touch, on the other shape [m]
  Vec3 normal = Vec3::UnitZ();   ///< unit, from the other shape to the moving one
};

/// Gap at which two shapes count as touching [m]: 1e-6 of the half diagonal of the moving shape's bounds and
/// 1e-10 of the other's.
[[nodiscard]] double shape_cast_tolerance(const PreparedShape& moving, const PreparedShape& other);

/// First touch of `moving`, placed at `X_ws` and moved by `motion` [m], with `other` at `X_wo`; all in world
/// axes. Hits beyond `max_fraction` of the motion are left out. Shapes that overlap at the start hit at
/// fraction 0. Shapes that touch at the start, to the tolerance, only hit if the motion presses them
/// together: one can slide along a floor and lift off. What is solid is said in queries.h. Throws Error for a
/// moving mesh, plane or height field.
[[nodiscard]] std::optional<ShapeCastHit> cast_shape(const PreparedShape& moving, const Pose& X_ws,
                                                     const Vec3& motion, const PreparedShape& other,
                                                     const Pose& X_wo, double max_fraction = 1.0);

/// Throws Error with a sentence unless the shape can be moved by cast_shape().
void check_castable(const PreparedShape& moving);

}  // namespace thrum::collision
