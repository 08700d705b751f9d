// SPDX-License-Identifier: MIT
// Motions that have a formula.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double g = 9.81;

TEST(ClosedForm, FreeFallIsExact)
{
  World world(desc_without_sleep());
  const model::BodyId ball = add(world, {model::Sphere{0.1}}, {0, 0, 100});
  run(world, 1.0);
  EXPECT_NEAR(world.body(ball).X_wb.position.z(), 100 - 0.5 * g, 1e-9);
}

// A block on a slope of 30 degrees: restitution must not make it bounce [Guendelman03, time integration].
struct Incline {
  World world;
  model::BodyId box;
  Vec3 start;
  Vec3 downhill;
  explicit Incline(double friction) : world(desc_without_sleep())
  {
    world.set_surface(model::kDefaultSurface, {1.0, friction, 0, 0});
    const Quat tilt(Eigen::AngleAxisd(std::numbers::pi / 6, Vec3::UnitY()));
    add_plane(world, tilt);
    start = tilt * Vec3(0, 0, 0.5);
    downhill = tilt * Vec3::UnitX();
    box = add_box(world, Vec3::Constant(0.5), start, 1, tilt);
  }
};

TEST(ClosedForm, ABlockOnAnInclineWithEnoughFrictionRests)
{
  Incline scene(1.0);
  run(scene.world, 2.0);
  EXPECT_LT((scene.world.body(scene.box).X_wb.position - scene.start).norm(), 1e-4);
}

TEST(ClosedForm, ABlockOnAnInclineSlidesByTheFormula)
{
  Incline scene(0.5);
  run(scene.world, 2.0);
  const double a = g * (std::sin(std::numbers::pi / 6) - 0.5 * std::cos(std::numbers::pi / 6));
  const double expected = 0.5 * a * 4;  // 1.314 m
  const double moved = (scene.world.body(scene.box).X_wb.position - scene.start).dot(scene.downhill);
  EXPECT_NEAR(moved, expected, 0.005 * expected);
}

TEST(ClosedForm, AFlatBoxWithRestitutionOneComesBackToItsHeight)
{
  World world(desc_without_sleep());
  world.set_surface(model::kDefaultSurface, {1.0, 0.5, 0, 0});
  add_plane(world);
  const model::BodyId box = add_box(world, Vec3::Constant(0.5), {0, 0, 1.5});
  double peak = 0;
  for (int i = 0; i < 600; ++i) {
    world.step(kStep);
    if (i > 540) peak = std::max(peak, world.body(box).X_wb.position.z() - 0.5);
  }
  EXPECT_NEAR(peak, 1.0, 0.01);
  EXPECT_LT(world.body(box).X_wb.position.head<2>().norm(), 1e-3);
}

TEST(ClosedForm, RestitutionGivesTheHeightOfTheNextBounce)
{
  World world(desc_without_sleep());
  world.set_surface(model::kDefaultSurface, {0.6, 0.5, 0, 0});
  add_plane(world);
  const model::BodyId ball = add(world, {model::Sphere{0.2}}, {0, 0, 1.2});
  double peak = 0;
  for (int i = 0; i < 50; ++i) {
    world.step(kStep);
    if (world.body(ball).velocity.z() > 0) peak = std::max(peak, world.body(ball).X_wb.position.z() - 0.2);
  }
  EXPECT_NEAR(peak, 0.36, 0.01);
}

// A ball thrown along the floor ends rolling at 5/7 of its speed, whatever the friction.
TEST(ClosedForm, ASlidingBallEndsRollingAtFiveSevenths)
{
  World world(desc_without_sleep());
  world.set_surface(model::kDefaultSurface, {0, 0.3, 0, 0});
  add_plane(world);
  const model::BodyId ball = add(world, {model::Sphere{0.25}}, {0, 0, 0.25});
  world.set_velocity(ball, {3, 0, 0}, Vec3::Zero());
  run(world, 2.0);
  EXPECT_NEAR(world.body(ball).velocity.x(), 3 * 5.0 / 7, 0.005 * 3);
  EXPECT_NEAR(world.body(ball).angular_velocity.y() * 0.25, world.body(ball).velocity.x(), 0.01);
}

// Rolling friction of length b slows a rolling ball by 5 g b / (7 r).
TEST(ClosedForm, RollingFrictionSlowsABallEvenly)
{
  World world(desc_without_sleep());
  world.set_surface(model::kDefaultSurface, {0, 0.8, 0.005, 0});
  add_plane(world);
  const model::BodyId ball = add(world, {model::Sphere{0.25}}, {0, 0, 0.25});
  world.set_velocity(ball, {2, 0, 0}, {0, 8, 0});
  run(world, 1.0);
  EXPECT_NEAR(world.body(ball).velocity.x(), 2 - 5 * g * 0.005 / (7 * 0.25), 0.01);
}

TEST(ClosedForm, SpinningFrictionStopsATop)
{
  World world(desc_without_sleep());
  world.set_surface(model::kDefaultSurface, {0, 0.5, 0, 0.01});
  add_plane(world);
  const model::BodyId ball = add(world, {model::Sphere{0.25}}, {0, 0, 0.25});
  world.set_velocity(ball, Vec3::Zero(), {0, 0, 5});
  run(world, 0.5);
  const double slowing = g * 0.01 / (0.4 * 0.25 * 0.25);  // torque over inertia
  EXPECT_NEAR(world.body(ball).angular_velocity.z(), 5 - 0.5 * slowing, 0.05);
}

// Two balls head on without gravity: momentum stays, and they part with restitution times the speed of
// approach.
TEST(ClosedForm, TwoBallsPartWithRestitutionTimesTheirSpeedOfApproach)
{
  for (const double e : {0.0, 0.5, 1.0}) {
    WorldDesc desc = desc_without_sleep();
    desc.gravity = Vec3::Zero();
    World world(desc);
    world.set_surface(model::kDefaultSurface, {e, 0, 0, 0});
    const model::BodyId a = add(world, {model::Sphere{0.2}}, {-1, 0, 0}, 1);
    const model::BodyId b = add(world, {model::Sphere{0.2}}, {1, 0, 0}, 3);
    world.set_velocity(a, {2, 0, 0}, Vec3::Zero());
    world.set_velocity(b, {-1, 0, 0}, Vec3::Zero());
    const Vec3 before = world.momentum();
    run(world, 1.0);
    EXPECT_NEAR((world.momentum() - before).norm(), 0, 1e-9);
    EXPECT_NEAR(world.body(b).velocity.x() - world.body(a).velocity.x(), 3 * e, 1e-6) << "restitution " << e;
  }
}

TEST(ClosedForm, TheImpulseOfAnImpactIsReported)
{
  WorldDesc desc = desc_without_sleep();
  desc.gravity = Vec3::Zero();
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0.5, 0, 0, 0});
  add_plane(world);
  const model::BodyId ball = add(world, {model::Sphere{0.2}}, {0, 0, 0.5}, 2);
  world.set_velocity(ball, {0, 0, -1}, Vec3::Zero());
  double impulse = 0;
  int hits = 0;
  for (int i = 0; i < 60; ++i) {
    world.step(kStep);
    for (const model::Contact& contact : world.contacts()) impulse += contact.normal_impulse;
    for (const model::ContactEvent& event : world.events())
      hits += event.kind == model::ContactEventKind::hit;
  }
  EXPECT_NEAR(impulse, 2 * 1.5, 1e-6);  // m (1 + e) v
  EXPECT_EQ(hits, 1);
}

// Held over the whole step, whatever it is cut into: v = F h / m for each step.
TEST(ClosedForms, AForceActsOverAllSlicesOfAStep)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const int slices : {1, 2, 8}) {
      WorldDesc desc = desc_without_sleep();
      desc.stepper = stepper;
      desc.gravity = Vec3::Zero();
      desc.max_slices = slices;
      desc.max_move = 1e-3;
      World world(desc);
      // It slides without friction: bodies in contact cut the step.
      world.set_surface(model::kDefaultSurface, {0, 0, 0, 0});
      add_plane(world);
      const model::BodyId box = add_box(world, Vec3::Constant(0.1), {0, 0, 0.1}, 2);
      world.set_velocity(box, {6, 0, 0}, Vec3::Zero());
      for (int i = 0; i < 30; ++i) {
        world.apply_force(box, {3, 0, 0}, world.body(box).X_wb.position);
        world.step(kStep);
      }
      EXPECT_NEAR(world.body(box).velocity.x(), 6 + 30 * kStep * 3 / 2, 1e-6) << slices;
    }
  }
}

}  // namespace
}  // namespace thrum::sim
