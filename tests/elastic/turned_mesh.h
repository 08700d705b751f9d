// SPDX-License-Identifier: MIT
// Meshes in random positions: modes must not depend on them.
#pragma once

#include "thrum/base/random.h"
#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::elastic::testing {

inline mesh::TriangleMesh turned(mesh::TriangleMesh mesh, base::Random& random)
{
  Vec4 q;
  for (int k = 0; k < 4; ++k) q[k] = random.normal();
  const Mat3 rotation = Eigen::Quaterniond(q.normalized()).toRotationMatrix();
  for (Vec3& v : mesh.vertices) v = rotation * v;
  return mesh;
}

inline mesh::TriangleMesh turned_and_shifted(mesh::TriangleMesh mesh, base::Random& random)
{
  mesh = turned(std::move(mesh), random);
  const Vec3 shift(random.normal(), random.normal(), random.normal());
  for (Vec3& v : mesh.vertices) v += shift;
  return mesh;
}

}  // namespace thrum::elastic::testing
