// SPDX-License-Identifier: MIT
// Convex shapes as contact tests see them: a core and a radius around it. A sphere is a point with a radius,
// a capsule a segment with a radius; all others have radius 0. Everything is in the shape's own axes.
#pragma once

#include <array>
#include <cstdint>

#include "thrum/collision/prepared_shape.h"

namespace thrum::collision {

/// A view of a convex shape or of one triangle. Cheap to copy; what it points to must outlive it.
struct ConvexView {
  enum class Core : std::uint8_t { point, segment, box, cylinder, hull, triangle };
  Core core = Core::point;
  double radius = 0.0;       ///< around the core [m]
  Vec3 half = Vec3::Zero();  ///< box; segment: (0, 0, half length); cylinder: (r, r, half height)
  const model::ConvexPolyhedron* polyhedron = nullptr;                    ///< hull
  std::array<Vec3, 3> corners{Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};  ///< triangle
};

/// Throws Error for kinds that are not convex.
[[nodiscard]] ConvexView convex_view(const PreparedShape& shape);
[[nodiscard]] bool is_convex(model::ShapeKind kind);

/// A point of the core farthest along `direction` (any length).
[[nodiscard]] Vec3 support(const ConvexView& shape, const Vec3& direction);

/// A face, edge or point of the core as a polygon, with a stable number for each corner.
struct SupportFace {
  static constexpr int kMaxCorners = 32;
  int count = 0;
  std::uint32_t face = 0;  ///< number of the face
  std::array<Vec3, kMaxCorners> corners;
  std::array<std::uint32_t, kMaxCorners> features;  ///< number of each corner
};

/// The face of the core that looks most along `direction`; corners counter-clockwise from outside.
void support_face(const ConvexView& shape, const Vec3& direction, SupportFace& face);

}  // namespace thrum::collision
