// SPDX-License-Identifier: MIT
#include "thrum/collision/queries.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/collision/convex.h"
#include "thrum/collision/gjk.h"
#include "thrum/collision/triangle_surface.h"

namespace thrum::collision {

namespace {

constexpr int kMaxMarchSteps = 128;
/// A ray this near to a surface, as a share of the shape's radius, has met it.
constexpr double kHitTolerance = 1e-9;
constexpr double kAnyDistance = std::numeric_limits<double>::infinity();

const TriangleSurface& surface_of(const PreparedShape& shape)
{
  return static_cast<const TriangleSurface&>(*shape.accelerator);
}

// Distance from a point to a convex shape, both in shape axes; negative inside.
ConvexDistance distance_to(const ConvexView& shape, const Vec3& p)
{
  const ConvexView point;
  ConvexDistance d = convex_distance(shape, point, {p, Quat::Identity()}, kAnyDistance);
  d.distance -= shape.radius;
  d.on_a += shape.radius * d.normal;
  return d;
}

// Marches along the ray by the distance to the shape, which can never step over a convex one; each step also
// uses that the surface lies beyond the plane of the last nearest point.
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

std::optional<ShapeRayHit> cast_at_sphere(double radius, const ShapeRay& ray)
{
  // |o + t d|^2 = r^2 with a unit d, solved from the point of the ray nearest to the centre: that loses no
  // digits far away.
  const double nearest = -ray.origin.dot(ray.direction);
  const double outside = ray.origin.squaredNorm() - radius * radius;
  if (outside <= 0) return ShapeRayHit{0, ray.origin, -ray.direction};
  const double square = radius * radius - (ray.origin + nearest * ray.direction).squaredNorm();
  if (square < 0 || nearest < 0) return std::nullopt;
  const double t = std::max(0.0, nearest - std::sqrt(square));
  if (t > ray.length) return std::nullopt;
  const Vec3 p = ray.origin + t * ray.direction;
  return ShapeRayHit{t, p, p.normalized()};
}

std::optional<ShapeRayHit> cast_at_box(const Vec3& half, const ShapeRay& ray)
{
  double enters = 0;
  double leaves = ray.length;
  Vec3 normal = -ray.direction;
  for (Eigen::Index k = 0; k < 3; ++k) {
    const double d = ray.direction[k];
    if (d == 0) {
      if (std::abs(ray.origin[k]) > half[k]) return std::nullopt;
      continue;
    }
    const double side = d > 0 ? 1.0 : -1.0;
    const double in = (-side * half[k] - ray.origin[k]) / d;
    if (in > enters) {
      enters = in;
      normal = -side * Vec3::Unit(k);
    }
    leaves = std::min(leaves, (side * half[k] - ray.origin[k]) / d);
  }
  if (enters > leaves) return std::nullopt;
  return ShapeRayHit{enters, ray.origin + enters * ray.direction, normal};
}

std::optional<ShapeRayHit> cast_at_triangles(const PreparedShape& shape, const ShapeRay& ray)
{
  const auto& surface = surface_of(shape);
  if (is_inside(shape, ray.origin)) return ShapeRayHit{0, ray.origin, -ray.direction};
  const mesh::RayHit hit = surface.bvh.first_hit({ray.origin, ray.direction, ray.length});
  if (!hit.found()) return std::nullopt;
  Vec3 normal = surface.normals[at(hit.triangle)];
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
  } else if (shape.kind == model::ShapeKind::sphere) {
    hit = cast_at_sphere(shape.as<model::Sphere>().radius, local);
  } else if (shape.kind == model::ShapeKind::box) {
    hit = cast_at_box(shape.as<model::Box>().half, local);
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
  const mesh::ClosestPoint s = surface_of(shape).bvh.closest_point(local);
  return {X_ws.point(s.point), is_inside(shape, local) ? -s.distance : s.distance};
}

bool is_inside(const PreparedShape& shape, const Vec3& p)
{
  if (shape.kind != model::ShapeKind::mesh) return false;
  const TriangleSurface& surface = surface_of(shape);
  return surface.distance.normals().closed && surface.bvh.bounds().contains(p) &&
         surface.distance.signed_distance(p).distance < 0;
}

namespace {

bool convex_overlap(const ConvexView& a, const ConvexView& b, const Pose& X_ab)
{
  const double radii = a.radius + b.radius;
  const ConvexDistance d = convex_distance(a, b, X_ab, radii);
  return !d.beyond && d.distance <= radii;
}

// Any shape against the half-space z <= 0 of a plane.
bool overlaps_plane(const PreparedShape& shape, const Pose& X_ps)
{
  if (shape.kind == model::ShapeKind::plane) {
    // Two half-spaces only miss each other when their boundaries are parallel and look at each other.
    const Vec3 n = X_ps.direction(Vec3::UnitZ());
    return n.z() != -1 || X_ps.position.z() <= 0;
  }
  if (is_convex(shape.kind)) {
    const ConvexView view = convex_view(shape);
    const Vec3 lowest = support(view, X_ps.direction_to_local(-Vec3::UnitZ()));
    return X_ps.point(lowest).z() - view.radius <= 0;
  }
  const std::vector<Vec3>& vertices = surface_of(shape).bvh.mesh().vertices;
  return std::any_of(vertices.begin(), vertices.end(), [&](const Vec3& v) { return X_ps.point(v).z() <= 0; });
}

// A convex shape at `X_sc` in the axes of a surface.
bool overlaps_triangles(const PreparedShape& shape, const Pose& X_sc, const PreparedShape& other)
{
  const TriangleSurface& surface = surface_of(other);
  const Box3 box = world_bounds(shape, X_sc, 0);
  if (!box.intersects(surface.bvh.bounds())) return false;
  const ConvexView view = convex_view(shape);
  const Pose X_cs = X_sc.inverse();
  std::vector<Index> triangles;
  surface.bvh.triangles_in_box(box, triangles);
  const bool touches = std::any_of(triangles.begin(), triangles.end(), [&](Index t) {
    ConvexView triangle;
    triangle.core = ConvexView::Core::triangle;
    for (int k = 0; k < 3; ++k) {
      triangle.corners[at(k)] = surface.bvh.mesh().corner(at(t), k);
    }
    return convex_overlap(view, triangle, X_cs);
  });
  // Without touching the surface it is wholly inside or wholly outside.
  return touches || is_inside(other, box.center());
}

bool surfaces_overlap(const PreparedShape& a, const Pose& X_wa, const PreparedShape& b, const Pose& X_wb)
{
  const mesh::Bvh& bvh_a = surface_of(a).bvh;
  const mesh::Bvh& bvh_b = surface_of(b).bvh;
  std::vector<mesh::TrianglePair> pairs;
  mesh::Bvh::overlapping_pairs(bvh_a, X_wa, bvh_b, X_wb, 0, pairs);
  const auto corner = [](const mesh::Bvh& bvh, const Pose& X_ws) {
    return X_ws.point(bvh.mesh().corner(0, 0));
  };
  return !pairs.empty() || is_inside(a, X_wa.point_to_local(corner(bvh_b, X_wb))) ||
         is_inside(b, X_wb.point_to_local(corner(bvh_a, X_wa)));
}

}  // namespace

bool overlap(const PreparedShape& a, const Pose& X_wa, const PreparedShape& b, const Pose& X_wb)
{
  if (a.kind == model::ShapeKind::compound) {
    const auto& compound = a.as<model::Compound>();
    for (std::size_t i = 0; i < a.parts.size(); ++i) {
      if (overlap(a.parts[i], X_wa * compound.parts[i].X_sp, b, X_wb)) return true;
    }
    return false;
  }
  if (b.kind == model::ShapeKind::compound) return overlap(b, X_wb, a, X_wa);
  if (b.kind == model::ShapeKind::plane) return overlaps_plane(a, X_wb.inverse() * X_wa);
  if (a.kind == model::ShapeKind::plane) return overlaps_plane(b, X_wa.inverse() * X_wb);
  if (is_convex(a.kind) && is_convex(b.kind))
    return convex_overlap(convex_view(a), convex_view(b), X_wa.inverse() * X_wb);
  if (is_convex(a.kind)) return overlaps_triangles(a, X_wb.inverse() * X_wa, b);
  if (is_convex(b.kind)) return overlaps_triangles(b, X_wa.inverse() * X_wb, a);
  return surfaces_overlap(a, X_wa, b, X_wb);
}

}  // namespace thrum::collision
