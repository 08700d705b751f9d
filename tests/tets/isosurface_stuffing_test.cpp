// SPDX-License-Identifier: MIT
#include "thrum/tets/isosurface_stuffing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "tests/support/analytic_distances.h"
#include "tests/support/tet_checks.h"
#include "thrum/base/error.h"

namespace thrum::tets {
namespace {

using namespace thrum::support;  // analytic distances and mesh checks
constexpr double kPi = std::numbers::pi;

// The published bounds are rounded to two decimals, and angles are measured to rounding.
constexpr double kAngleRounding = 0.005 * kDegree;

void expect_published_angles(const mesh::TetrahedralMesh& mesh)
{
  const AngleRange range = angle_range(mesh);
  EXPECT_GE(range.min, kStuffingMinDihedral * kDegree - kAngleRounding);
  EXPECT_LE(range.max, kStuffingMaxDihedral * kDegree + kAngleRounding);
}

void expect_on_surface(const mesh::TetrahedralMesh& mesh, const distance::DistanceFunction& distance,
                       double spacing)
{
  const mesh::TriangleMesh surface = mesh::boundary_surface(mesh).surface;
  std::vector<double> d(surface.vertices.size());
  distance(surface.vertices, d);
  for (const double value : d) ASSERT_LE(std::abs(value), 2 * kStuffingSurfaceTolerance * spacing);
}

struct Solid {
  const char* name;
  distance::DistanceFunction distance;
  Box3 bounds;
  double volume;
  long euler;
};

Box3 around(const Vec3& half)
{
  return Box3(-half, half);
}

std::vector<Solid> solids()
{
  const Mat3 turn =
      (Eigen::AngleAxisd(0.4, Vec3::UnitX()) * Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized())).matrix();
  return {
      {"ball", distance::pointwise([](const Vec3& p) { return ball_distance(p, 0.5); }),
       around({0.5, 0.5, 0.5}), kPi / 6, 2},
      {"box", distance::pointwise([](const Vec3& p) {
         return box_distance(p, {0.5, 0.4, 0.3});
       }),
       around({0.5, 0.4, 0.3}), 0.48, 2},
      {"rotated box", distance::pointwise([=](const Vec3& p) {
         return box_distance(turn * p, {0.5, 0.4, 0.3});
       }),
       around({0.75, 0.75, 0.75}), 0.48, 2},
      {"torus", distance::pointwise([](const Vec3& p) { return torus_distance(p, 0.5, 0.2); }),
       around({0.7, 0.7, 0.2}), 2 * kPi * kPi * 0.5 * 0.04, 0},
      {"cylinder", distance::pointwise([](const Vec3& p) { return cylinder_distance(p, 0.3, 0.5); }),
       around({0.3, 0.3, 0.5}), kPi * 0.09, 2},
      {"rotated cylinder",
       distance::pointwise([=](const Vec3& p) { return cylinder_distance(turn * p, 0.3, 0.5); }),
       around({0.6, 0.6, 0.6}), kPi * 0.09, 2},
      {"plate", distance::pointwise([](const Vec3& p) {
         return box_distance(p, {0.6, 0.5, 0.11});
       }),
       around({0.6, 0.5, 0.11}), 8 * 0.6 * 0.5 * 0.11, 2},
      {"hollow ball", distance::pointwise([](const Vec3& p) { return std::abs(p.norm() - 0.5) - 0.15; }),
       around({0.65, 0.65, 0.65}), 4 * kPi / 3 * (0.65 * 0.65 * 0.65 - 0.35 * 0.35 * 0.35), 4},
  };
}

TEST(IsosurfaceStuffing, SolidsAreValidWithinTheAnglesAndOnTheSurface)
{
  for (const Solid& solid : solids()) {
    for (const double spacing : {0.1, 0.073}) {
      SCOPED_TRACE(solid.name);
      SCOPED_TRACE(spacing);
      const StuffingResult result =
          stuff_isosurface({.distance = solid.distance, .bounds = solid.bounds, .spacing = spacing});
      expect_valid(result.mesh);
      expect_published_angles(result.mesh);
      expect_on_surface(result.mesh, solid.distance, spacing);
      EXPECT_EQ(euler_characteristic(mesh::boundary_surface(result.mesh).surface), solid.euler);
      EXPECT_EQ(result.pieces.size(), 1u);
      EXPECT_EQ(result.dropped_pieces, 0u);
      EXPECT_EQ(result.split_vertices, 0u);
      EXPECT_EQ(result.pinched_edges, 0u);
      EXPECT_NEAR(result.pieces[0], mesh::volume(result.mesh), 1e-9);
    }
  }
}

// Coarser inside, the same surface: graded meshes must conform across every kind of transition.
TEST(IsosurfaceStuffing, GradingKeepsTheSurfaceAndTheAnglesWithFewerTetrahedra)
{
  for (const Solid& solid : {solids()[0], solids()[2], solids()[3]}) {
    SCOPED_TRACE(solid.name);
    StuffingDesc desc{.distance = solid.distance, .bounds = solid.bounds, .spacing = 0.04};
    const StuffingResult uniform = stuff_isosurface(desc);
    std::size_t last = uniform.mesh.tetrahedra.size();
    const auto places = [](const StuffingResult& r) {
      std::set<std::array<double, 3>> set;
      for (const Vec3& p : mesh::boundary_surface(r.mesh).surface.vertices) set.insert({p.x(), p.y(), p.z()});
      return set;
    };
    for (const int grading : {1, 2}) {
      desc.grading = grading;
      const StuffingResult graded = stuff_isosurface(desc);
      expect_valid(graded.mesh);
      expect_published_angles(graded.mesh);
      EXPECT_EQ(graded.pieces.size(), 1u);
      EXPECT_NEAR(mesh::volume(graded.mesh), mesh::volume(uniform.mesh), 1e-12);
      EXPECT_EQ(places(graded), places(uniform));
      EXPECT_LE(graded.mesh.tetrahedra.size(), last);
      last = graded.mesh.tetrahedra.size();
    }
    EXPECT_LT(last, uniform.mesh.tetrahedra.size());
  }
}

// Large enough for leaves of every level, each next to the surface's fine cells through all levels between.
TEST(IsosurfaceStuffing, ThreeLevelsConform)
{
  constexpr double kRadius = 28;
  const StuffingResult r = stuff_isosurface({.distance = distance::pointwise([](const Vec3& p) {
                                               return ball_distance(p - Vec3(1, 2, 3), kRadius);
                                             }),
                                             .bounds = Box3(Vec3::Constant(-32), Vec3::Constant(32)),
                                             .spacing = 1,
                                             .grading = 3});
  // Each face in at most two tetrahedra, and the boundary around all of the volume: no overlaps and no gaps.
  const mesh::BoundarySurface boundary = mesh::boundary_surface(r.mesh);
  EXPECT_NEAR(mesh::signed_volume(boundary.surface), mesh::volume(r.mesh), 1e-9 * mesh::volume(r.mesh));
  for (const Vec3& p : boundary.surface.vertices) {
    ASSERT_NEAR(ball_distance(p - Vec3(1, 2, 3), kRadius), 0, 2 * kStuffingSurfaceTolerance);
  }
  EXPECT_NEAR(mesh::volume(r.mesh), 4 * kPi / 3 * kRadius * kRadius * kRadius, 5e-4 * mesh::volume(r.mesh));
  expect_published_angles(r.mesh);
  double longest = 0;
  for (const Tetrahedron& t : r.mesh.tetrahedra) {
    longest = std::max(longest, (r.mesh.vertices[static_cast<std::size_t>(t[0])] -
                                 r.mesh.vertices[static_cast<std::size_t>(t[1])])
                                    .norm());
  }
  EXPECT_GE(longest, 8 * std::sqrt(0.75) - 1e-9);
}

TEST(IsosurfaceStuffing, VolumeConvergesWithTheSquareOfTheSpacing)
{
  for (const Solid& solid : solids()) {
    SCOPED_TRACE(solid.name);
    // An error of C h^2 with one C at both ends of a factor 4 in h, with a margin for the position of the
    // lattice.
    const auto error = [&](double spacing) {
      const StuffingResult r =
          stuff_isosurface({.distance = solid.distance, .bounds = solid.bounds, .spacing = spacing});
      return std::abs(mesh::volume(r.mesh) - solid.volume) / solid.volume;
    };
    const double coarse = error(0.11);
    const double fine = error(0.11 / 4);
    EXPECT_LT(coarse, 0.1);
    EXPECT_LT(fine, 0.1 / 16);
    if (coarse > 0.01) {
      EXPECT_GT(coarse / fine, 8);
    }
  }
}

TEST(IsosurfaceStuffing, BoxOnLatticePlanesIsExact)
{
  const Vec3 half(0.4, 0.3, 0.2);
  const StuffingResult r =
      stuff_isosurface({.distance = distance::pointwise([&](const Vec3& p) { return box_distance(p, half); }),
                        .bounds = around(half),
                        .spacing = 0.1});
  expect_valid(r.mesh);
  EXPECT_NEAR(mesh::volume(r.mesh), 8 * half.prod(), 1e-6 * 8 * half.prod());
}

// The angle bounds hold for any function with a Lipschitz constant of 1, resolved or not: waves as short as
// two spacings produce every stencil in every position. The same holds for positive volumes and conformity;
// only the boundary may be pinched.
RC_GTEST_PROP(IsosurfaceStuffing, AnglesHoldForRoughWaves, ())
{
  const auto real = [](double low, double high) {
    return *rc::gen::map(rc::gen::inRange(0, 1 << 20),
                         [=](int n) { return low + (high - low) * n / (1 << 20); });
  };
  const double roughness = real(0.5, 3);
  std::vector<Vec3> waves;
  std::vector<double> phases;
  double slope = 0;
  for (int w = 0; w < 5; ++w) {
    waves.emplace_back(roughness * Vec3(real(-1, 1), real(-1, 1), real(-1, 1)));
    phases.push_back(real(-kPi, kPi));
    slope += waves.back().norm();
  }
  const distance::DistanceFunction distance = distance::pointwise([&](const Vec3& p) {
    double sum = 0;
    for (std::size_t w = 0; w < waves.size(); ++w) sum += std::sin(waves[w].dot(p) + phases[w]);
    return std::max(sum / std::max(slope, 1e-3), p.norm() - 4.5);
  });
  const StuffingResult result =
      stuff_isosurface({.distance = distance, .bounds = around({4.5, 4.5, 4.5}), .spacing = 1});
  const AngleRange range = angle_range(result.mesh);
  RC_ASSERT(range.min >= kStuffingMinDihedral * kDegree - kAngleRounding);
  RC_ASSERT(range.max <= kStuffingMaxDihedral * kDegree + kAngleRounding);
  for (std::size_t t = 0; t < result.mesh.tetrahedra.size(); ++t)
    RC_ASSERT(mesh::six_times_volume(result.mesh, t) > 0);
  // A consistent outward boundary around the whole volume means that neighbours agree on their faces.
  const mesh::TriangleMesh surface = mesh::boundary_surface(result.mesh).surface;
  std::map<std::array<Index, 2>, int> balance;
  for (const Triangle& t : surface.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      ++balance[{t[k], t[(k + 1) % 3]}];
      --balance[{t[(k + 1) % 3], t[k]}];
    }
  }
  for (const auto& [edge, count] : balance) RC_ASSERT(count == 0);
  std::vector<double> d(surface.vertices.size());
  distance(surface.vertices, d);
  for (const double value : d) RC_ASSERT(std::abs(value) <= 2 * kStuffingSurfaceTolerance);
}

// Smooth blobs: a ball whose radius varies over the sphere, well resolved.
RC_GTEST_PROP(IsosurfaceStuffing, BlobsAreValid, ())
{
  const auto real = [](double low, double high) {
    return *rc::gen::map(rc::gen::inRange(0, 1 << 20),
                         [=](int n) { return low + (high - low) * n / (1 << 20); });
  };
  const Vec3 axis = Vec3(real(-1, 1), real(-1, 1), real(0.1, 1)).normalized();
  const Vec3 other = Vec3(real(0.1, 1), real(-1, 1), real(-1, 1)).normalized();
  const double swell = real(-0.12, 0.12), bend = real(-0.08, 0.08);
  const Vec3 shift(real(-0.1, 0.1), real(-0.1, 0.1), real(-0.1, 0.1));
  const distance::DistanceFunction distance = distance::pointwise([&](const Vec3& q) {
    const Vec3 p = q - shift;
    const double r = p.norm();
    const Vec3 u = r > 0 ? Vec3(p / r) : Vec3::UnitX();
    const double a = u.dot(axis), b = u.dot(other);
    const double radius = 0.5 + swell * (1.5 * a * a - 0.5) + bend * (2.5 * b * b * b - 1.5 * b);
    // Slope of the radius: at most |3 swell| + |bend 7.5| per radian, over a radius of not less than a third.
    return (r - radius) / 3;
  });
  const StuffingResult result =
      stuff_isosurface({.distance = distance, .bounds = around({0.9, 0.9, 0.9}), .spacing = 0.13});
  expect_valid(result.mesh);
  expect_published_angles(result.mesh);
  RC_ASSERT(!::testing::Test::HasFailure());
  RC_ASSERT(result.pieces.size() == 1u);
  RC_ASSERT(euler_characteristic(mesh::boundary_surface(result.mesh).surface) == 2);
}

TEST(IsosurfaceStuffing, TwoBallsApartAreTwoPieces)
{
  const distance::DistanceFunction distance = distance::pointwise([](const Vec3& p) {
    return std::min((p - Vec3(0.5, 0, 0)).norm(), (p + Vec3(0.5, 0, 0)).norm()) - 0.45;
  });
  const StuffingResult r =
      stuff_isosurface({.distance = distance, .bounds = around({1, 0.5, 0.5}), .spacing = 0.08});
  expect_valid(r.mesh);
  ASSERT_EQ(r.pieces.size(), 2u);
  EXPECT_GE(r.pieces[0], r.pieces[1]);
}

TEST(IsosurfaceStuffing, SameBitsOnEveryRun)
{
  const Solid torus = solids()[3];
  const auto run = [&] {
    return stuff_isosurface({.distance = torus.distance, .bounds = torus.bounds, .spacing = 0.1});
  };
  const StuffingResult a = run(), b = run();
  EXPECT_EQ(a.mesh.tetrahedra, b.mesh.tetrahedra);
  EXPECT_TRUE(a.mesh.vertices == b.mesh.vertices);
}

TEST(IsosurfaceStuffing, UnitsDoNotMatter)
{
  // Scaling by a power of two scales every number exactly.
  constexpr double kScale = 1.0 / 1024;
  const auto ball = [](double scale) {
    return stuff_isosurface(
        {.distance = distance::pointwise([=](const Vec3& p) { return ball_distance(p, 0.5 * scale); }),
         .bounds = around(Vec3::Constant(0.5 * scale)),
         .spacing = 0.1 * scale});
  };
  const StuffingResult large = ball(1), small = ball(kScale);
  EXPECT_EQ(large.mesh.tetrahedra, small.mesh.tetrahedra);
  for (std::size_t v = 0; v < large.mesh.vertices.size(); ++v) {
    EXPECT_EQ(Vec3(large.mesh.vertices[v] * kScale), small.mesh.vertices[v]);
  }
}

TEST(IsosurfaceStuffing, RejectsInvalidInput)
{
  const auto ball = distance::pointwise([](const Vec3& p) { return ball_distance(p, 0.5); });
  const Box3 box = around({0.5, 0.5, 0.5});
  EXPECT_THROW((void)stuff_isosurface({.distance = {}, .bounds = box, .spacing = 0.1}), Error);
  EXPECT_THROW((void)stuff_isosurface({.distance = ball, .bounds = box, .spacing = 0}), Error);
  EXPECT_THROW((void)stuff_isosurface({.distance = ball, .bounds = box, .spacing = 1e-9}), Error);
  EXPECT_THROW((void)stuff_isosurface({.distance = ball, .bounds = box, .spacing = 0.1, .grading = 4}),
               Error);
  EXPECT_THROW((void)stuff_isosurface({.distance = ball, .bounds = Box3(), .spacing = 0.1}), Error);
  EXPECT_THROW((void)stuff_isosurface({.distance = ball, .bounds = around({0.2, 0.2, 0.2}), .spacing = 0.1}),
               Error);
  const auto broken =
      distance::pointwise([](const Vec3&) { return std::numeric_limits<double>::quiet_NaN(); });
  EXPECT_THROW((void)stuff_isosurface({.distance = broken, .bounds = box, .spacing = 0.1}), Error);
}

TEST(IsosurfaceStuffing, AShapeWithoutInsideGivesAnEmptyMesh)
{
  const auto speck =
      distance::pointwise([](const Vec3& p) { return ball_distance(p - Vec3::Constant(0.123), 0.01); });
  const StuffingResult r =
      stuff_isosurface({.distance = speck, .bounds = around({0.5, 0.5, 0.5}), .spacing = 0.2});
  EXPECT_TRUE(r.mesh.tetrahedra.empty());
  EXPECT_TRUE(r.mesh.vertices.empty());
  EXPECT_TRUE(r.pieces.empty());
}

}  // namespace
}  // namespace thrum::tets
