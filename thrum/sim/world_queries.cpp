// SPDX-License-Identifier: MIT
#include "thrum/sim/world_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/tolerances.h"

namespace thrum::sim {

namespace {

/// How far a given rotation may be from unit length.
constexpr double kUnitRotationTolerance = 1e-6;

/// A body as a query sees it.
struct Placed {
  const collision::PreparedShape& shape;
  Pose X_ws;
};

Placed placed(const World& world, model::BodyIndex index)
{
  const std::size_t i = at(index);
  const model::BodyProperties& desc = world.model().bodies[i];
  return {world.shapes()[at(desc.shape)], world.state().bodies[i].X_wb * desc.X_bs};
}

bool passes(const World& world, model::BodyIndex index, const QueryFilter& filter)
{
  const model::BodyProperties& desc = world.model().bodies[at(index)];
  if ((desc.collision_group & filter.collides_with) == 0) return false;
  if (desc.sensor && !filter.include_sensors) return false;
  const bool included = desc.motion == model::Motion::dynamic     ? filter.include_dynamic
                        : desc.motion == model::Motion::kinematic ? filter.include_kinematic
                                                                  : filter.include_fixed;
  if (!included) return false;
  const model::BodyId id = world.id_of(index);
  if (std::find(filter.excluded.begin(), filter.excluded.end(), id) != filter.excluded.end()) return false;
  return !filter.accepts || filter.accepts(id);
}

collision::ShapeRay checked(const collision::ShapeRay& ray)
{
  if (!ray.origin.allFinite()) throw Error("The origin of a ray is not a finite point.");
  if (!(ray.length >= 0) || !std::isfinite(ray.length)) {
    throw Error(fmt::format("The length of a ray is {} m; give a finite length of at least 0.", ray.length));
  }
  const double norm = ray.direction.stableNorm();
  if (!(norm > 0) || !std::isfinite(norm)) {
    throw Error(fmt::format("The direction of a ray is ({}, {}, {}); give a finite vector that is not zero.",
                            ray.direction.x(), ray.direction.y(), ray.direction.z()));
  }
  collision::ShapeRay result = ray;
  if (std::abs(norm - 1) > base::kRoundoff.value) result.direction = ray.direction.stableNormalized();
  return result;
}

void check_pose(const Pose& X_ws)
{
  if (!X_ws.position.allFinite() || !X_ws.rotation.coeffs().allFinite() ||
      std::abs(X_ws.rotation.squaredNorm() - 1) > kUnitRotationTolerance) {
    throw Error("The pose of a query shape must have a finite position and a unit quaternion.");
  }
}

void check_point(const Vec3& p, double max_distance)
{
  if (!p.allFinite()) throw Error("The point of a query is not finite.");
  if (!(max_distance >= 0)) {
    throw Error(
        fmt::format("The largest distance of a query is {} m; give one of at least 0.", max_distance));
  }
}

// Whether a hit at `value` on `index` comes before the best so far.
template <class Best>
bool is_better(double value, model::BodyIndex index, const Best& best, double best_value,
               model::BodyIndex best_index)
{
  return !best || value < best_value || (value == best_value && index < best_index);
}

// Calls visit(index, hit, reach) for the bodies that the ray meets within the reach, which visit returns.
template <class Visit>
void for_each_ray_hit(const World& world, const collision::ShapeRay& ray, const QueryFilter& filter,
                      Visit&& visit)
{
  const collision::ShapeRay whole = checked(ray);
  double length = whole.length;
  const Vec3 motion = whole.length * whole.direction;
  world.broad_phase().sweep(Box3(whole.origin, whole.origin), motion,
                            [&](model::BodyIndex index, double reach) {
                              if (!passes(world, index, filter)) return reach;
                              const Placed body = placed(world, index);
                              collision::ShapeRay rest = whole;
                              rest.length = length;
                              const auto hit = collision::cast_ray(body.shape, body.X_ws, rest);
                              if (!hit) return reach;
                              length = visit(index, *hit, length);
                              return whole.length > 0 ? std::min(reach, length / whole.length) : reach;
                            });
}

}  // namespace

std::optional<WorldRayHit> cast_ray(const World& world, const collision::ShapeRay& ray,
                                    const QueryFilter& filter)
{
  std::optional<WorldRayHit> best;
  model::BodyIndex best_index = model::kNone;
  for_each_ray_hit(world, ray, filter,
                   [&](model::BodyIndex index, const collision::ShapeRayHit& hit, double length) {
                     const double best_distance = best ? best->hit.distance : 0;
                     if (!is_better(hit.distance, index, best, best_distance, best_index)) return length;
                     best = WorldRayHit{world.id_of(index), hit};
                     best_index = index;
                     return hit.distance;
                   });
  return best;
}

std::vector<WorldRayHit> cast_ray_all(const World& world, const collision::ShapeRay& ray,
                                      const QueryFilter& filter)
{
  std::vector<std::pair<model::BodyIndex, collision::ShapeRayHit>> hits;
  for_each_ray_hit(world, ray, filter,
                   [&](model::BodyIndex index, const collision::ShapeRayHit& hit, double length) {
                     hits.emplace_back(index, hit);
                     return length;
                   });
  std::sort(hits.begin(), hits.end(), [](const auto& x, const auto& y) {
    return x.second.distance != y.second.distance ? x.second.distance < y.second.distance : x.first < y.first;
  });
  std::vector<WorldRayHit> result;
  for (const auto& [index, hit] : hits) result.push_back({world.id_of(index), hit});
  return result;
}

std::optional<WorldShapeHit> cast_shape(const World& world, const collision::PreparedShape& shape,
                                        const Pose& X_ws, const Vec3& motion, const QueryFilter& filter)
{
  collision::check_castable(shape);
  check_pose(X_ws);
  if (!motion.allFinite()) throw Error("The motion of a shape cast is not a finite vector.");
  std::optional<WorldShapeHit> best;
  model::BodyIndex best_index = model::kNone;
  const double margin = 2 * collision::shape_cast_tolerance(shape, shape);
  world.broad_phase().sweep(
      collision::world_bounds(shape, X_ws, margin), motion, [&](model::BodyIndex index, double reach) {
        if (!passes(world, index, filter)) return reach;
        const Placed body = placed(world, index);
        const auto hit = collision::cast_shape(shape, X_ws, motion, body.shape, body.X_ws, reach);
        const double best_fraction = best ? best->hit.fraction : 1;
        if (!hit || !is_better(hit->fraction, index, best, best_fraction, best_index)) return reach;
        best = WorldShapeHit{world.id_of(index), *hit};
        best_index = index;
        return hit->fraction;
      });
  return best;
}

std::vector<model::BodyId> overlapping_bodies(const World& world, const collision::PreparedShape& shape,
                                              const Pose& X_ws, const QueryFilter& filter)
{
  check_pose(X_ws);
  std::vector<model::BodyIndex> candidates;
  world.broad_phase().overlapping(collision::world_bounds(shape, X_ws, 0), candidates);
  std::vector<model::BodyId> found;
  for (const model::BodyIndex index : candidates) {
    if (!passes(world, index, filter)) continue;
    const Placed body = placed(world, index);
    if (collision::overlap(shape, X_ws, body.shape, body.X_ws)) found.push_back(world.id_of(index));
  }
  return found;
}

std::optional<ClosestBodyHit> closest_body(const World& world, const Vec3& p, double max_distance,
                                           const QueryFilter& filter)
{
  check_point(p, max_distance);
  std::optional<ClosestBodyHit> best;
  model::BodyIndex best_index = model::kNone;
  world.broad_phase().search_near(p, max_distance, [&](model::BodyIndex index, double reach) {
    if (!passes(world, index, filter)) return reach;
    const Placed body = placed(world, index);
    const collision::ShapePoint point = collision::closest_point(body.shape, body.X_ws, p);
    const double best_distance = best ? best->point.distance : 0;
    if (point.distance > max_distance || !is_better(point.distance, index, best, best_distance, best_index))
      return reach;
    best = ClosestBodyHit{world.id_of(index), point};
    best_index = index;
    // Boxes around p are all 0 away, however deep p is in their bodies.
    return std::max(0.0, point.distance);
  });
  return best;
}

std::vector<ClosestBodyHit> bodies_within(const World& world, const Vec3& p, double max_distance,
                                          const QueryFilter& filter)
{
  check_point(p, max_distance);
  const Vec3 reach = Vec3::Constant(max_distance);
  std::vector<model::BodyIndex> candidates;
  world.broad_phase().overlapping({p - reach, p + reach}, candidates);
  std::vector<ClosestBodyHit> found;
  for (const model::BodyIndex index : candidates) {
    if (!passes(world, index, filter)) continue;
    const Placed body = placed(world, index);
    const collision::ShapePoint point = collision::closest_point(body.shape, body.X_ws, p);
    if (point.distance <= max_distance) found.push_back({world.id_of(index), point});
  }
  // Candidates come in ascending order of index, which a stable sort keeps.
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& x, const auto& y) { return x.point.distance < y.point.distance; });
  return found;
}

std::optional<WorldShapeHit> cast_shape(const World& world, const model::Shape& shape, const Pose& X_ws,
                                        const Vec3& motion, const QueryFilter& filter)
{
  return cast_shape(world, collision::prepare(shape), X_ws, motion, filter);
}

std::vector<model::BodyId> overlapping_bodies(const World& world, const model::Shape& shape, const Pose& X_ws,
                                              const QueryFilter& filter)
{
  return overlapping_bodies(world, collision::prepare(shape), X_ws, filter);
}

}  // namespace thrum::sim
