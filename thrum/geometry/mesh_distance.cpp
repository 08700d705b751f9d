// SPDX-License-Identifier: MIT
#include "thrum/geometry/mesh_distance.h"

#include <utility>

namespace thrum::geometry {

namespace {

// Closer to the surface than this part of the mesh size the direction to the closest point is only rounding.
constexpr double kOnSurface = 1e-9;

}  // namespace

MeshDistance::MeshDistance(TriangleMesh mesh, SignMethod sign)
    : bvh_(std::make_unique<Bvh>(std::move(mesh))), normals_(pseudonormals(bvh_->mesh()))
{
  if (sign == SignMethod::winding_number || (sign == SignMethod::automatic && !normals_.closed))
    winding_.emplace(*bvh_);
}

SignedPoint MeshDistance::signed_distance(const Vec3& p, Index hint, double max_distance) const
{
  SignedPoint result;
  result.surface = bvh_->closest_point(p, max_distance, hint);
  result.distance = result.surface.distance;
  if (!result.surface.found()) return result;
  const bool inside =
      winding_ ? winding_->inside(p) : (p - result.surface.point).dot(normals_.at(result.surface)) < 0;
  if (inside) result.distance = -result.distance;
  return result;
}

Vec3 MeshDistance::surface_normal(const Vec3& p, const SignedPoint& point) const
{
  const Vec3& pseudonormal = normals_.at(point.surface);
  if (point.surface.feature == Feature::face) return pseudonormal;
  if (point.surface.distance <= kOnSurface * bvh_->unit_length()) return pseudonormal;
  return (p - point.surface.point) / point.distance;
}

}  // namespace thrum::geometry
