// SPDX-License-Identifier: MIT
#include "thrum/collision/queries.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/collision/convex.h"
#include "thrum/collision/gjk.h"
#include "thrum/collision/triangle_surface.h"

namespace thrum::collision {

namespace {

constexpr int kMaxMarchSteps = 128;
/// A ray this near to a surface, as a share of the shape's radius, has met it.
constexpr double kHitTolerance = 1e-9;
constexpr double kAnyDistance = std::numeric_limits<double>::infinity();

// Distance from a point to a convex shape, both in shape axes; negative inside.
ConvexDistance distance_to(const ConvexView& shape, const Vec3& p)
{
  const ConvexView point;
  ConvexDistance d = convex_distance(shape, point, {p, Quat::Identity()}, kAnyDistance);
  d.distance -= shape.radius;
  d.on_a += shape.radius * d.normal;
  return d;
}

// Marches along the ray by the distance to the shape, which can never step over a convex one; each step also uses that the
// surface lies beyond the plane of the last nearest point.
std::optional<ShapeRayHit> cast_at_convex(const PreparedShape& shape, const ShapeRay& ray)
{
  const ConvexView view = convex_view(shape);
  double t = 0;
  Vec3 normal = -ray.direction;
  for (int step = 0; step < kMaxMarchSteps; ++step) {
    const Vec3 p = ray.origin + t * ray.direction;
    const ConvexDistance d = distance_to(view, p);
    if (d.distance <= kHitTolerance * shape.radius) return ShapeRayHit{t, p, normal};
    normal = d.normal;
    const double closing = -d.normal.dot(ray.direction);
    if (closing <= 0) return std::nullopt;
    t += d.distance / closing;
    if (t > ray.length) return std::nullopt;
  }
  return ShapeRayHit{t, ray.origin + t * ray.direction, normal};
}

std::optional<ShapeRayHit> cast_at_triangles(const PreparedShape& shape, const ShapeRay& ray)
{
  const auto& surface = static_cast<const TriangleSurface&>(*shape.accelerator);
  const mesh::RayHit hit = surface.bvh.first_hit({ray.origin, ray.direction, ray.length});
  if (!hit.found()) return std::nullopt;
  Vec3 normal = surface.normals[static_cast<std::size_t>(hit.triangle)];
  if (normal.dot(ray.direction) > 0) normal = -normal;
  return ShapeRayHit{hit.t, ray.origin + hit.t * ray.direction, normal};
}

std::optional<ShapeRayHit> cast_at_plane(const ShapeRay& ray)
{
  if (ray.origin.z() <= 0) return ShapeRayHit{0, ray.origin, Vec3::UnitZ()};
  if (ray.direction.z() >= 0) return std::nullopt;
  const double t = -ray.origin.z() / ray.direction.z();
  if (t > ray.length) return std::nullopt;
  return ShapeRayHit{t, ray.origin + t * ray.direction, Vec3::UnitZ()};
}

}  // namespace

std::optional<ShapeRayHit> cast_ray(const PreparedShape& shape, const Pose& X_ws, const ShapeRay& ray)
{
  std::optional<ShapeRayHit> hit;
  if (shape.kind == model::ShapeKind::compound) {
    const auto& compound = shape.as<model::Compound>();
    for (std::size_t i = 0; i < shape.parts.size(); ++i) {
      const auto part = cast_ray(shape.parts[i], X_ws * compound.parts[i].X_sp, ray);
      if (part && (!hit || part->distance < hit->distance)) hit = part;
    }
    return hit;
  }
  const ShapeRay local{X_ws.point_to_local(ray.origin), X_ws.direction_to_local(ray.direction), ray.length};
  if (shape.kind == model::ShapeKind::plane) {
    hit = cast_at_plane(local);
  } else if (is_convex(shape.kind)) {
    hit = cast_at_convex(shape, local);
  } else {
    hit = cast_at_triangles(shape, local);
  }
  if (hit) {
    hit->position = X_ws.point(hit->position);
    hit->normal = X_ws.direction(hit->normal);
  }
  return hit;
}

ShapePoint closest_point(const PreparedShape& shape, const Pose& X_ws, const Vec3& p)
{
  if (shape.kind == model::ShapeKind::compound) {
    const auto& compound = shape.as<model::Compound>();
    ShapePoint best{p, kAnyDistance};
    for (std::size_t i = 0; i < shape.parts.size(); ++i) {
      const ShapePoint part = closest_point(shape.parts[i], X_ws * compound.parts[i].X_sp, p);
      if (part.distance < best.distance) best = part;
    }
    return best;
  }
  const Vec3 local = X_ws.point_to_local(p);
  if (shape.kind == model::ShapeKind::plane) return {X_ws.point({local.x(), local.y(), 0}), local.z()};
  if (is_convex(shape.kind)) {
    const ConvexDistance d = distance_to(convex_view(shape), local);
    return {X_ws.point(d.on_a), d.distance};
  }
  const mesh::ClosestPoint s =
      static_cast<const TriangleSurface&>(*shape.accelerator).bvh.closest_point(local);
  return {X_ws.point(s.point), s.distance};
}

bool overlap(const PreparedShape& a, const Pose& X_wa, const PreparedShape& b, const Pose& X_wb)
{
  PairInput pair;
  pair.a = &a;
  pair.b = &b;
  pair.X_wa = X_wa;
  pair.X_wb = X_wb;
  pair.table = &default_pair_table();
  std::vector<model::ContactPatch> patches;
  default_pair_table().collide(pair, patches);
  return std::any_of(patches.begin(), patches.end(), [](const model::ContactPatch& patch) {
    const auto points = patch.active();
    return std::any_of(points.begin(), points.end(), [](const auto& point) { return point.depth > 0; });
  });
}

}  // namespace thrum::collision
