// SPDX-License-Identifier: MIT
// What contact with a triangle mesh or a height field needs: a hierarchy, and which edges stick out.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "thrum/collision/prepared_shape.h"
#include "thrum/geometry/bvh.h"
#include "thrum/geometry/triangle_mesh.h"

namespace thrum::collision {

struct TriangleSurface final : ShapeAccelerator {
  explicit TriangleSurface(const geometry::TriangleMesh& mesh);

  geometry::Bvh bvh;
  std::vector<Vec3> normals;  ///< unit, by triangle
  /// Whether edge k (from corner k to k + 1) of each triangle sticks out. A body that slides over an edge that does
  /// not must be pushed along the face's normal, or it would trip over a seam that is not there.
  std::vector<std::array<bool, 3>> edge_is_sharp;
};

/// The surface of a height field as triangles, two for each cell.
[[nodiscard]] geometry::TriangleMesh triangulate(const model::HeightField& field);

}  // namespace thrum::collision
