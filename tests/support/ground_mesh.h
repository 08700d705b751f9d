// SPDX-License-Identifier: MIT
// An open mesh on which bodies fall.
#pragma once

#include <cmath>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::support {

/// A square of n x n cells with bumps, z = bump sin(kx x) cos(ky y), seen from above; open.
inline mesh::TriangleMesh bumpy_ground(int n, double half, double bump, double kx, double ky)
{
  mesh::TriangleMesh mesh;
  for (int j = 0; j <= n; ++j) {
    for (int i = 0; i <= n; ++i) {
      const double x = half * (2.0 * i / n - 1);
      const double y = half * (2.0 * j / n - 1);
      mesh.vertices.emplace_back(x, y, bump * std::sin(kx * x) * std::cos(ky * y));
    }
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Index v = j * (n + 1) + i;
      mesh.triangles.push_back({v, v + 1, v + n + 2});
      mesh.triangles.push_back({v, v + n + 2, v + n + 1});
    }
  }
  return mesh;
}

}  // namespace thrum::support
