// SPDX-License-Identifier: MIT
#include "thrum/collision/shape_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"

namespace thrum::collision {

// Along each of the directions in which a box and a segment can be apart: the three axes of the box, and
// across both one of them and the segment.
double segment_box_distance(const Box3& box, const Vec3& p, const Vec3& q, double enough)
{
  const Vec3 half = 0.5 * box.sizes();
  const Vec3 d = 0.5 * (q - p);
  const Vec3 c = 0.5 * (p + q) - box.center();
  const Vec3 reach = d.cwiseAbs();
  const double along_axes = (c.cwiseAbs() - half - reach).maxCoeff();
  if (along_axes > enough) return along_axes;
  double farthest = std::max(0.0, along_axes);
  const auto across = [&](Eigen::Index i, Eigen::Index j) {
    const double gap = std::abs(d[i] * c[j] - d[j] * c[i]) - (half[i] * reach[j] + half[j] * reach[i]);
    const double square = d[i] * d[i] + d[j] * d[j];
    if (gap > 0 && gap * gap > farthest * farthest * square) farthest = gap / std::sqrt(square);
  };
  across(0, 1);
  across(1, 2);
  across(2, 0);
  return farthest;
}

DistanceProbe FieldDistance::exact(const Vec3& p, double) const
{
  const distance::SurfaceNormal s = distance::closest_surface_normal(field_, surface_.distance, p);
  return {s.distance, s.normal};
}

DistanceProbe SurfaceDistance::exact(const Vec3& p, double reach) const
{
  const distance::SignedPoint s = surface_.distance.signed_distance(p, -1, reach);
  if (!s.surface.found()) return {std::numeric_limits<double>::max(), Vec3::Zero()};
  return {s.distance, surface_.distance.surface_normal(p, s)};
}

DistanceProbe DeformedDistance::exact(const Vec3& p, double) const
{
  const distance::SignedPoint s = surface_.distance.signed_distance(p);
  return {s.distance, surface_.distance.surface_normal(p, s)};
}

DistanceProbe BoxDistance::probe(const Vec3& p, double) const
{
  const Vec3 beyond = p.cwiseAbs() - half;
  Eigen::Index axis = 0;
  const double max_distance = beyond.maxCoeff(&axis);
  const auto side = [&](Eigen::Index k) {
    return p[k] < 0 ? -1.0 : 1.0;
  };
  if (max_distance <= 0) return {max_distance, side(axis) * Vec3(Vec3::Unit(axis))};
  Vec3 outside = beyond.cwiseMax(0.0);
  const double distance = outside.norm();
  for (Eigen::Index k = 0; k < 3; ++k) outside[k] *= side(k) / distance;
  return {distance, outside};
}

DistanceProbe CylinderDistance::probe(const Vec3& p, double) const
{
  const double rho = std::hypot(p.x(), p.y());
  const Vec3 outward = rho > 0 ? Vec3(p.x() / rho, p.y() / rho, 0) : Vec3(Vec3::UnitX());
  const Vec3 up = p.z() < 0 ? Vec3(-Vec3::UnitZ()) : Vec3(Vec3::UnitZ());
  const double round = rho - radius;
  const double flat = std::abs(p.z()) - half_length;
  if (round > 0 && flat > 0) {
    const double distance = std::hypot(round, flat);
    return {distance, (round * outward + flat * up) / distance};
  }
  return round > flat ? DistanceProbe{round, outward} : DistanceProbe{flat, up};
}

DistanceProbe HullDistance::probe(const Vec3& p, double) const
{
  // Inside, the nearest face; outside, the nearest point of those faces that look at p.
  const model::ConvexPolyhedron& h = polyhedron;
  double max_distance = -std::numeric_limits<double>::infinity();
  std::size_t top = 0;
  double min_square = std::numeric_limits<double>::infinity();
  Vec3 nearest = Vec3::Zero();
  for (std::size_t f = 0; f < h.face_count(); ++f) {
    const double height = h.face_normals[f].dot(p) - h.face_offsets[f];
    if (height > max_distance) {
      max_distance = height;
      top = f;
    }
    if (height <= 0) continue;
    bool over_face = true;
    const std::int32_t begin = h.face_begin[f];
    const std::int32_t end = h.face_begin[f + 1];
    for (std::int32_t k = begin; k < end; ++k) {
      const Vec3& u = h.vertices[at(h.face_corners[at(k)])];
      const std::int32_t next = k + 1 < end ? k + 1 : begin;
      const Vec3& v = h.vertices[at(h.face_corners[at(next)])];
      const Vec3 along = v - u;
      if (along.cross(h.face_normals[f]).dot(p - u) <= 0) continue;
      over_face = false;
      const double t = std::clamp(along.dot(p - u) / along.squaredNorm(), 0.0, 1.0);
      const Vec3 q = u + t * along;
      if ((p - q).squaredNorm() < min_square) {
        min_square = (p - q).squaredNorm();
        nearest = q;
      }
    }
    if (over_face) return {height, h.face_normals[f]};
  }
  if (max_distance <= 0) return {max_distance, h.face_normals[top]};
  const double distance = std::sqrt(min_square);
  return {distance, (p - nearest) / distance};
}

}  // namespace thrum::collision
