// SPDX-License-Identifier: MIT
#include "thrum/tets/block_tets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/tet_checks.h"
#include "thrum/base/error.h"
#include "thrum/shapes/furniture.h"
#include "thrum/shapes/shapes.h"

namespace thrum::tets {
namespace {

// A grid of a x b x c cells has 2 + 2 (a b + b c + c a) vertices on its surface.
TEST(BlockTets, FillABoxWithCellsOfAtMostTheGivenSize)
{
  const Vec3 size(1.1, 1.4, 0.1);
  const mesh::TriangleMesh box = shapes::generate(shapes::BoxDesc{.size = size});
  const mesh::TetrahedralMesh mesh = tetrahedralise_blocks(box, Vec3(0.1, 0.1, 0.1));
  support::expect_valid(mesh);
  EXPECT_EQ(mesh.tetrahedra.size(), 5U * 11 * 14 * 1);
  EXPECT_NEAR(mesh::volume(mesh), size.prod(), 1e-12);
  const mesh::TriangleMesh surface = mesh::boundary_surface(mesh).surface;
  EXPECT_EQ(surface.vertices.size(), 2U + 2 * (11 * 14 + 14 + 11));
  EXPECT_TRUE(mesh::bounding_box(surface).isApprox(mesh::bounding_box(box)));
  // One more cell where the size is a little less than a whole part.
  EXPECT_EQ(tetrahedralise_blocks(box, Vec3(0.0999, 0.2, 1)).tetrahedra.size(), 5U * 12 * 7 * 1);
}

// Top 1.4 x 0.8 x 0.05 m, four legs of 0.08 x 0.08 x 0.69 m: with and without triangles inside its faces.
// The union of its parts rounds coordinates to about 1e-8 m.
TEST(BlockTets, FillATableExactly)
{
  for (const double edge_length : {0.0, 0.1}) {
    const mesh::TriangleMesh table = shapes::make_table(
        {.top_thickness = 0.05, .leg_thickness = 0.08, .apron_height = 0, .edge_length = edge_length});
    const mesh::TetrahedralMesh mesh = tetrahedralise_blocks(table, Vec3(0.09, 0.07, 0.12));
    support::expect_valid(mesh);
    EXPECT_NEAR(mesh::volume(mesh), 1.4 * 0.8 * 0.05 + 4 * 0.08 * 0.08 * 0.69, 1e-8) << edge_length;
    const mesh::TriangleMesh surface = mesh::boundary_surface(mesh).surface;
    EXPECT_EQ(support::euler_characteristic(surface), 2);
    EXPECT_NEAR(mesh::area(surface), 2 * (1.4 * 0.8 + (1.4 + 0.8) * 0.05) + 4 * 4 * 0.08 * 0.69, 1e-8);
    for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
      Box3 box;
      for (const Index v : mesh.tetrahedra[t]) box.extend(mesh.vertices[static_cast<std::size_t>(v)]);
      EXPECT_TRUE((box.sizes().array() <= Vec3(0.09, 0.07, 0.12).array() + 1e-12).all());
    }
  }
}

TEST(BlockTets, RejectWhatHasNoGrid)
{
  const mesh::TriangleMesh box = shapes::generate(shapes::BoxDesc{.size = Vec3(1, 1, 1)});
  EXPECT_THROW((void)tetrahedralise_blocks(shapes::generate(shapes::CylinderDesc{}), Vec3(1, 1, 1)), Error);
  EXPECT_THROW((void)tetrahedralise_blocks(box, Vec3(1, 0, 1)), Error);
  EXPECT_THROW((void)tetrahedralise_blocks(box, Vec3(1, std::numeric_limits<double>::quiet_NaN(), 1)), Error);
  EXPECT_THROW((void)tetrahedralise_blocks(box, Vec3(1e-3, 1e-3, 1e-3)), Error);
  EXPECT_THROW((void)tetrahedralise_blocks(box, Vec3(1e-300, 1, 1)), Error);
}

}  // namespace
}  // namespace thrum::tets
