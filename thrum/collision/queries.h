// SPDX-License-Identifier: MIT
// What a ray meets, which point of a shape is nearest, and whether two shapes overlap.
#pragma once

#include <optional>

#include "thrum/collision/prepared_shape.h"

namespace thrum::collision {

struct ShapeRay {
  Vec3 origin = Vec3::Zero();       ///< [m]
  Vec3 direction = -Vec3::UnitZ();  ///< unit; queries of a world scale any other length to 1
  double length = 1e3;              ///< [m]
};

struct ShapeRayHit {
  double distance = 0.0;         ///< along the ray [m]
  Vec3 position = Vec3::Zero();  ///< [m]
  Vec3 normal = Vec3::UnitZ();   ///< of the surface, unit, against the ray
};

struct ShapePoint {
  Vec3 position = Vec3::Zero();  ///< on the surface [m]
  double distance = 0.0;         ///< from the query; negative inside [m]
};

// Convex shapes, planes and closed meshes are solid. Open meshes and height fields are surfaces without an
// inside, seen from both sides.

/// First point of the shape placed at `X_ws` that the ray meets, all in world axes. A ray that starts inside
/// hits at distance 0.
[[nodiscard]] std::optional<ShapeRayHit> cast_ray(const PreparedShape& shape, const Pose& X_ws,
                                                  const ShapeRay& ray);

/// Point of the shape's surface nearest to `p`.
[[nodiscard]] ShapePoint closest_point(const PreparedShape& shape, const Pose& X_ws, const Vec3& p);

/// Whether `p`, in the axes of the shape, is inside a closed mesh. False for all other kinds.
[[nodiscard]] bool is_inside(const PreparedShape& surface, const Vec3& p);

/// Whether the two shapes have a point in common. Shapes that just touch may be found either way, by
/// rounding.
[[nodiscard]] bool overlap(const PreparedShape& a, const Pose& X_wa, const PreparedShape& b,
                           const Pose& X_wb);

}  // namespace thrum::collision
