// SPDX-License-Identifier: MIT
#include "thrum/tets/resolution_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/analytic_distances.h"
#include "thrum/shapes/shapes.h"
#include "thrum/tets/isosurface_stuffing.h"

namespace thrum::tets {
namespace {

using namespace thrum::support;  // analytic distances
constexpr double kPi = std::numbers::pi;

mesh::TetrahedralMesh stuff(const distance::DistanceFunction& distance, const Box3& bounds, double spacing)
{
  return stuff_isosurface({.distance = distance, .bounds = bounds, .spacing = spacing}).mesh;
}

struct Plate {
  Vec3 half;
  Mat3 turn;
  Vec3 shift;

  [[nodiscard]] mesh::TriangleMesh surface() const
  {
    mesh::TriangleMesh mesh = generate(shapes::BoxDesc{.size = 2 * half});
    for (Vec3& p : mesh.vertices) p = turn * p + shift;
    return mesh;
  }
  [[nodiscard]] distance::DistanceFunction distance() const
  {
    return distance::pointwise(
        [*this](const Vec3& p) { return box_distance(turn.transpose() * (p - shift), half); });
  }
};

TEST(ResolutionReport, ThickShapesAreResolvedInAnyPosition)
{
  // Chamfered edges of a rotated box are not reported.
  for (int n = 0; n < 6; ++n) {
    const Plate box{{0.5, 0.4, 0.3},
                    Eigen::AngleAxisd(0.3 * n, Vec3(1, n, 2).normalized()).matrix(),
                    Vec3(0.013 * n, 0.031 * n, 0)};
    const mesh::TriangleMesh surface = box.surface();
    const mesh::TetrahedralMesh mesh = stuff(box.distance(), mesh::bounding_box(surface), 0.1);
    const ResolutionReport report = check_resolution(mesh::Bvh(surface), mesh, 0.1);
    EXPECT_TRUE(report.resolved()) << describe(report);
    EXPECT_EQ(report.lost_parts, 0u);
    EXPECT_EQ(report.missing_area, 0);
    EXPECT_EQ(report.spacing, 0);
    EXPECT_EQ(describe(report), "");
    EXPECT_LT(report.max_distance, kMissedDetail * 0.1);
    EXPECT_NEAR(report.surface_area, 2 * (0.8 + 0.48 + 0.6), 1e-12);
  }
}

TEST(ResolutionReport, WallsThickerThanTheThresholdAreNeverPierced)
{
  // The bound of the header, at the threshold, in many positions of the lattice.
  constexpr double kSpacing = 0.1;
  for (int n = 0; n < 12; ++n) {
    const Plate plate{{0.6, 0.6, 0.5 * kResolvedThickness * kSpacing},
                      Eigen::AngleAxisd(0.37 * n, Vec3(n, 3, 1).normalized()).matrix(),
                      Vec3(0.017 * n, 0, 0.029 * n)};
    const mesh::TriangleMesh surface = plate.surface();
    const StuffingResult r = stuff_isosurface(
        {.distance = plate.distance(), .bounds = mesh::bounding_box(surface), .spacing = kSpacing});
    EXPECT_EQ(r.pieces.size(), 1u);
    // Each point of the middle plane is inside: away from the rim, both faces are kept.
    const mesh::Bvh boundary(mesh::boundary_surface(r.mesh).surface);
    for (int i = -4; i <= 4; ++i) {
      for (int j = -4; j <= 4; ++j) {
        const Vec3 p = plate.turn * Vec3(0.1 * i, 0.1 * j, 0) + plate.shift;
        const double depth = boundary.closest_point(p).distance;
        EXPECT_NEAR(depth, 0.5 * kResolvedThickness * kSpacing, 1e-6 * kSpacing);
      }
    }
  }
}

TEST(ResolutionReport, PlateBetweenTheLatticePointsIsReportedAsLost)
{
  const Plate plate{{0.2, 0.15, 0.01}, Mat3::Identity(), Vec3(0, 0, 0.033)};
  const mesh::TriangleMesh surface = plate.surface();
  Box3 bounds = mesh::bounding_box(surface);
  bounds.min().z() = -0.1;
  const mesh::TetrahedralMesh mesh = stuff(plate.distance(), bounds, 0.1);
  EXPECT_TRUE(mesh.tetrahedra.empty());
  const ResolutionReport report = check_resolution(mesh::Bvh(surface), mesh, 0.1);
  ASSERT_EQ(report.regions.size(), 1u);
  const UnresolvedRegion& region = report.regions[0];
  EXPECT_EQ(region.kind, UnresolvedKind::thin_wall);
  EXPECT_NEAR(region.width, 0.02, 1e-6);
  EXPECT_NEAR(region.spacing, 0.02 / kSuggestedThickness, 1e-6);
  const double whole_area = 8 * (0.2 * 0.15 + 0.15 * 0.01 + 0.01 * 0.2);
  EXPECT_NEAR(report.surface_area, whole_area, 1e-9);
  EXPECT_NEAR(report.missing_area, whole_area, 1e-9);
  EXPECT_NEAR(report.missing_volume, 8 * 0.2 * 0.15 * 0.01, 1e-9);
  EXPECT_EQ(report.lost_parts, 1u);
  EXPECT_TRUE(std::isinf(report.max_distance));
  EXPECT_NE(describe(report).find("wall of 0.02 m"), std::string::npos) << describe(report);

  // The suggested spacing does resolve it.
  const mesh::TetrahedralMesh fine = stuff(plate.distance(), bounds, report.spacing);
  EXPECT_TRUE(check_resolution(mesh::Bvh(surface), fine, report.spacing).resolved());
}

TEST(ResolutionReport, AThinCrackDoesNotDecideTheSpacingForMostArea)
{
  // A plate of 20 mm, and a chip of 1 mm beside it with a fortieth of its area.
  mesh::TriangleMesh surface = generate(shapes::BoxDesc{.size = {0.4, 0.3, 0.02}});
  const mesh::TriangleMesh chip = generate(shapes::BoxDesc{.size = {0.06, 0.05, 0.001}});
  const auto first = static_cast<Index>(surface.vertices.size());
  for (const Vec3& v : chip.vertices) surface.vertices.push_back(v + Vec3(1, 0, 0));
  for (const Triangle& t : chip.triangles)
    surface.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  const ResolutionReport report = check_resolution(mesh::Bvh(surface), {}, 0.1);
  EXPECT_NEAR(report.spacing, 0.001 / kSuggestedThickness, 1e-6);
  EXPECT_NEAR(report.spacing_for_most_area, 0.02 / kSuggestedThickness, 1e-6);
  EXPECT_NE(
      describe(report).find("A spacing of 0.01 m resolves most of it; the narrowest place needs 0.0005 m."),
      std::string::npos)
      << describe(report);
}

TEST(ResolutionReport, PiercedPlateIsReportedWhereItIsPierced)
{
  // Thinner than the threshold and tilted, so that the lattice resolves it only in places.
  const Plate plate{
      {0.8, 0.8, 0.035}, Eigen::AngleAxisd(0.2, Vec3(1, 2, 0).normalized()).matrix(), Vec3::Zero()};
  const mesh::TriangleMesh surface = plate.surface();
  const mesh::TetrahedralMesh mesh = stuff(plate.distance(), mesh::bounding_box(surface), 0.1);
  const ResolutionReport report = check_resolution(mesh::Bvh(surface), mesh, 0.1);
  ASSERT_FALSE(report.resolved());
  EXPECT_EQ(report.regions[0].kind, UnresolvedKind::thin_wall);
  EXPECT_NEAR(report.regions[0].width, 0.07, 1e-3);
  EXPECT_GT(report.missing_area, 0.1 * report.surface_area);
  EXPECT_LT(report.missing_area, report.surface_area);
  EXPECT_NEAR(report.thin_area, 2 * 1.6 * 1.6, 0.05 * 2 * 1.6 * 1.6);
}

TEST(ResolutionReport, CupKeepsItsBottomAndLosesItsWall)
{
  // A solid foot 0.3 high with a wall of 0.02 on it: at a spacing of 0.1 only the foot is meshed.
  constexpr double kRadius = 0.5, kWall = 0.02, kFoot = 0.3, kHeight = 1.2;
  const mesh::TriangleMesh surface = generate(shapes::LatheDesc{
      .profile = {Vec2(0, 0), Vec2(kRadius, 0), Vec2(kRadius, kHeight), Vec2(kRadius - kWall, kHeight),
                  Vec2(kRadius - kWall, kFoot), Vec2(0, kFoot)},
      .segments = 96});
  const distance::DistanceFunction distance = distance::pointwise([](const Vec3& p) {
    const double outer = cylinder_distance(p - Vec3(0, 0, kHeight / 2), kRadius, kHeight / 2);
    const double inner = cylinder_distance(p - Vec3(0, 0, kFoot + 1), kRadius - kWall, 1);
    return std::max(outer, -inner);
  });
  const mesh::TetrahedralMesh mesh = stuff(distance, mesh::bounding_box(surface), 0.1);
  const ResolutionReport report = check_resolution(mesh::Bvh(surface), mesh, 0.1);
  ASSERT_FALSE(report.resolved());
  const UnresolvedRegion& wall = report.regions[0];
  EXPECT_EQ(wall.kind, UnresolvedKind::thin_wall);
  EXPECT_NEAR(wall.width, kWall, 0.1 * kWall);
  EXPECT_GT(wall.box.min().z(), kFoot - 0.1);
  EXPECT_NEAR(wall.box.max().z(), kHeight, 0.05);
  const double wall_area = 2 * kPi * (2 * kRadius - kWall) * (kHeight - kFoot);
  EXPECT_GT(wall.area, 0.5 * wall_area);
  EXPECT_LT(wall.area, 1.1 * wall_area);
  EXPECT_EQ(report.lost_parts, 0u);
}

TEST(ResolutionReport, ThinRodOnABlockIsReported)
{
  // Two closed parts: a block that is resolved, and a rod beside it that is not.
  mesh::TriangleMesh surface = generate(shapes::BoxDesc{.size = {1, 1, 1}});
  mesh::TriangleMesh rod = generate(shapes::CylinderDesc{.radius = 0.015, .height = 1.4, .segments = 24});
  for (Vec3& p : rod.vertices) p += Vec3(1.037, 0.041, 0);
  mesh::append(surface, rod);
  const distance::DistanceFunction distance = distance::pointwise([](const Vec3& p) {
    return std::min(box_distance(p, {0.5, 0.5, 0.5}),
                    cylinder_distance(p - Vec3(1.037, 0.041, 0), 0.015, 0.7));
  });
  const mesh::TetrahedralMesh mesh = stuff(distance, mesh::bounding_box(surface), 0.1);
  const ResolutionReport report = check_resolution(mesh::Bvh(surface), mesh, 0.1);
  ASSERT_EQ(report.regions.size(), 1u) << describe(report);
  EXPECT_EQ(report.lost_parts, 1u);
  EXPECT_EQ(report.regions[0].kind, UnresolvedKind::thin_wall);
  EXPECT_NEAR(report.regions[0].box.center().x(), 1.037, 0.01);
  EXPECT_NEAR(report.regions[0].width, 0.03, 0.003);
  EXPECT_NEAR(report.missing_area, mesh::area(rod), 0.05 * mesh::area(rod));
}

TEST(ResolutionReport, BridgedGapIsReported)
{
  // Two blocks 0.02 apart are merged at a spacing of 0.1 where no lattice point falls between them.
  mesh::TriangleMesh surface = generate(shapes::BoxDesc{.size = {0.5, 0.6, 0.6}});
  mesh::TriangleMesh second = surface;
  for (Vec3& p : second.vertices) p.x() += 0.52;
  mesh::append(surface, second);
  const distance::DistanceFunction distance = distance::pointwise([](const Vec3& p) {
    return std::min(box_distance(p, {0.25, 0.3, 0.3}), box_distance(p - Vec3(0.52, 0, 0), {0.25, 0.3, 0.3}));
  });
  Box3 bounds = mesh::bounding_box(surface);
  bounds.min().x() = -0.273;  // the nearest lattice planes are at 0.227 and 0.277
  const StuffingResult r = stuff_isosurface({.distance = distance, .bounds = bounds, .spacing = 0.1});
  const ResolutionReport report = check_resolution(mesh::Bvh(surface), r.mesh, 0.1);
  ASSERT_FALSE(report.resolved());
  EXPECT_EQ(report.regions[0].kind, UnresolvedKind::narrow_gap);
  EXPECT_NEAR(report.regions[0].width, 0.02, 1e-3);
  EXPECT_NE(describe(report).find("gap of 0.02 m"), std::string::npos);
}

}  // namespace
}  // namespace thrum::tets
