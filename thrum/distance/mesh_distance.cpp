// SPDX-License-Identifier: MIT
#include "thrum/distance/mesh_distance.h"

#include <utility>

#include "thrum/base/error.h"

namespace thrum::distance {

namespace {

// Closer to the surface than this fraction of the mesh size the direction to the closest point is only
// rounding error.
constexpr double kOnSurface = 1e-9;

}  // namespace

MeshDistance::MeshDistance(mesh::TriangleMesh mesh, SignMethod sign)
    : bvh_(std::make_unique<mesh::Bvh>(std::move(mesh))), normals_(pseudonormals(bvh_->mesh()))
{
  if (sign == SignMethod::winding_number || (sign == SignMethod::automatic && !normals_.closed))
    winding_.emplace(*bvh_);
}

void MeshDistance::refit(std::span<const Vec3> vertices)
{
  if (winding_) throw Error("A distance with winding numbers cannot follow a surface that bends.");
  bvh_->refit(vertices);
  normals_ = pseudonormals(bvh_->mesh());
}

SignedPoint MeshDistance::signed_distance(const Vec3& p, Index hint, double max_distance) const
{
  return with_sign(p, bvh_->closest_point(p, max_distance, hint));
}

SignedPoint MeshDistance::signed_distance_to(const Vec3& p, Index closest_triangle) const
{
  return with_sign(p, bvh_->closest_point_on(p, closest_triangle));
}

SignedPoint MeshDistance::with_sign(const Vec3& p, const mesh::ClosestPoint& surface) const
{
  if (!surface.found()) return {surface.distance, surface};
  const bool inside = winding_ ? winding_->inside(p) : (p - surface.point).dot(normals_.at(surface)) < 0;
  return {inside ? -surface.distance : surface.distance, surface};
}

Vec3 MeshDistance::surface_normal(const Vec3& p, const SignedPoint& point) const
{
  const Vec3& pseudonormal = normals_.at(point.surface);
  if (point.surface.feature == mesh::Feature::face) return pseudonormal;
  if (point.surface.distance <= kOnSurface * bvh_->unit_length()) return pseudonormal;
  return (p - point.surface.point) / point.distance;
}

}  // namespace thrum::distance
