// SPDX-License-Identifier: MIT
// Questions to a world: what a ray meets, which body is nearest to a point, which bodies overlap a shape.
#pragma once

#include <optional>
#include <vector>

#include "thrum/collision/queries.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

struct WorldRayHit {
  model::BodyId body;
  collision::ShapeRayHit hit;
};

struct ClosestBodyHit {
  model::BodyId body;
  collision::ShapePoint point;
};

/// The first body that the ray meets; of equally near ones the lowest number.
[[nodiscard]] std::optional<WorldRayHit> cast_ray(const World& world, const collision::ShapeRay& ray);

/// The body whose surface is nearest to `p`, or nothing within `max_distance` [m].
[[nodiscard]] std::optional<ClosestBodyHit> closest_body(const World& world, const Vec3& p,
                                                         double max_distance);

/// Bodies that overlap `shape` placed at `X_ws`, in rising order.
[[nodiscard]] std::vector<model::BodyId> overlapping_bodies(const World& world, const model::Shape& shape,
                                                            const Pose& X_ws);

}  // namespace thrum::sim
