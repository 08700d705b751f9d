// SPDX-License-Identifier: MIT
// Normals at faces, edges and vertices that determine on which side of the surface a point lies.
//
// The sign of (p - c) . n, with c the closest point of a closed mesh to p and n the pseudonormal at c, is
// positive exactly when p is outside [Baerentzen and Aanaes 2005, Signed distance computation using the angle
// weighted pseudonormal]: n is the face normal, the sum of the two face normals at an edge, and the sum over
// the faces at a vertex weighted by their angles there.
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::distance {

struct Pseudonormals {
  std::vector<Vec3> face;    ///< unit; zero for a triangle without area
  std::vector<Vec3> edge;    ///< unit, at 3 * triangle + k for the edge from corner k to k+1
  std::vector<Vec3> vertex;  ///< unit; zero for a vertex of no triangle
  bool closed =
      false;  ///< every edge belongs to exactly two triangles that run along it in opposite directions

  /// The normal at the feature of a closest point found by a hierarchy of the same mesh.
  [[nodiscard]] const Vec3& at(const mesh::ClosestPoint& point) const
  {
    const auto id = static_cast<std::size_t>(point.feature_id);
    return point.feature == mesh::Feature::face
               ? face[id]
               : (point.feature == mesh::Feature::edge ? edge[id] : vertex[id]);
  }
};

[[nodiscard]] Pseudonormals pseudonormals(const mesh::TriangleMesh& mesh);

}  // namespace thrum::distance
