// SPDX-License-Identifier: MIT
#include "thrum/mesh/tetrahedral_mesh.h"

#include <gtest/gtest.h>

#include <cmath>

namespace thrum::mesh {
namespace {

TetrahedralMesh two_tetrahedra()
{
  TetrahedralMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  mesh.tetrahedra = {{0, 1, 2, 3}, {1, 2, 3, 4}};
  return mesh;
}

TEST(TetrahedralMesh, BoundaryIsClosedFacesOutwardsAndEnclosesTheVolume)
{
  const TetrahedralMesh mesh = two_tetrahedra();
  ASSERT_GT(six_times_volume(mesh, 0), 0);
  ASSERT_GT(six_times_volume(mesh, 1), 0);
  const BoundarySurface boundary = boundary_surface(mesh);
  EXPECT_EQ(boundary.surface.triangles.size(), 6u);
  EXPECT_EQ(boundary.nodes.size(), 5u);
  EXPECT_NEAR(signed_volume(boundary.surface), volume(mesh), 1e-15);
}

TEST(TetrahedralMesh, RegularTetrahedronHasEqualDihedralAngles)
{
  TetrahedralMesh mesh;
  mesh.vertices = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  mesh.tetrahedra = {{0, 1, 2, 3}};
  for (const double angle : dihedral_angles(mesh, 0)) EXPECT_NEAR(angle, std::acos(1.0 / 3.0), 1e-14);
}

}  // namespace
}  // namespace thrum::mesh
