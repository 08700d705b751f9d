// SPDX-License-Identifier: MIT
// Queries of a world: what a ray or a moving shape hits first, which bodies overlap a shape, which is
// nearest.
//
//   const auto hit = cast_ray(world, {.origin = eye, .direction = view, .length = 50},
//                             {.excluded = {player}});
//   if (hit) world.apply_impulse(hit->body, impulse, hit->hit.position);
//
// All go through the broad phase and look only at bodies nearby. They are valid at any time between steps and
// while a step calls back: World keeps the boxes of the broad phase up to date whenever a body moves. They
// change nothing, so several threads may query at once. docs/queries.md says what they cost and how exact
// they are.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "thrum/collision/queries.h"
#include "thrum/collision/shape_cast.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

/// Which bodies a query sees. All of them, unless it says otherwise.
struct QueryFilter {
  /// Only bodies with one of these bits in BodyProperties::collision_group.
  std::uint32_t collides_with = std::numeric_limits<std::uint32_t>::max();
  bool include_dynamic = true;
  bool include_kinematic = true;
  bool include_fixed = true;
  bool include_sensors = true;
  std::vector<model::BodyId> excluded = {};              ///< a few bodies that are left out
  std::function<bool(model::BodyId body)> accepts = {};  ///< called last; empty accepts all
};

struct WorldRayHit {
  model::BodyId body;
  collision::ShapeRayHit hit;
};

struct WorldShapeHit {
  model::BodyId body;
  collision::ShapeCastHit hit;
};

struct ClosestBodyHit {
  model::BodyId body;
  collision::ShapePoint point;
};

// Of equally near bodies the one with the lowest index comes first.

/// The first body that the ray meets. Throws Error when the ray has no direction or its length is not a
/// number.
[[nodiscard]] std::optional<WorldRayHit> cast_ray(const World& world, const collision::ShapeRay& ray,
                                                  const QueryFilter& filter = {});

/// All bodies that the ray meets, each with its first hit, nearest first.
[[nodiscard]] std::vector<WorldRayHit> cast_ray_all(const World& world, const collision::ShapeRay& ray,
                                                    const QueryFilter& filter = {});

/// The first body that `shape`, placed at `X_ws`, touches when it moves by `motion` [m] without turning.
/// Throws Error for a mesh, a plane or a height field, and for a motion that is not a number. See
/// collision/shape_cast.h.
[[nodiscard]] std::optional<WorldShapeHit> cast_shape(const World& world, const model::Shape& shape,
                                                      const Pose& X_ws, const Vec3& motion,
                                                      const QueryFilter& filter = {});

/// Bodies that overlap `shape` placed at `X_ws`, in ascending order of index.
[[nodiscard]] std::vector<model::BodyId> overlapping_bodies(const World& world, const model::Shape& shape,
                                                            const Pose& X_ws, const QueryFilter& filter = {});

/// The body whose surface is nearest to `p` [m], or nothing within `max_distance` [m]. Inside a body the
/// distance is negative, so of several bodies around p the one in which p is deepest is found.
[[nodiscard]] std::optional<ClosestBodyHit> closest_body(
    const World& world, const Vec3& p, double max_distance = std::numeric_limits<double>::infinity(),
    const QueryFilter& filter = {});

/// All bodies within `max_distance` [m] of `p`, nearest first.
[[nodiscard]] std::vector<ClosestBodyHit> bodies_within(const World& world, const Vec3& p,
                                                        double max_distance, const QueryFilter& filter = {});

// The same with a shape that was prepared once by collision::prepare(), or is one of World::shapes():
// preparing a box takes longer than the query.
[[nodiscard]] std::optional<WorldShapeHit> cast_shape(const World& world,
                                                      const collision::PreparedShape& shape, const Pose& X_ws,
                                                      const Vec3& motion, const QueryFilter& filter = {});
[[nodiscard]] std::vector<model::BodyId> overlapping_bodies(const World& world,
                                                            const collision::PreparedShape& shape,
                                                            const Pose& X_ws, const QueryFilter& filter = {});

}  // namespace thrum::sim
