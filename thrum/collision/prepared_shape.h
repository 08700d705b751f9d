// SPDX-License-Identifier: MIT
// A shape together with what contact tests need beside it, computed once when the shape enters a scene.
#pragma once

#include <memory>
#include <vector>

#include "thrum/model/shape.h"

namespace thrum::collision {

/// A closed mesh with more triangles gets no distance field of its own; its contacts are those of an open
/// surface.
inline constexpr std::size_t kMaxFieldTriangles = 50000;

/// Base of whatever a pair function wants to keep with a mesh (a hierarchy of triangles, edges, samples).
struct ShapeAccelerator {
  virtual ~ShapeAccelerator() = default;
};

struct PreparedShape {
  const model::Shape* shape = nullptr;  ///< kept by the scene
  model::ShapeKind kind = model::ShapeKind::sphere;
  Box3 bounds;              ///< in shape axes [m]; unbounded below for a plane
  double radius = 0.0;      ///< of the sphere about the shape's origin that holds it [m]
  double min_extent = 0.0;  ///< least edge of the bounds: how far it may move before it can pass through [m]
  double safe_move = 0.0;   ///< how far it may move before contacts are found again [m]
  /// Least thickness in any direction: how far it may move unseen before it can pass through something, or
  /// something through it. Infinite for what has no back side: planes, height fields, open meshes [m].
  double width = 0.0;
  bool unbounded = false;            ///< a plane
  bool curved = false;               ///< a sphere, capsule or cylinder, or has one as a part
  std::vector<PreparedShape> parts;  ///< of a compound, in its order
  std::shared_ptr<const ShapeAccelerator> accelerator;

  template <class T>
  [[nodiscard]] const T& as() const
  {
    return std::get<T>(shape->geometry);
  }
};

/// Throws Error when the shape is not usable: a size that is not positive, a mesh without triangles, a nested
/// compound. `shape` must outlive the result.
[[nodiscard]] PreparedShape prepare(const model::Shape& shape);

/// Bounds of the shape placed at `X_ws`, grown by `margin` on all sides [m].
[[nodiscard]] Box3 world_bounds(const PreparedShape& shape, const Pose& X_ws, double margin);

/// Its faces cut into triangles, corners kept.
[[nodiscard]] mesh::TriangleMesh triangulate(const model::ConvexPolyhedron& polyhedron);
/// The surface of a height field as triangles, two for each cell.
[[nodiscard]] mesh::TriangleMesh triangulate(const model::HeightField& field);

/// Joins coplanar triangles of a convex closed mesh into faces. Throws Error when the mesh is not convex.
[[nodiscard]] std::shared_ptr<const model::ConvexPolyhedron> make_polyhedron(
    const mesh::TriangleMesh& convex);

}  // namespace thrum::collision
