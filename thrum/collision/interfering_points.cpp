// SPDX-License-Identifier: MIT
#include "thrum/collision/interfering_points.h"

#include <algorithm>
#include <cmath>

#include "thrum/collision/element_contacts.h"
#include "thrum/collision/shape_distance.h"

namespace thrum::collision {

struct InterferingPointFinder::Memory {
  CornerCache corners;
  std::vector<ElementContact> found;
  std::vector<InterferingPoint> points;
};

namespace {

using model::ShapeKind;

bool is_mesh(const PreparedShape& shape)
{
  return shape.kind == ShapeKind::mesh || shape.kind == ShapeKind::height_field;
}

bool is_polyhedral(const PreparedShape& shape)
{
  return shape.kind == ShapeKind::box || shape.kind == ShapeKind::cylinder || shape.kind == ShapeKind::hull ||
         is_mesh(shape);
}

const SurfaceElements& elements_of(const PreparedShape& shape)
{
  if (is_mesh(shape)) return static_cast<const TriangleSurface&>(*shape.accelerator).elements;
  return static_cast<const ConvexElements&>(*shape.accelerator).elements;
}

/// Calls `work` with the distance to the shape.
template <class Work>
void with_distance(const PreparedShape& shape, Work&& work)
{
  switch (shape.kind) {
    case ShapeKind::plane:
      return work(PlaneDistance{});
    case ShapeKind::box:
      return work(BoxDistance(shape.as<model::Box>()));
    case ShapeKind::cylinder:
      return work(CylinderDistance(shape.as<model::Cylinder>()));
    case ShapeKind::hull:
      return work(HullDistance(shape.as<model::ConvexHull>()));
    default: {
      const auto& surface = static_cast<const TriangleSurface&>(*shape.accelerator);
      if (surface.field) return work(FieldDistance(surface));
      return work(SurfaceDistance(surface));
    }
  }
}

}  // namespace

bool has_interfering_points(const PreparedShape& a, const PreparedShape& b)
{
  const auto is_known = [](const PreparedShape& shape) {
    return is_polyhedral(shape) || shape.kind == ShapeKind::plane;
  };
  return is_known(a) && is_known(b) && (is_polyhedral(a) || is_polyhedral(b));
}

InterferingPointFinder::InterferingPointFinder() : memory_(std::make_unique<Memory>()) {}
InterferingPointFinder::~InterferingPointFinder() = default;
InterferingPointFinder::InterferingPointFinder(InterferingPointFinder&&) noexcept = default;
InterferingPointFinder& InterferingPointFinder::operator=(InterferingPointFinder&&) noexcept = default;

const std::vector<InterferingPoint>& InterferingPointFinder::find(const PreparedShape& a, const Pose& X_wa,
                                                                  const PreparedShape& b, const Pose& X_wb)
{
  memory_->points.clear();
  const double width = std::min(a.min_extent, b.min_extent);
  // Points of `of` inside `in`; `sign` turns the normal out of `in` into the one from a to b.
  const auto gather = [&](const PreparedShape& of, const Pose& X_of, const PreparedShape& in,
                          const Pose& X_in, double sign) {
    if (!is_polyhedral(of)) return;
    with_distance(in, [&](const auto& distance) {
      memory_->found.clear();
      const ElementSearchDesc desc{.margin = 0, .depth = 0.5 * width, .every_point = true};
      ElementSearch search(elements_of(of), X_in.inverse() * X_of, distance, desc, memory_->corners,
                           memory_->found);
      search.run();
      for (const ElementContact& e : memory_->found)
        memory_->points.push_back({X_in.point(e.point), sign * X_in.direction(e.normal), -e.distance});
    });
  };
  gather(a, X_wa, b, X_wb, -1);
  gather(b, X_wb, a, X_wa, 1);
  return memory_->points;
}

}  // namespace thrum::collision
