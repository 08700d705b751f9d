// SPDX-License-Identifier: MIT
#include "thrum/collision/deformed_shape.h"

#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/collision/triangle_surface.h"

namespace thrum::collision {

DeformedShape::DeformedShape(const mesh::TriangleMesh& rest, const PreparedShape& shape) : rest_(rest)
{
  shape_.geometry = model::Mesh{std::make_shared<mesh::TriangleMesh>(rest), nullptr};
  prepared_.shape = &shape_;
  prepared_.kind = model::ShapeKind::mesh;
  prepared_.min_extent = shape.min_extent;
  prepared_.safe_move = shape.safe_move;
  prepared_.width = shape.width;
  surface_ =
      std::make_shared<TriangleSurface>(rest, TriangleSurface::Deformable{.thickness = shape.min_extent});
  prepared_.accelerator = surface_;
  deform(rest.vertices);
}

DeformedShape::~DeformedShape() = default;

bool DeformedShape::is_closed() const
{
  return surface_->distance.normals().closed;
}

void DeformedShape::deform(std::span<const Vec3> vertices)
{
  surface_->refit(vertices);
  prepared_.bounds.setEmpty();
  prepared_.radius = 0;
  for (const Vec3& v : vertices) {
    prepared_.bounds.extend(v);
    prepared_.radius = std::max(prepared_.radius, v.norm());
  }
}

Vec3 DeformedShape::at_rest(const Vec3& position) const
{
  const mesh::ClosestPoint closest = surface_->bvh.closest_point(position);
  Vec3 sum = Vec3::Zero();
  for (int k = 0; k < 3; ++k) sum += closest.barycentric[k] * rest_.corner(at(closest.triangle), k);
  return sum;
}

}  // namespace thrum::collision
