// SPDX-License-Identifier: MIT
#include "thrum/mesh/sheet.h"

#include <gtest/gtest.h>

#include "thrum/mesh/mesh_report.h"
#include "thrum/mesh/repair.h"

namespace thrum::mesh {
namespace {

// A box without its lid, outward.
TriangleMesh open_box()
{
  TriangleMesh mesh;
  for (int k = 0; k < 8; ++k) mesh.vertices.emplace_back(k & 1, (k >> 1) & 1, k >> 2);
  mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {0, 1, 5}, {0, 5, 4}, {1, 3, 7},
                    {1, 7, 5}, {3, 2, 6}, {3, 6, 7}, {2, 0, 4}, {2, 4, 6}};
  return mesh;
}

TEST(Solidified, AnOpenBoxBecomesAClosedVesselOfItsThickness)
{
  const double t = 0.02;
  const TriangleMesh solid = solidified(open_box(), t);
  EXPECT_TRUE(report_mesh(solid).usable_for_tetrahedra);
  // Outer and inner box: sides grow and shrink by half the thickness, the bottom too, the rim stays.
  const double outer = (1 + t) * (1 + t) * (1 + t / 2);
  const double inner = (1 - t) * (1 - t) * (1 - t / 2);
  EXPECT_NEAR(signed_volume(solid), outer - inner, 2e-3 * (outer - inner));
}

TEST(FillHoles, ClosesABoxWithItsLid)
{
  TriangleMesh box = open_box();
  const FillHolesResult result = fill_holes(box);
  EXPECT_EQ(result.filled, 1U);
  EXPECT_EQ(result.new_triangles, 4U);
  EXPECT_TRUE(report_mesh(box).usable_for_tetrahedra);
  EXPECT_NEAR(signed_volume(box), 1, 1e-12);
  // A missing triangle is put back as one.
  box.triangles.pop_back();
  EXPECT_EQ(fill_holes(box).new_triangles, 1U);
  EXPECT_NEAR(signed_volume(box), 1, 1e-12);
  EXPECT_EQ(fill_holes(box).filled, 0U);
}

}  // namespace
}  // namespace thrum::mesh
