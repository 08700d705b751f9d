// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "benchmarks/rigid/textbook.h"
#include "tests/sim/world_fixture.h"
#include "thrum/base/index.h"
#include "thrum/shapes/shapes.h"

namespace thrum::bench {

namespace {

using sim::World;
using sim::testing::add;
using sim::testing::add_box;
using sim::testing::add_plane;

constexpr double g = 9.81;
constexpr double kMajor = 0.4;
constexpr double kMinor = 0.1;
constexpr double kSlope = 10 * std::numbers::pi / 180;
constexpr double kTime = 3;
constexpr double kSquareGyration = kMajor * kMajor + 0.75 * kMinor * kMinor;  ///< about its axis [m^2]

}  // namespace

double way_of_rolling_mesh(int vertices, const sim::WorldDesc& desc, double h)
{
  shapes::TorusDesc torus;
  torus.major_radius = kMajor;
  torus.minor_radius = kMinor;
  torus.major_segments = vertices;
  torus.minor_segments = 24;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, 0.8, 0, 0});
  const Quat slope(Eigen::AngleAxisd(kSlope, Vec3::UnitY()));
  add_plane(world, slope);
  const Vec3 start = slope * Vec3(0, 0, kMajor + kMinor);
  const auto wheel =
      add(world, {model::Mesh{std::make_shared<mesh::TriangleMesh>(shapes::generate(torus)), nullptr}}, start,
          1, slope * Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX())));
  sim::testing::run(world, kTime, h);
  return (world.body(wheel).X_wb.position - start).dot(slope * Vec3::UnitX());
}

// About the vertex that it stands on it tips over with w' = g R sin(angle) / (i^2 + R^2); when the next one
// lands, w falls by the factor (i^2 + R^2 cos(2 pi / N)) / (i^2 + R^2).
double way_of_rolling_polygon(int vertices)
{
  const double radius = kMajor + kMinor;
  const double turn = 2 * std::numbers::pi / vertices;
  const double square = kSquareGyration + radius * radius;
  constexpr double dt = 1e-5;
  double angle = 0;
  double w = 0;
  double way = 0;
  for (double t = 0; t < kTime; t += dt) {
    w += dt * g * radius * std::sin(angle + kSlope) / square;
    angle += dt * w;
    if (angle < turn / 2) continue;
    angle -= turn;
    w *= (kSquareGyration + radius * radius * std::cos(turn)) / square;
    way += 2 * radius * std::sin(turn / 2);
  }
  return way + radius * std::sin(angle);
}

// Between the fifth domino and the last but one, by the times at which each has fallen by 0.3 rad, between
// steps by a straight line.
double speed_of_dominoes(const sim::WorldDesc& desc, double h)
{
  constexpr int kCount = 14;
  constexpr double kSpacing = 0.025;
  constexpr double kFallen = 0.3;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0.1, 0.4, 0, 0});
  add_plane(world);
  std::vector<model::BodyId> row;
  for (int i = 0; i < kCount; ++i)
    row.push_back(add_box(world, {0.00375, 0.012, 0.024}, {kSpacing * i, 0, 0.024}, 0.006));
  world.set_velocity(row.front(), {0.15, 0, 0}, {0, 6, 0});
  std::vector<double> before(kCount, 0);
  std::vector<double> fell(kCount, 0);
  for (int step = 1; fell[kCount - 2] == 0 && step * h < 3; ++step) {
    world.step(h);
    for (int i = 0; i < kCount; ++i) {
      const Vec3 up = world.body(row[at(i)]).X_wb.rotation * Vec3::UnitZ();
      const double now = std::acos(std::min(1.0, up.z()));
      if (fell[at(i)] == 0 && now > kFallen)
        fell[at(i)] = h * (step - (now - kFallen) / (now - before[at(i)]));
      before[at(i)] = now;
    }
  }
  return kSpacing * (kCount - 2 - 4) / (fell[kCount - 2] - fell[4]);
}

RolledSphere roll_over_triangles(const sim::WorldDesc& desc, double h)
{
  constexpr Index kCells = 53;
  constexpr double kSize = 20;
  constexpr double kRadius = 0.25;
  mesh::TriangleMesh floor;
  for (Index j = 0; j <= kCells; ++j) {
    for (Index i = 0; i <= kCells; ++i) {
      floor.vertices.push_back({kSize * (i / double{kCells} - 0.5), kSize * (j / double{kCells} - 0.5), 0});
      if (i == kCells || j == kCells) continue;
      const Index a = j * (kCells + 1) + i;
      floor.triangles.push_back({a, a + 1, a + kCells + 2});
      floor.triangles.push_back({a, a + kCells + 2, a + kCells + 1});
    }
  }
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, 0.3, 0, 0});
  sim::BodyDesc ground;
  ground.shape = world.add_shape({model::Mesh{std::make_shared<mesh::TriangleMesh>(floor), nullptr}});
  ground.motion = model::Motion::fixed;
  world.add_body(ground);
  const Vec3 start(-4.013, -5.027, kRadius);
  const auto ball = add(world, {model::Sphere{kRadius}}, start);
  const Vec3 velocity = Quat(Eigen::AngleAxisd(0.3, Vec3::UnitZ())) * Vec3(3, 0, 0);
  world.set_velocity(ball, velocity, Vec3::UnitZ().cross(velocity) / kRadius);
  RolledSphere result;
  const int steps = static_cast<int>(std::lround(1 / h));
  for (int i = 0; i < steps; ++i) {
    world.step(h);
    const Vec3 moved = world.body(ball).X_wb.position - start;
    result.hop = std::max(result.hop, std::abs(moved.z()));
    result.speed = moved.norm() / ((i + 1) * h);
  }
  return result;
}

}  // namespace thrum::bench
