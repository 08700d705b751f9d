// SPDX-License-Identifier: MIT
// What bodies meet that are struck within a step: pairs that were too far apart, and too slow, to be found at
// its start.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/sim/parameter_names.h"
#include "tests/sim/world_fixture.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double kSteps[] = {1.0 / 25, 1.0 / 60, 1.0 / 144, 1.0 / 333};

class Struck : public ::testing::TestWithParam<StepperKind> {
 protected:
  [[nodiscard]] static World make_world(const Vec3& gravity = Vec3::Zero())
  {
    WorldDesc desc = desc_without_sleep();
    desc.stepper = GetParam();
    desc.gravity = gravity;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {0, 0.3, 0, 0});
    return world;
  }
};
INSTANTIATE_TEST_SUITE_P(Steppers, Struck, ::testing::Values(StepperKind::constraint, StepperKind::impulse),
                         testing::stepper_name);

// How deep a body that is struck from above gets into the floor [m].
struct Blow {
  model::Shape floor;
  model::Shape shape;  ///< of 0.2 m in height
  double gap = 0;      ///< between the two [m]
  double speed = 0;    ///< of what strikes it, which has ten times its mass [m/s]
  double h = kStep;    ///< [s]
};

double deepest(World world, const Blow& blow)
{
  BodyDesc floor;
  floor.shape = world.add_shape(blow.floor);
  floor.X_ws.position = {0, 0, blow.floor.kind() == model::ShapeKind::plane ? 0.0 : -1.0};
  floor.motion = model::Motion::fixed;
  world.add_body(floor);
  const model::BodyId body = add(world, blow.shape, {0, 0, 0.1 + blow.gap});
  const model::BodyId striker = add_box(world, {0.5, 0.5, 0.3}, {0, 0, 0.501 + blow.gap}, 10);
  world.set_velocity(striker, {0, 0, -blow.speed}, Vec3::Zero());
  double depth = 0;
  for (double t = 0; t < 0.2; t += blow.h) {
    world.step(blow.h);
    depth = std::max(depth, 0.1 - world.body(body).X_wb.position.z());
  }
  return depth;
}

// A heavy body that lands on a light one presses it into the floor for a step or two, because sweeps over the
// contacts do not find the whole impulse at once. This is the same whether the light one lay on the floor or
// above it.
TEST_P(Struck, WhatLiesAboveTheFloorGoesNoDeeperThanWhatLiesOnIt)
{
  shapes::TorusDesc torus;
  torus.major_radius = 0.3;
  torus.minor_radius = 0.1;
  torus.major_segments = 25;
  torus.minor_segments = 10;
  const auto ring = std::make_shared<mesh::TriangleMesh>(shapes::generate(torus));
  const model::Shape bodies[] = {
      {model::Box{{0.3, 0.3, 0.1}}}, {model::Sphere{0.1}}, {model::Mesh{ring, nullptr}}};
  const model::Shape floors[] = {{model::Plane{}}, {model::Box{{2, 2, 1}}}};
  for (const double h : kSteps) {
    for (const double speed : {2.0, 6.0}) {
      for (const model::Shape& shape : bodies) {
        for (const model::Shape& floor : floors) {
          // Worlds with a mesh take longest to make.
          if (shape.kind() == model::ShapeKind::mesh && (speed < 6 || h > 1.0 / 50)) continue;
          const double seen = deepest(make_world(), {floor, shape, 0, speed, h});
          for (const double gap : {0.002, 0.01, 0.03}) {
            // A hundredth of the body is not looked at.
            EXPECT_LT(deepest(make_world(), {floor, shape, gap, speed, h}), 1.5 * seen + 0.0025)
                << "h " << h << ", gap " << gap << ", speed " << speed << ", shape " << shape.geometry.index()
                << ", floor " << floor.geometry.index();
          }
        }
      }
    }
  }
}

// A row of boxes with gaps, the first of which is struck: no two overlap, no momentum is lost, no energy won.
TEST_P(Struck, ABlowIsHandedOnAlongARow)
{
  constexpr double kHalf = 0.1;
  for (const double h : kSteps) {
    World world = make_world();
    std::vector<model::BodyId> row;
    row.push_back(add_box(world, Vec3::Constant(kHalf), {-0.201, 0, 0}, 20));
    for (int i = 0; i < 3; ++i) row.push_back(add_box(world, Vec3::Constant(kHalf), {0.205 * i, 0, 0}));
    world.set_velocity(row.front(), {2, 0, 0}, Vec3::Zero());
    double before = world.kinetic_energy();
    double overlap = 0;
    for (double t = 0; t < 0.3; t += h) {
      world.step(h);
      for (std::size_t i = 1; i < row.size(); ++i) {
        const double distance =
            world.body(row[i]).X_wb.position.x() - world.body(row[i - 1]).X_wb.position.x();
        overlap = std::max(overlap, 2 * kHalf - distance);
      }
      EXPECT_LT(world.kinetic_energy(), before * (1 + 1e-6));
      before = world.kinetic_energy();
    }
    double momentum = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
      momentum += (i == 0 ? 20 : 1) * world.body(row[i]).velocity.x();
    EXPECT_NEAR(momentum, 40, 1e-6) << "h " << h;
    // What is not seen may go as far as the first box in a step, 6 to 80 mm.
    EXPECT_LT(overlap, 0.005) << "h " << h;
  }
}

// Nothing is solved again where nothing is struck.
TEST_P(Struck, RestingBodiesAreSolvedOnce)
{
  World world = make_world({0, 0, -9.81});
  add_plane(world);
  for (int i = 0; i < 5; ++i) (void)add_box(world, Vec3::Constant(0.2), {0, 0, 0.2 + 0.4 * i});
  run(world, 1);
  EXPECT_EQ(world.impact_counts().undone_slices, 0U);
}

}  // namespace
}  // namespace thrum::sim
