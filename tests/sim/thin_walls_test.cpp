// SPDX-License-Identifier: MIT
// Small meshes in tubes whose walls are thinner than the cells of their distance field: 1/900 to 1/300 of
// their width. They stay inside, and the width of such a tube is that of its wall.
//
// THRUM_WALL_CASES=40 sets the number of tubes, THRUM_WALL_SEED=1 other ones, THRUM_WALL_CASE=5 runs one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <tuple>

#include "tests/sim/random_cases.h"
#include "tests/sim/world_fixture.h"
#include "tests/support/test_meshes.h"
#include "thrum/base/random.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {
namespace {

using testing::number_in;
using testing::Way;
using testing::way_name;

class ThinTubes : public ::testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(Ways, ThinTubes,
                         ::testing::Values(Way{StepperKind::constraint, TimeOfImpactMethod::continuous},
                                           Way{StepperKind::impulse, TimeOfImpactMethod::continuous},
                                           Way{StepperKind::penalty, TimeOfImpactMethod::continuous},
                                           Way{StepperKind::constraint, TimeOfImpactMethod::bisection},
                                           Way{StepperKind::constraint, TimeOfImpactMethod::conservative},
                                           Way{StepperKind::constraint, TimeOfImpactMethod::timewarp}),
                         way_name);

model::Shape shape_of(mesh::TriangleMesh mesh)
{
  return {model::Mesh{std::make_shared<const mesh::TriangleMesh>(std::move(mesh)), nullptr}};
}

struct Tube {
  double radius = 0;  ///< [m]
  double wall = 0;    ///< [m]
  double half_length = 0;
  int segments = 0;
  model::Shape shape;
};

Tube random_tube(base::Random& random)
{
  Tube tube;
  tube.radius = random.uniform(0.005, 0.1);
  tube.wall = 2 * tube.radius / random.uniform(300, 900);
  tube.half_length = tube.radius * random.uniform(0.3, 3);
  tube.segments = 16 + 8 * static_cast<int>(random.index(5));
  shapes::TubeDesc desc;
  desc.path = {{0, 0, -tube.half_length}, {0, 0, tube.half_length}};
  desc.radius = tube.radius;
  desc.inner_radius = tube.radius - tube.wall;
  desc.segments = tube.segments;
  tube.shape = shape_of(shapes::generate(desc));
  return tube;
}

/// Of a length of about `size`.
mesh::TriangleMesh cone(double size)
{
  mesh::TriangleMesh mesh;
  constexpr int kSides = 12;
  for (int i = 0; i < kSides; ++i) {
    const double angle = 2 * std::numbers::pi * i / kSides;
    mesh.vertices.push_back(size * Vec3(0.5 * std::cos(angle), 0.5 * std::sin(angle), -0.3));
  }
  mesh.vertices.push_back(size * Vec3(0, 0, -0.3));
  mesh.vertices.push_back(size * Vec3(0, 0, 0.6));
  for (int i = 0; i < kSides; ++i) {
    mesh.triangles.push_back({(i + 1) % kSides, i, kSides});
    mesh.triangles.push_back({i, (i + 1) % kSides, kSides + 1});
  }
  return mesh;
}

// The flat faces of a polygon of n sides are nearer to each other than its corners: by cos(pi / n).
TEST(ThinTubeWidths, AreAsWideAsTheirWalls)
{
  for (std::uint64_t i = 14; i < 20; ++i) {
    base::Random random(9, i);
    const Tube tube = random_tube(random);
    const double flat = tube.wall * std::cos(std::numbers::pi / tube.segments);
    EXPECT_NEAR(collision::prepare(tube.shape).width, flat, 0.02 * flat) << "tube " << i;
  }
}

TEST_P(ThinTubes, KeepConesAndToriInside)
{
  constexpr int kSteps = 15;
  const std::uint64_t seed = number_in("THRUM_WALL_SEED", 9);
  const std::uint64_t first = number_in("THRUM_WALL_CASE", 16);
  const std::uint64_t cases = number_in("THRUM_WALL_CASES", 2);
  int left = 0;
  for (std::uint64_t i = first; i < first + cases; ++i) {
    base::Random random(seed, i);
    const Tube tube = random_tube(random);
    WorldDesc desc = testing::desc_without_sleep();
    std::tie(desc.stepper, desc.time_of_impact) = GetParam();
    desc.gravity = Vec3(0, -9.81, 0);
    World world(desc);
    BodyDesc fixed;
    fixed.motion = model::Motion::fixed;
    fixed.shape = world.add_shape(tube.shape);
    world.add_body(fixed);
    const double h = 1 / (i % 2 == 1 ? 30.0 : 60.0);
    const double size = std::min(0.006, 0.3 * tube.radius);
    const model::Shape shape =
        shape_of(i % 3 == 2 ? cone(size) : support::torus_mesh(size / 3, size / 6, 16, 8));
    const Quat turn = Quat(random.normal(), random.normal(), random.normal(), random.normal()).normalized();
    const Vec3 place(0.1 * tube.radius * random.uniform(), 0, 0);
    const model::BodyId body = testing::add(world, shape, place, 0.01, turn);
    const double angle = 2 * std::numbers::pi * random.uniform();
    const double speed = random.uniform(1, 5);
    const Vec3 direction(std::cos(angle), std::sin(angle), 0.02 * random.uniform());
    const double spin = 20 * random.uniform();
    world.set_velocity(body, speed * direction,
                       spin * Vec3(random.normal(), random.normal(), random.normal()));
    for (int k = 0; k < kSteps; ++k) {
      world.step(h);
      const Vec3& x = world.body(body).X_wb.position;
      if (std::abs(x.z()) > tube.half_length - size) break;  // out at an end
      if (std::hypot(x.x(), x.y()) < tube.radius) continue;
      ++left;
      ADD_FAILURE() << "case " << i << " left in step " << k << ": " << size << " m at " << speed
                    << " m/s, tube of " << tube.radius << " m, wall " << tube.wall << " m, h 1/" << 1 / h;
      break;
    }
  }
  EXPECT_EQ(left, 0) << "of " << cases;
}

}  // namespace
}  // namespace thrum::sim
