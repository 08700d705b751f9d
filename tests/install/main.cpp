// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>

#include "thrum/mesh/tetrahedral_mesh.h"

// Volume of one corner of the unit cube: a sixth.
int main()
{
  thrum::mesh::TetrahedralMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.tetrahedra = {{0, 1, 2, 3}};
  const double outside = thrum::mesh::signed_volume(thrum::mesh::boundary_surface(mesh).surface);
  std::printf("volume %.6f\n", outside);
  return std::abs(outside - 1.0 / 6.0) < 1e-12 ? 0 : 1;
}
