// SPDX-License-Identifier: MIT
#include "thrum/tets/tet_quality.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/support/tet_checks.h"
#include "thrum/tets/structured_tets.h"

namespace thrum::tets {
namespace {

TEST(TetQuality, RegularTetrahedronIsPerfect)
{
  mesh::TetrahedralMesh mesh;
  mesh.vertices = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  mesh.tetrahedra = {{0, 2, 1, 3}};
  EXPECT_NEAR(radius_ratio(mesh, 0), 1, 1e-14);
  const TetQuality q = measure_quality(mesh);
  EXPECT_NEAR(q.min_dihedral, std::acos(1.0 / 3), 1e-14);
  EXPECT_NEAR(q.max_dihedral, std::acos(1.0 / 3), 1e-14);
  EXPECT_NEAR(q.shortest_edge, std::sqrt(8.0), 1e-14);
  EXPECT_NEAR(q.volume, 8.0 / 3, 1e-14);
  EXPECT_EQ(q.dihedral_fractions[7], 1);  // 70.5 degrees
}

TEST(TetQuality, CornerOfACubeMatchesItsClosedForm)
{
  // Legs 1: V = 1/6, S = (3 + sqrt 3) / 2, R = sqrt(3) / 2, so that 3 r / R = 9 V / (S R).
  mesh::TetrahedralMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.tetrahedra = {{0, 1, 2, 3}};
  const double expected = 9.0 / 6 / ((3 + std::sqrt(3.0)) / 2 * std::sqrt(3.0) / 2);
  EXPECT_NEAR(radius_ratio(mesh, 0), expected, 1e-14);
}

TEST(TetQuality, DoesNotDependOnTheUnitOfLength)
{
  mesh::TetrahedralMesh mesh = tetrahedralise_ball(1, 3);
  const TetQuality large = measure_quality(mesh);
  for (Vec3& p : mesh.vertices) p *= 1e-3;
  const TetQuality small = measure_quality(mesh);
  EXPECT_NEAR(small.min_radius_ratio, large.min_radius_ratio, 1e-9);
  EXPECT_NEAR(small.min_dihedral, large.min_dihedral, 1e-9);
  EXPECT_NEAR(small.volume, large.volume * 1e-9, 1e-18);
  EXPECT_NEAR(std::accumulate(large.dihedral_fractions.begin(), large.dihedral_fractions.end(), 0.0), 1,
              1e-12);
  EXPECT_NE(describe(large).find("dihedral angles"), std::string::npos);
}

TEST(TetQuality, CountsFlatAndInvertedTetrahedra)
{
  mesh::TetrahedralMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}};
  mesh.tetrahedra = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 1, 2, 4}};
  const TetQuality q = measure_quality(mesh);
  EXPECT_EQ(q.bad, 2u);
  EXPECT_NEAR(q.volume, 1.0 / 6, 1e-15);
  EXPECT_EQ(radius_ratio(mesh, 1), 0);
  EXPECT_NE(describe(q).find("2 tetrahedra are flat"), std::string::npos);
  const TetQuality none = measure_quality(mesh::TetrahedralMesh{});
  EXPECT_EQ(none.tetrahedra, 0u);
  EXPECT_EQ(none.min_volume, 0);
}

}  // namespace
}  // namespace thrum::tets
