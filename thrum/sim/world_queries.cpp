// SPDX-License-Identifier: MIT
#include "thrum/sim/world_queries.h"

#include <algorithm>
#include <cmath>

namespace thrum::sim {

namespace {

// Calls visit(id, shape, X_ws) for each body whose bounding sphere comes within `reach` of the segment from `from` to `to`.
template <class Visit>
void for_each_near(const World& world, const Vec3& from, const Vec3& to, double reach, Visit&& visit)
{
  const Vec3 along = to - from;
  const double length = along.squaredNorm();
  for (std::size_t i = 0; i < world.model().bodies.size(); ++i) {
    if (!world.exists(static_cast<model::BodyIndex>(i))) continue;
    const model::BodyId id = world.id_of(static_cast<model::BodyIndex>(i));
    const collision::PreparedShape& shape =
        world.shapes()[static_cast<std::size_t>(world.model().bodies[i].shape)];
    const Pose X_ws = world.shape_pose(id);
    if (!shape.unbounded) {
      const Vec3 d = X_ws.position - from;
      const double t = length > 0 ? std::clamp(d.dot(along) / length, 0.0, 1.0) : 0.0;
      if ((d - t * along).norm() > reach + shape.radius) continue;
    }
    visit(id, shape, X_ws);
  }
}

}  // namespace

std::optional<WorldRayHit> cast_ray(const World& world, const collision::ShapeRay& ray)
{
  std::optional<WorldRayHit> best;
  collision::ShapeRay rest = ray;
  for_each_near(world, ray.origin, ray.origin + ray.length * ray.direction, 0,
                [&](model::BodyId id, const collision::PreparedShape& shape, const Pose& X_ws) {
                  const auto hit = collision::cast_ray(shape, X_ws, rest);
                  if (!hit || (best && hit->distance >= best->hit.distance)) return;
                  best = WorldRayHit{id, *hit};
                  rest.length = hit->distance;
                });
  return best;
}

std::optional<ClosestBodyHit> closest_body(const World& world, const Vec3& p, double max_distance)
{
  std::optional<ClosestBodyHit> best;
  for_each_near(world, p, p, max_distance,
                [&](model::BodyId id, const collision::PreparedShape& shape, const Pose& X_ws) {
                  const collision::ShapePoint point = collision::closest_point(shape, X_ws, p);
                  if (point.distance > max_distance || (best && point.distance >= best->point.distance))
                    return;
                  best = ClosestBodyHit{id, point};
                });
  return best;
}

std::vector<model::BodyId> overlapping_bodies(const World& world, const model::Shape& shape, const Pose& X_ws)
{
  const collision::PreparedShape prepared = collision::prepare(shape);
  std::vector<model::BodyId> found;
  for_each_near(world, X_ws.position, X_ws.position, prepared.radius,
                [&](model::BodyId id, const collision::PreparedShape& other, const Pose& X_other) {
                  if (collision::overlap(prepared, X_ws, other, X_other)) found.push_back(id);
                });
  return found;
}

}  // namespace thrum::sim
