// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>

#include "thrum/geometry/tetrahedral_mesh.h"

// Volume of one corner of the unit cube: a sixth.
int main()
{
  thrum::geometry::TetrahedralMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.tetrahedra = {{0, 1, 2, 3}};
  const double outside = thrum::geometry::signed_volume(thrum::geometry::boundary_surface(mesh).surface);
  std::printf("volume %.6f\n", outside);
  return std::abs(outside - 1.0 / 6.0) < 1e-12 ? 0 : 1;
}
