// SPDX-License-Identifier: MIT
#include "thrum/tets/structured_tets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/tet_checks.h"
#include "thrum/base/error.h"

namespace thrum::tets {
namespace {

using support::angle_range;
using support::expect_valid;
using support::kDegree;

TEST(StructuredTets, BoxIsExactAndConforming)
{
  const Vec3 size(0.3, 0.2, 0.05);
  for (const BoxSplit split : {BoxSplit::six, BoxSplit::five}) {
    for (const std::array<int, 3>& cells : {std::array{1, 1, 1}, std::array{2, 1, 1}, std::array{4, 3, 2}}) {
      const mesh::TetrahedralMesh mesh = tetrahedralise_box(size, cells, split);
      expect_valid(mesh);
      const int per_cell = split == BoxSplit::six ? 6 : 5;
      EXPECT_EQ(mesh.tetrahedra.size(), static_cast<std::size_t>(per_cell * cells[0] * cells[1] * cells[2]));
      EXPECT_NEAR(mesh::volume(mesh), size.prod(), 1e-12 * size.prod());
      const mesh::TriangleMesh surface = mesh::boundary_surface(mesh).surface;
      EXPECT_NEAR(mesh::area(surface), 2 * (0.3 * 0.2 + 0.2 * 0.05 + 0.3 * 0.05), 1e-12);
      EXPECT_EQ(support::euler_characteristic(surface), 2);
      EXPECT_TRUE(mesh::bounding_box(surface).isApprox(Box3(-size / 2, size / 2)));
    }
  }
}

TEST(StructuredTets, CubeSplitsHaveTheirKnownAngles)
{
  // The pieces around a cube's diagonal have dihedral angles 45, 60, 90; the chessboard split has the regular
  // tetrahedron's acos(1/3) and, in the corner pieces, 90 and acos(1/sqrt 3).
  const auto six = angle_range(tetrahedralise_box(Vec3::Ones(), {2, 2, 2}, BoxSplit::six));
  EXPECT_NEAR(six.min, 45 * kDegree, 1e-12);
  EXPECT_NEAR(six.max, 90 * kDegree, 1e-12);
  const auto five = angle_range(tetrahedralise_box(Vec3::Ones(), {2, 2, 2}, BoxSplit::five));
  EXPECT_NEAR(five.min, std::acos(1 / std::sqrt(3.0)), 1e-12);
  EXPECT_NEAR(five.max, 90 * kDegree, 1e-12);
}

TEST(StructuredTets, PrismOverADiscHasThePolygonsVolume)
{
  for (const int rings : {1, 2, 5}) {
    const mesh::TetrahedralMesh mesh = tetrahedralise_prism(triangulate_disc(0.1, rings), 0.02, 3);
    expect_valid(mesh);
    const int sides = 6 * rings;
    const double polygon = 0.5 * sides * 0.1 * 0.1 * std::sin(2 * std::numbers::pi / sides);
    EXPECT_NEAR(mesh::volume(mesh), polygon * 0.02, 1e-12 * polygon);
    EXPECT_EQ(mesh.tetrahedra.size(), static_cast<std::size_t>(3 * 3 * 6 * rings * rings));
    EXPECT_EQ(support::euler_characteristic(mesh::boundary_surface(mesh).surface), 2);
  }
}

TEST(StructuredTets, RingIsATorus)
{
  for (const int around : {7, 24}) {
    const mesh::TetrahedralMesh mesh =
        tetrahedralise_prism(triangulate_annulus(0.08, 0.1, around, 2), 0.01, 2);
    expect_valid(mesh);
    const double polygon = 0.5 * around * (0.01 - 0.0064) * std::sin(2 * std::numbers::pi / around);
    EXPECT_NEAR(mesh::volume(mesh), polygon * 0.01, 1e-12 * polygon);
    EXPECT_EQ(support::euler_characteristic(mesh::boundary_surface(mesh).surface), 0);
  }
}

TEST(StructuredTets, BallIsRoundWellShapedAndConvergesInVolume)
{
  constexpr double kRadius = 0.25;
  const double exact = 4 * std::numbers::pi / 3 * kRadius * kRadius * kRadius;
  double last_error = 0;
  for (const int cells : {2, 4, 8}) {
    const mesh::TetrahedralMesh mesh = tetrahedralise_ball(kRadius, cells);
    expect_valid(mesh);
    const mesh::TriangleMesh surface = mesh::boundary_surface(mesh).surface;
    for (const Vec3& p : surface.vertices) EXPECT_NEAR(p.norm(), kRadius, 1e-14);
    EXPECT_EQ(support::euler_characteristic(surface), 2);
    EXPECT_EQ(surface.triangles.size(), static_cast<std::size_t>(12 * cells * cells));
    const auto range = angle_range(mesh);
    EXPECT_GT(range.min, 18 * kDegree);
    EXPECT_LT(range.max, 145 * kDegree);
    // Chords of length h leave out a fraction that decreases as h^2.
    const double error = exact - mesh::volume(mesh);
    EXPECT_GT(error, 0);
    if (last_error > 0) {
      EXPECT_NEAR(last_error / error, 4, 0.6);
    }
    last_error = error;
  }
}

TEST(StructuredTets, MappingBendsOrMirrorsButNeverFolds)
{
  // A bar bent to a quarter circle keeps its length on the middle line, and its volume is that of the ring
  // segment.
  mesh::TetrahedralMesh bar = tetrahedralise_box({1, 0.1, 0.1}, {64, 2, 2});
  map_vertices(bar, [](const Vec3& p) {
    const double angle = p.x() * std::numbers::pi / 2;
    return Vec3((2 / std::numbers::pi + p.y()) * std::sin(angle),
                -(2 / std::numbers::pi + p.y()) * std::cos(angle), p.z());
  });
  expect_valid(bar);
  EXPECT_NEAR(mesh::volume(bar), 0.01, 1e-5);

  mesh::TetrahedralMesh mirrored = tetrahedralise_box({1, 1, 1}, {2, 2, 2});
  map_vertices(mirrored, [](const Vec3& p) { return Vec3(-p.x(), p.y(), p.z()); });
  expect_valid(mirrored);

  mesh::TetrahedralMesh folded = tetrahedralise_box({1, 1, 1}, {2, 2, 2});
  EXPECT_THROW(map_vertices(folded, [](const Vec3& p) { return Vec3(std::abs(p.x()), p.y(), p.z()); }),
               Error);
}

TEST(StructuredTets, RejectsShapesWithoutVolume)
{
  EXPECT_THROW((void)tetrahedralise_box({1, 0, 1}, {1, 1, 1}), Error);
  EXPECT_THROW((void)tetrahedralise_box({1, 1, 1}, {1, 0, 1}), Error);
  EXPECT_THROW((void)tetrahedralise_ball(-1, 2), Error);
  EXPECT_THROW((void)triangulate_annulus(2, 1, 8, 1), Error);
  PlanarTriangulation clockwise{{Vec2(0, 0), Vec2(0, 1), Vec2(1, 0)}, {{0, 1, 2}}};
  EXPECT_THROW((void)tetrahedralise_prism(clockwise, 1, 1), Error);
}

}  // namespace
}  // namespace thrum::tets
