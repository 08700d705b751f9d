// SPDX-License-Identifier: MIT
#include "thrum/tets/mesh_stuffing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/tet_checks.h"
#include "thrum/base/error.h"
#include "thrum/shapes/shapes.h"

namespace thrum::tets {
namespace {

using namespace thrum::support;  // mesh checks

struct Shape {
  const char* name;
  mesh::TriangleMesh mesh;
  double spacing;
  double volume_error;  // chamfered edges: about 0.11 spacing^2 per length of edge
};

std::vector<Shape> shapes()
{
  return {
      {"box", generate(shapes::BoxDesc{.size = {0.4, 0.3, 0.2}}), 0.043, 0.05},
      {"rounded box", generate(shapes::BoxDesc{.size = {0.4, 0.3, 0.2}, .rounding = 0.05}), 0.04, 0.02},
      {"sphere", generate(shapes::SphereDesc{.radius = 0.2, .edge_length = 0.03}), 0.04, 0.02},
      {"cylinder", generate(shapes::CylinderDesc{.radius = 0.15, .height = 0.4, .segments = 48}), 0.04, 0.03},
      {"capsule", generate(shapes::CapsuleDesc{.radius = 0.1, .height = 0.3, .segments = 40}), 0.03, 0.02},
      {"torus", generate(shapes::TorusDesc{.major_radius = 0.3, .minor_radius = 0.1, .edge_length = 0.03}),
       0.04, 0.03},
      {"cone",
       generate(shapes::ConeDesc{.bottom_radius = 0.2, .top_radius = 0.08, .height = 0.3, .segments = 40}),
       0.035, 0.04},
      {"cup",
       generate(shapes::LatheDesc{.profile = {Vec2(0, 0), Vec2(0.2, 0), Vec2(0.2, 0.3), Vec2(0.13, 0.3),
                                              Vec2(0.13, 0.08), Vec2(0, 0.08)},
                                  .segments = 48}),
       0.03, 0.06},
      {"bent tube",
       generate(shapes::TubeDesc{
           .path = {Vec3(0, 0, 0), Vec3(0.3, 0, 0), Vec3(0.3, 0.3, 0)}, .radius = 0.06, .segments = 24}),
       0.03, 0.05},
  };
}

TEST(MeshStuffing, GeneratedShapesAreValidResolvedAndWithinTheAngles)
{
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const MeshStuffingResult r =
        tetrahedralise(distance::MeshDistance(shape.mesh), {.spacing = shape.spacing});
    expect_valid(r.stuffing.mesh);
    const AngleRange range = angle_range(r.stuffing.mesh);
    EXPECT_GE(range.min, (kStuffingMinDihedral - 0.005) * kDegree);
    EXPECT_LE(range.max, (kStuffingMaxDihedral + 0.005) * kDegree);
    EXPECT_EQ(r.stuffing.pieces.size(), 1u);
    EXPECT_EQ(r.stuffing.split_vertices, 0u);
    EXPECT_TRUE(r.resolution.resolved()) << describe(r.resolution);
    const double exact = mesh::signed_volume(shape.mesh);
    EXPECT_NEAR(mesh::volume(r.stuffing.mesh), exact, shape.volume_error * exact);
    EXPECT_NEAR(r.resolution.missing_volume, exact - mesh::volume(r.stuffing.mesh), 1e-12);
    // Every boundary vertex is on the triangles.
    const mesh::Bvh bvh(shape.mesh);
    for (const Vec3& p : mesh::boundary_surface(r.stuffing.mesh).surface.vertices) {
      ASSERT_LE(bvh.closest_point(p).distance, 2 * kStuffingSurfaceTolerance * shape.spacing);
    }
    EXPECT_EQ(euler_characteristic(mesh::boundary_surface(r.stuffing.mesh).surface),
              euler_characteristic(shape.mesh));
  }
}

TEST(MeshStuffing, DefaultSpacingFollowsTheLongestSide)
{
  const distance::MeshDistance bar(generate(shapes::BoxDesc{.size = {1.2, 0.2, 0.2}}));
  const MeshStuffingResult r = tetrahedralise(bar, {.report = false});
  EXPECT_NEAR(r.spacing, 1.2 / kDefaultCells, 1e-15);
  // The sizes are multiples of the spacing and the lattice starts at the corner: the box is exact.
  EXPECT_NEAR(mesh::volume(r.stuffing.mesh), 0.048, 1e-6 * 0.048);
  EXPECT_EQ(r.resolution.surface_area, 0);
}

TEST(MeshStuffing, ThinPlateIsReportedAndResolvedAtTheSuggestedSpacing)
{
  const distance::MeshDistance plate(generate(shapes::BoxDesc{.size = {0.2, 0.15, 0.01}}));
  const MeshStuffingResult coarse = tetrahedralise(plate, {.spacing = 0.03});
  ASSERT_FALSE(coarse.resolution.resolved());
  EXPECT_NEAR(coarse.resolution.spacing, 0.005, 1e-6);
  const MeshStuffingResult fine = tetrahedralise(plate, {.spacing = coarse.resolution.spacing});
  EXPECT_TRUE(fine.resolution.resolved()) << describe(fine.resolution);
  EXPECT_NEAR(mesh::volume(fine.stuffing.mesh), 0.0003, 1e-6 * 0.0003);
}

// Stuffing fills walls that its report calls resolved, so a thin plate and a tube have their exact volumes.
TEST(MeshStuffing, ThinWallsGetTheRequiredSpacing)
{
  const distance::MeshDistance plate(generate(shapes::BoxDesc{.size = {0.4, 0.4, 0.01}}));
  const MeshStuffingResult coarse = tetrahedralise(plate);
  const MeshStuffingResult fine = tetrahedralise_walls(plate, {}, 1e6);
  EXPECT_FALSE(coarse.resolution.resolved());
  EXPECT_TRUE(fine.resolution.resolved());
  EXPECT_LT(fine.spacing, coarse.spacing);
  EXPECT_NEAR(mesh::volume(fine.stuffing.mesh), 0.4 * 0.4 * 0.01, 0.01 * 0.4 * 0.4 * 0.01);

  // The limit on the number of tetrahedra is approximately respected.
  const MeshStuffingResult limited = tetrahedralise_walls(plate, {}, 5000);
  EXPECT_DOUBLE_EQ(limited.spacing, spacing_for(0.4 * 0.4 * 0.01, 5000));
  EXPECT_LT(limited.stuffing.mesh.tetrahedra.size(), 10000U);

  // A body that the first lattice resolves is not refined.
  const distance::MeshDistance cube(generate(shapes::BoxDesc{}));
  EXPECT_EQ(tetrahedralise_walls(cube, {.spacing = 0.1}, 1e6).spacing, 0.1);
}

TEST(MeshStuffing, RejectsTooManyTetrahedraAndSuggestsASpacing)
{
  const distance::MeshDistance cube(generate(shapes::BoxDesc{}));
  try {
    static_cast<void>(tetrahedralise(cube, {.spacing = 1e-4}));
    FAIL() << "no error for 10^12 tetrahedra";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1.2e+13"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("spacing of at least 0.00621 m"), std::string::npos)
        << error.what();
  }
  EXPECT_NEAR(12 / std::pow(spacing_for(1, kMaxTetrahedra), 3), kMaxTetrahedra, 1);
}

}  // namespace
}  // namespace thrum::tets
