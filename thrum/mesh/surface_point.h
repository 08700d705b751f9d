// SPDX-License-Identifier: MIT
// A point on a triangle mesh.
#pragma once

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

struct SurfacePoint {
  Index triangle = 0;
  Vec3 barycentric = Vec3(1, 0, 0);  ///< weights of the triangle's corners, each >= 0, sum 1
};

[[nodiscard]] inline Vec3 position(const TriangleMesh& mesh, const SurfacePoint& point)
{
  const std::size_t t = at(point.triangle);
  return point.barycentric[0] * mesh.corner(t, 0) + point.barycentric[1] * mesh.corner(t, 1) +
         point.barycentric[2] * mesh.corner(t, 2);
}

}  // namespace thrum::mesh
