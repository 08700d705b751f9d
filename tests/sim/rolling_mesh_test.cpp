// SPDX-License-Identifier: MIT
// A mesh is what its facets are: a wheel of N vertices rolls as a polygon, which loses speed at every vertex.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "tests/sim/world_fixture.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double kMajor = 0.4;
constexpr double kMinor = 0.1;
constexpr double kSlope = 10 * std::numbers::pi / 180;
constexpr double kTime = 3;
constexpr double kSquareGyration =
    kMajor * kMajor + 0.75 * kMinor * kMinor;  ///< of a torus about its axis [m^2]

// About the vertex that it stands on, a polygon tips over with w' = g R sin(angle) / (i^2 + R^2). When the
// next vertex lands, without slip and restitution, angular momentum about it is kept: w falls by the factor
// (i^2 + R^2 cos(2 pi / N)) / (i^2 + R^2).
double way_of_polygon(int vertices)
{
  const double radius = kMajor + kMinor;
  const double turn = 2 * std::numbers::pi / vertices;
  const double square = kSquareGyration + radius * radius;
  constexpr double dt = 1e-5;
  double angle = 0;
  double w = 0;
  double way = 0;
  for (double t = 0; t < kTime; t += dt) {
    w += dt * 9.81 * radius * std::sin(angle + kSlope) / square;
    angle += dt * w;
    if (angle < turn / 2) continue;
    angle -= turn;
    w *= (kSquareGyration + radius * radius * std::cos(turn)) / square;
    way += 2 * radius * std::sin(turn / 2);
  }
  return way + radius * std::sin(angle);
}

double way_of_mesh(int vertices, StepperKind stepper, double h)
{
  shapes::TorusDesc torus;
  torus.major_radius = kMajor;
  torus.minor_radius = kMinor;
  torus.major_segments = vertices;
  torus.minor_segments = 24;
  WorldDesc desc = desc_without_sleep();
  desc.stepper = stepper;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, 0.8, 0, 0});
  const Quat slope(Eigen::AngleAxisd(kSlope, Vec3::UnitY()));
  add_plane(world, slope);
  const Vec3 start = slope * Vec3(0, 0, kMajor + kMinor);
  const auto wheel =
      add(world, {model::Mesh{std::make_shared<mesh::TriangleMesh>(shapes::generate(torus)), nullptr}}, start,
          1, slope * Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX())));
  run(world, kTime, h);
  return (world.body(wheel).X_wb.position - start).dot(slope * Vec3::UnitX());
}

TEST(RollingMesh, ATorusMeshRollsAsAPolygon)
{
  // A smooth torus would come 4.59 m far, the polygon of 48 vertices 4.15 m.
  const double smooth =
      0.5 * 9.81 * std::sin(kSlope) / (1 + kSquareGyration / std::pow(kMajor + kMinor, 2)) * kTime * kTime;
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const double h : {1.0 / 25, 1.0 / 60, 1.0 / 144, 1.0 / 333}) {
      SCOPED_TRACE(::testing::Message() << (stepper == StepperKind::constraint ? "constraint" : "impulse")
                                        << ", 1/" << std::lround(1 / h) << " s");
      // A step in which half a facet passes by sees only some of the vertices: 3.3 cm at 2.8 m/s.
      const double expected = way_of_polygon(48);
      EXPECT_NEAR(way_of_mesh(48, stepper, h), expected, (0.01 + 1.5 * h) * expected);
    }
    EXPECT_NEAR(way_of_mesh(192, stepper, 1.0 / 333), way_of_polygon(192), 0.01 * smooth);
  }
  EXPECT_NEAR(way_of_polygon(3000), smooth, 0.005 * smooth);
}

}  // namespace
}  // namespace thrum::sim
