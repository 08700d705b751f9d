// SPDX-License-Identifier: MIT
#include "thrum/tets/block_tets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/tet_checks.h"
#include "thrum/base/error.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/furniture.h"
#include "thrum/shapes/shapes.h"
#include "thrum/tets/graded_lines.h"

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

mesh::TriangleMesh box_between(const Vec3& low, const Vec3& high)
{
  mesh::TriangleMesh mesh = shapes::generate(shapes::BoxDesc{.size = high - low});
  for (Vec3& v : mesh.vertices) v += 0.5 * (low + high);
  return mesh;
}

int cells_between(const std::vector<double>& lines, double from, double to)
{
  return static_cast<int>(
      std::count_if(lines.begin(), lines.end(), [&](double x) { return x > from + 1e-6 && x < to + 1e-6; }));
}

// Every plane is kept, and cells are as large as allowed, but for the rounding of their number: 1.5 times.
TEST(GradedLines, GrowAwayFromSmallCells)
{
  const std::vector<double> planes = {0, 2, 2.01, 5};
  for (const double scale : {1.0, 0.6, 0.3, 0.1}) {
    const std::vector<double> lines = graded_lines(planes, {1, 0.01, 1}, scale);
    for (const double p : planes) EXPECT_EQ(std::count(lines.begin(), lines.end(), p), 1) << scale;
    EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
    for (std::size_t k = 1; k < lines.size(); ++k) {
      const double far = std::max({2 - lines[k - 1], lines[k] - 2.01, 0.0});
      EXPECT_LT(lines[k] - lines[k - 1], 1.5 * scale * std::min(1.0, 0.01 + kCellGrowth * far)) << lines[k];
    }
    // The integral of 1/size: on both sides cells grow up to 1 over 0.66, and there is one where they begin.
    const double expected = 2 * std::log(1 / 0.01) / kCellGrowth + (4.99 - 2 * 0.99 / kCellGrowth) + 1;
    EXPECT_NEAR(static_cast<double>(lines.size() - 1), expected / scale, 1.5) << scale;
  }
  EXPECT_THROW((void)graded_lines(planes, {1, 0, 1}, 1), Error);
  EXPECT_THROW((void)graded_lines(planes, {1, 1, 1}, 0), Error);
  EXPECT_THROW((void)graded_lines(planes, {1, 1, 1}, 1e-9), Error);
}

// A block of 300 x 210 x 90 mm with a lip of 100 x 120 x 5 mm: it ends where the block begins, though the
// body goes on there, and has three cells along both of its sides. A step of 10 x 30 mm is no part of its
// own.
TEST(BlockTets, PartsEndWhereTheirThicknessChanges)
{
  const mesh::TriangleMesh body = shapes::boolean_union(std::vector<mesh::TriangleMesh>{
      box_between({0, 0, 0}, {0.3, 0.21, 0.09}), box_between({0.3, 0.03, 0.03}, {0.4, 0.15, 0.035}),
      box_between({-0.01, 0.03, 0}, {0, 0.15, 0.03})});
  BlockGrid grid(body);
  // The deepest middle of a block is 32.5 mm below the surface.
  EXPECT_NEAR(grid.thickness_ratio(), 2 * 0.0325 / 0.005, 0.01);
  for (const auto& lines : {grid.even_lines(1, 1), grid.graded_lines(1)}) {
    EXPECT_GE(cells_between(lines[0], 0.3, 0.4), 3);
    EXPECT_GE(cells_between(lines[1], 0.03, 0.15), 3);
    EXPECT_EQ(cells_between(lines[2], 0.03, 0.035), 1);
    EXPECT_LE(cells_between(lines[0], -0.01, 0), 1);
  }
  EXPECT_GE(cells_between(grid.even_lines(1, 2)[0], 0.3, 0.4), 6);
  // Around the lip cells are small too, whatever its thickness.
  const auto graded = grid.graded_lines(1);
  EXPECT_GE(cells_between(graded[2], 0.035, 0.09), 2);
  EXPECT_EQ(cells_between(grid.even_lines(1, 1)[2], 0.035, 0.09), 1);
  // What is counted is what is made.
  for (const double scale : {1.0, 0.6}) {
    const double count = grid.count(grid.graded_lines(scale));
    const mesh::TetrahedralMesh& mesh = grid.fill(grid.graded_lines(scale));
    EXPECT_EQ(static_cast<double>(mesh.tetrahedra.size()), count);
    support::expect_valid(mesh);
    EXPECT_NEAR(mesh::volume(mesh), 0.3 * 0.21 * 0.09 + 0.1 * 0.12 * 0.005 + 0.01 * 0.12 * 0.03, 1e-9);
  }
}

// A table has legs of 80 and a top of 50 mm, however thick the body is where they meet.
TEST(BlockTets, JointsAreNoThickParts)
{
  const mesh::TriangleMesh table =
      shapes::make_table({.top_thickness = 0.05, .leg_thickness = 0.08, .apron_height = 0, .edge_length = 0});
  EXPECT_NEAR(BlockGrid(table).thickness_ratio(), 0.08 / 0.05, 0.01);
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
