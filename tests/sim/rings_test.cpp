// SPDX-License-Identifier: MIT
// Rings as meshes: they come to rest, stay linked when they are, and do not become linked when they are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>

#include "tests/sim/linked_circles.h"
#include "tests/sim/parameter_names.h"
#include "thrum/shapes/shapes.h"
#include "thrum/sim/world.h"

namespace thrum::sim {
namespace {

constexpr double kStep = 1.0 / 60;
constexpr double kMajor = 0.5;
constexpr double kMinor = 0.15;
/// Overlap that a pile may have when it has come to rest [m].
constexpr double kDeepest = 0.03;
constexpr double kPi = std::numbers::pi;

model::Shape ring()
{
  shapes::TorusDesc desc;
  desc.major_segments = 25;
  desc.minor_segments = 10;
  return {model::Mesh{std::make_shared<mesh::TriangleMesh>(shapes::generate(desc)), nullptr}};
}

model::BodyId add(World& world, model::ShapeId shape, const Pose& X_ws, bool fixed = false)
{
  BodyDesc spec;
  spec.shape = shape;
  spec.X_ws = X_ws;
  if (fixed) spec.motion = model::Motion::fixed;
  return world.add_body(spec);
}

World quiet_world(StepperKind stepper)
{
  WorldDesc desc;
  desc.stepper = stepper;
  desc.sleep.enabled = false;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, 0.5, 0, 0});
  return world;
}

class Rings : public ::testing::TestWithParam<StepperKind> {};
INSTANTIATE_TEST_SUITE_P(Steppers, Rings, ::testing::Values(StepperKind::constraint, StepperKind::impulse),
                         testing::stepper_name);

TEST_P(Rings, OneSettlesOnAPlane)
{
  World world = quiet_world(GetParam());
  add(world, world.add_shape({model::Plane{}}), Pose{}, true);
  const model::BodyId body =
      add(world, world.add_shape(ring()), {{0, 0, 0.8}, Quat(Eigen::AngleAxisd(0.3, Vec3::UnitX()))});
  for (int i = 0; i < 240; ++i) world.step(kStep);
  EXPECT_LT(world.kinetic_energy(), 1e-3);
  EXPECT_NEAR(world.body(body).X_wb.position.z(), kMinor, 0.01);
}

TEST_P(Rings, OneThatLiesOnAnotherByTwoPointsIsNotSpunUpByFriction)
{
  World world = quiet_world(GetParam());
  const model::ShapeId shape = world.add_shape(ring());
  add(world, shape, {{0, 0, 0}, Quat(Eigen::AngleAxisd(-0.2, Vec3::UnitX()))}, true);
  const model::BodyId body = add(world, shape, {{0.2, 0, 0.4}, Quat::Identity()});
  for (int i = 0; i < 60; ++i) world.step(kStep);
  // From here on it rocks at most: what energy it can have is the height that it can lose.
  const double start = world.kinetic_energy() + world.potential_energy();
  for (int i = 0; i < 180; ++i) {
    world.step(kStep);
    ASSERT_LT(world.kinetic_energy() + world.potential_energy(), start + 1.0) << "step " << i;
  }
  EXPECT_LT(std::abs(world.body(body).angular_velocity.z()), 0.5);
}

TEST_P(Rings, OneFallsOverAPoleAndStaysThere)
{
  World world = quiet_world(GetParam());
  add(world, world.add_shape({model::Plane{}}), Pose{}, true);
  add(world, world.add_shape({model::Cylinder{0.1, 1.0}}), {{0, 0, 1}, Quat::Identity()}, true);
  const model::BodyId body =
      add(world, world.add_shape(ring()), {{0.15, 0, 2.5}, Quat(Eigen::AngleAxisd(0.2, Vec3::UnitY()))});
  for (int i = 0; i < 300; ++i) world.step(kStep);
  const Vec3 p = world.body(body).X_wb.position;
  EXPECT_LT(world.kinetic_energy(), 1e-2);
  EXPECT_LT(std::hypot(p.x(), p.y()), kMajor - kMinor);
  EXPECT_NEAR(p.z(), kMinor, 0.02);
}

TEST_P(Rings, AChainThatSwingsStaysLinked)
{
  World world = quiet_world(GetParam());
  const model::ShapeId shape = world.add_shape(ring());
  constexpr int kRings = 6;
  for (int i = 0; i < kRings; ++i) {
    // Held out straight and let go; every second ring stands on edge.
    const Quat upright(Eigen::AngleAxisd(i % 2 == 0 ? kPi / 2 : 0.0, Vec3::UnitX()));
    add(world, shape, {{0.69 * i, 0, 0}, upright}, i == 0);
  }
  double energy = world.kinetic_energy() + world.potential_energy();
  const double scale = std::abs(world.model().bodies[1].mass * 9.81 * kMajor);
  for (int i = 0; i < 300; ++i) {
    world.step(kStep);
    for (model::BodyIndex k = 0; k + 1 < kRings; ++k) {
      const Pose a = world.shape_pose(world.id_of(k));
      const Pose b = world.shape_pose(world.id_of(k + 1));
      ASSERT_TRUE(test::are_linked(a, b, kMajor)) << "step " << i;
      ASSERT_LT(2 * kMinor - test::distance_of_circles(a, b, kMajor), kDeepest) << "step " << i;
    }
    const double now = world.kinetic_energy() + world.potential_energy();
    ASSERT_LT(now, energy + 1e-2 * scale) << "step " << i;
    energy = std::min(energy, now);
  }
}

// The smooth surface of a round mesh bulges beyond its corners, here by 7 mm: boxes around the corners of
// rings that lie flat on each other do not overlap.
TEST_P(Rings, FlatOnesOnEachOtherStayInContact)
{
  WorldDesc desc;
  desc.sleep.enabled = false;
  desc.broad_phase.looseness = 0;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, 0.5, 0, 0});
  add(world, world.add_shape({model::Plane{}}), Pose{}, true);
  const model::ShapeId shape = world.add_shape(ring());
  for (int i = 0; i < 3; ++i) add(world, shape, {{0.02 * i, 0, 0.15 + 0.31 * i}, Quat::Identity()});
  for (int i = 0; i < 120; ++i) world.step(kStep);
  // A step without contact would give a ring half m (g h)^2.
  const double fall = 9.81 * kStep;
  const double missed = 0.5 * world.model().bodies[1].mass * fall * fall;
  for (int i = 0; i < 30; ++i) {
    world.step(kStep);
    ASSERT_LT(world.kinetic_energy(), 0.1 * missed) << "step " << i;
  }
}

// A ring that comes down on one side slaps down with the other, where its distance from the ground is least
// only at the end: found there alone it sank in by up to 44 mm. Ahead of it, what would be deeper than 2 % of
// its thickness of 0.3 m is found.
TEST_P(Rings, OneThatSlapsDownDoesNotSinkIn)
{
  for (const double h : {1.0 / 30, 1.0 / 60, 1.0 / 144}) {
    for (const double spin : {6.0, 12.0}) {
      for (const double tilt : {0.2, 0.4, 0.6, 0.8}) {
        World world = quiet_world(GetParam());
        add(world, world.add_shape({model::Plane{}}), Pose{}, true);
        const double height = kMinor + kMajor * std::sin(tilt) + 0.01;
        const model::BodyId body = add(world, world.add_shape(ring()),
                                       {{0.05, 0, height}, Quat(Eigen::AngleAxisd(tilt, Vec3::UnitX()))});
        world.set_velocity(body, {0, 0, -spin * kMajor}, {-spin, 0, 0});
        double worst = 0;
        for (int i = 0; i < std::lround(0.5 / h); ++i) {
          world.step(h);
          for (const model::ContactPatch& patch : world.state().patches)
            for (const model::ContactPoint& point : patch.active()) worst = std::max(worst, point.depth);
        }
        EXPECT_LT(worst, 0.007) << "step " << h << ", spin " << spin << ", tilt " << tilt;
      }
    }
  }
}

TEST_P(Rings, AStackComesToRest)
{
  World world = quiet_world(GetParam());
  add(world, world.add_shape({model::Plane{}}), Pose{}, true);
  const model::ShapeId shape = world.add_shape(ring());
  // Not above each other and tilted, so that they touch by crossing tubes.
  for (int i = 0; i < 4; ++i) {
    add(world, shape,
        {{0.2 * (i % 2), 0.15 * (i / 2 % 2), 0.25 + 0.5 * i},
         Quat(Eigen::AngleAxisd(0.2 * (i % 3 - 1), Vec3::UnitX()))});
  }
  for (int i = 0; i < 240; ++i) world.step(kStep);
  EXPECT_LT(world.kinetic_energy(), 1e-3);
  for (model::BodyIndex i = 1; i < 4; ++i) {
    const double gap = test::distance_of_circles(world.shape_pose(world.id_of(i)),
                                                 world.shape_pose(world.id_of(i + 1)), kMajor) -
                       2 * kMinor;
    EXPECT_NEAR(gap, 0, 0.003);
  }
}

TEST_P(Rings, APileInABoxHasNoLinkedPair)
{
  World world = quiet_world(GetParam());
  // Without it nothing stops a ring that rolls.
  world.set_surface(model::kDefaultSurface, {0, 0.5, 0.005, 0.005});
  add(world, world.add_shape({model::Plane{}}), Pose{}, true);
  const model::ShapeId wall = world.add_shape({model::Box{{0.5, 3, 5}}});
  for (int k = 0; k < 4; ++k) {
    const Quat turned(Eigen::AngleAxisd(k * kPi / 2, Vec3::UnitZ()));
    add(world, wall, {turned * Vec3(1.7, 0, 5), turned}, true);
  }
  const model::ShapeId shape = world.add_shape(ring());
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<model::BodyId> rings;
  for (int i = 0; i < 20; ++i) {
    const Vec3 axis(uniform(random), uniform(random), 0.1);
    rings.push_back(add(world, shape,
                        {{0.4 * uniform(random), 0.4 * uniform(random), 0.6 + 0.8 * i},
                         Quat(Eigen::AngleAxisd(0.3 * uniform(random), axis.normalized()))}));
  }
  double energy = world.kinetic_energy() + world.potential_energy();
  const double scale = energy;
  for (int i = 0; i < 420; ++i) {
    world.step(kStep);
    const double now = world.kinetic_energy() + world.potential_energy();
    ASSERT_LT(now, energy + 1e-3 * scale) << "step " << i;
    energy = std::min(energy, now);
  }
  EXPECT_LT(world.kinetic_energy(), 0.01);
  // The facets of a tube of ten sides lie up to r (1 - cos 18 degrees) = 7.3 mm inside the round one, on
  // either ring.
  const double facets = 2 * kMinor * (1 - std::cos(kPi / 10));
  for (std::size_t i = 0; i < rings.size(); ++i) {
    for (std::size_t j = i + 1; j < rings.size(); ++j) {
      const Pose a = world.shape_pose(rings[i]);
      const Pose b = world.shape_pose(rings[j]);
      EXPECT_FALSE(test::are_linked(a, b, kMajor)) << i << " " << j;
      EXPECT_LT(2 * kMinor - test::distance_of_circles(a, b, kMajor), kDeepest + facets) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace thrum::sim
