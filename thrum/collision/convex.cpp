// SPDX-License-Identifier: MIT
#include "thrum/collision/convex.h"

#include <cmath>
#include <numbers>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::collision {

namespace {

/// A cap of a cylinder counts as a polygon of so many corners: its edge then lies within 2 % of the circle.
constexpr int kCapCorners = 16;
/// Directions steeper than this against the axis meet the cap of a cylinder, flatter ones its side.
constexpr double kCapDirection = 0.7;

void add_corner(SupportFace& face, const Vec3& corner, std::uint32_t feature)
{
  face.corners[at(face.count)] = corner;
  face.features[at(face.count)] = feature;
  ++face.count;
}

void box_face(const Vec3& half, const Vec3& direction, SupportFace& face)
{
  // Compared relative to one another, so that a box presents its face to within rounding of 45 degrees.
  Eigen::Index axis = 0;
  direction.cwiseAbs().maxCoeff(&axis);
  const double side = direction[axis] >= 0 ? 1.0 : -1.0;
  const Eigen::Index u = (axis + 1) % 3;
  const Eigen::Index v = (axis + 2) % 3;
  static constexpr std::array<std::array<double, 2>, 4> round{{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}};
  face.face = static_cast<std::uint32_t>(2 * axis + (side > 0 ? 1 : 0));
  for (std::size_t k = 0; k < 4; ++k) {
    const std::array<double, 2>& sign = side > 0 ? round[k] : round[3 - k];
    Vec3 corner;
    corner[axis] = side * half[axis];
    corner[u] = sign[0] * half[u];
    corner[v] = sign[1] * half[v];
    const std::uint32_t feature =
        (corner.x() > 0 ? 1U : 0U) | (corner.y() > 0 ? 2U : 0U) | (corner.z() > 0 ? 4U : 0U);
    add_corner(face, corner, feature);
  }
}

void cylinder_face(const Vec3& half, const Vec3& direction, SupportFace& face)
{
  const double across = std::hypot(direction.x(), direction.y());
  const double length = std::hypot(across, direction.z());
  if (std::abs(direction.z()) > kCapDirection * length) {
    const double side = direction.z() > 0 ? 1.0 : -1.0;
    face.face = direction.z() > 0 ? 1 : 0;
    for (int k = 0; k < kCapCorners; ++k) {
      const double angle = side * 2 * std::numbers::pi * k / kCapCorners;
      add_corner(face, {half.x() * std::cos(angle), half.x() * std::sin(angle), side * half.z()},
                 static_cast<std::uint32_t>(2 * k) + face.face);
    }
    return;
  }
  face.face = 2;
  const double s = across > 0 ? half.x() / across : 0;
  add_corner(face, {s * direction.x(), s * direction.y(), -half.z()}, 1000);
  add_corner(face, {s * direction.x(), s * direction.y(), half.z()}, 1001);
}

void hull_face(const model::ConvexPolyhedron& p, const Vec3& direction, SupportFace& face)
{
  std::size_t best = 0;
  for (std::size_t f = 1; f < p.face_count(); ++f) {
    if (p.face_normals[f].dot(direction) > p.face_normals[best].dot(direction)) best = f;
  }
  face.face = static_cast<std::uint32_t>(best);
  const std::int32_t begin = p.face_begin[best];
  const std::int32_t end = p.face_begin[best + 1];
  // A face with very many corners is thinned evenly.
  const std::int32_t stride = (end - begin + SupportFace::kMaxCorners - 1) / SupportFace::kMaxCorners;
  for (std::int32_t k = begin; k < end; k += stride) {
    const std::int32_t corner = p.face_corners[at(k)];
    add_corner(face, p.vertices[at(corner)], static_cast<std::uint32_t>(corner));
  }
}

}  // namespace

bool is_convex(model::ShapeKind kind)
{
  return kind <= model::ShapeKind::hull;
}

ConvexView convex_view(const PreparedShape& shape)
{
  ConvexView view;
  switch (shape.kind) {
    case model::ShapeKind::sphere:
      view.core = ConvexView::Core::point;
      view.radius = shape.as<model::Sphere>().radius;
      return view;
    case model::ShapeKind::capsule:
      view.core = ConvexView::Core::segment;
      view.radius = shape.as<model::Capsule>().radius;
      view.half.z() = shape.as<model::Capsule>().half_length;
      return view;
    case model::ShapeKind::box:
      view.core = ConvexView::Core::box;
      view.half = shape.as<model::Box>().half;
      return view;
    case model::ShapeKind::cylinder: {
      const auto& cylinder = shape.as<model::Cylinder>();
      view.core = ConvexView::Core::cylinder;
      view.half = {cylinder.radius, cylinder.radius, cylinder.half_length};
      return view;
    }
    case model::ShapeKind::hull:
      view.core = ConvexView::Core::hull;
      view.polyhedron = shape.as<model::ConvexHull>().polyhedron.get();
      return view;
    default:
      throw Error("This shape is not convex.");
  }
}

Vec3 support(const ConvexView& shape, const Vec3& d)
{
  switch (shape.core) {
    case ConvexView::Core::point:
      return Vec3::Zero();
    case ConvexView::Core::segment:
      return {0, 0, d.z() >= 0 ? shape.half.z() : -shape.half.z()};
    case ConvexView::Core::box:
      return {d.x() >= 0 ? shape.half.x() : -shape.half.x(), d.y() >= 0 ? shape.half.y() : -shape.half.y(),
              d.z() >= 0 ? shape.half.z() : -shape.half.z()};
    case ConvexView::Core::cylinder: {
      const double across = std::sqrt(d.x() * d.x() + d.y() * d.y());
      const double s = across > 0 ? shape.half.x() / across : 0;
      return {s * d.x(), s * d.y(), d.z() >= 0 ? shape.half.z() : -shape.half.z()};
    }
    case ConvexView::Core::hull: {
      const std::vector<Vec3>& vertices = shape.polyhedron->vertices;
      std::size_t best = 0;
      double max_dot = vertices[0].dot(d);
      for (std::size_t i = 1; i < vertices.size(); ++i) {
        const double along = vertices[i].dot(d);
        if (along > max_dot) {
          max_dot = along;
          best = i;
        }
      }
      return vertices[best];
    }
    case ConvexView::Core::triangle: {
      const double a = shape.corners[0].dot(d);
      const double b = shape.corners[1].dot(d);
      const double c = shape.corners[2].dot(d);
      if (a >= b && a >= c) return shape.corners[0];
      return b >= c ? shape.corners[1] : shape.corners[2];
    }
  }
  return Vec3::Zero();
}

void support_face(const ConvexView& shape, const Vec3& direction, SupportFace& face)
{
  face.count = 0;
  face.face = 0;
  switch (shape.core) {
    case ConvexView::Core::point:
      add_corner(face, Vec3::Zero(), 0);
      return;
    case ConvexView::Core::segment:
      add_corner(face, {0, 0, -shape.half.z()}, 0);
      add_corner(face, {0, 0, shape.half.z()}, 1);
      return;
    case ConvexView::Core::box:
      return box_face(shape.half, direction, face);
    case ConvexView::Core::cylinder:
      return cylinder_face(shape.half, direction, face);
    case ConvexView::Core::hull:
      return hull_face(*shape.polyhedron, direction, face);
    case ConvexView::Core::triangle: {
      const Vec3 normal = (shape.corners[1] - shape.corners[0]).cross(shape.corners[2] - shape.corners[0]);
      const bool front = normal.dot(direction) >= 0;
      face.face = front ? 1 : 0;
      add_corner(face, shape.corners[0], 0);
      add_corner(face, shape.corners[front ? 1 : 2], front ? 1 : 2);
      add_corner(face, shape.corners[front ? 2 : 1], front ? 2 : 1);
      return;
    }
  }
}

}  // namespace thrum::collision
