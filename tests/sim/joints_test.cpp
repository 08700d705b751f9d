// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

const model::Shape kSmallBall{model::Sphere{0.05}};

// A small swing of a point mass on a rod: period 2 pi sqrt(l / g).
TEST(Joint, APendulumSwingsWithTheKnownPeriodAndLength)
{
  World world(awake());
  const double angle = 0.1;
  const Vec3 start(std::sin(angle), 0, -std::cos(angle));
  const model::BodyId bob = add(world, kSmallBall, start);
  model::JointDesc joint;
  joint.kind = model::JointKind::distance;
  joint.a = bob;
  joint.length = 1;
  world.add_joint(joint);
  const double period = 2 * std::numbers::pi * std::sqrt(1 / 9.81);
  double crossed = -1;
  double last = start.x();
  double time = 0;
  while (time < 2 && crossed < 0) {
    world.step(kStep);
    time += kStep;
    const double x = world.body(bob).X_wb.position.x();
    if (last > 0 && x <= 0) crossed = time - kStep * x / (x - last);
    last = x;
  }
  EXPECT_NEAR(crossed, period / 4, 0.01 * period);
  run(world, 2);
  EXPECT_NEAR(world.body(bob).X_wb.position.norm(), 1, 1e-3);
}

TEST(Joint, ABallJointChainHoldsTogether)
{
  World world(awake());
  model::BodyId above = model::kNone;
  std::vector<model::BodyId> links;
  for (int i = 0; i < 6; ++i) {
    const model::BodyId link = add_box(world, {0.2, 0.05, 0.05}, {0.2 + 0.4 * i, 0, 0});
    model::JointDesc joint;
    joint.kind = model::JointKind::ball;
    joint.a = link;
    joint.X_aj.position = {-0.2, 0, 0};
    joint.b = above;
    joint.X_bj.position = above == model::kNone ? Vec3(0, 0, 0) : Vec3(0.2, 0, 0);
    world.add_joint(joint);
    links.push_back(link);
    above = link;
  }
  run(world, 3);
  Vec3 end = Vec3::Zero();
  for (const model::BodyId link : links) {
    EXPECT_LT((world.body(link).X_wb.point({-0.2, 0, 0}) - end).norm(), 0.01);
    end = world.body(link).X_wb.point({0.2, 0, 0});
  }
}

TEST(Joint, AHingeTurnsAboutItsAxisOnlyAndItsMotorReachesItsSpeed)
{
  World world(awake());
  const model::BodyId wheel = add(world, {model::Cylinder{0.3, 0.05}}, {0, 0, 1});
  model::JointDesc joint;
  joint.kind = model::JointKind::hinge;
  joint.a = wheel;
  joint.X_bj.position = {0, 0, 1};
  joint.motor = {true, -4.0, 100.0};  // b is the world: the wheel turns the other way
  world.add_joint(joint);
  run(world, 1);
  EXPECT_NEAR(world.body(wheel).angular_velocity.z(), 4, 1e-3);
  EXPECT_NEAR(world.body(wheel).angular_velocity.head<2>().norm(), 0, 1e-3);
  EXPECT_NEAR((world.body(wheel).X_wb.position - Vec3(0, 0, 1)).norm(), 0, 1e-3);
}

TEST(Joint, ASliderStopsAtItsLimit)
{
  World world(awake());
  const model::BodyId box = add_box(world, Vec3::Constant(0.1), {0, 0, 0});
  model::JointDesc joint;
  joint.kind = model::JointKind::slider;
  joint.a = box;
  joint.limited = true;
  joint.limits = {-1.0, 0.5};  // of b, the world, against the box: the box may fall 0.5 m
  world.add_joint(joint);
  run(world, 2);
  EXPECT_NEAR(world.body(box).X_wb.position.z(), -0.5, 2e-3);
  EXPECT_NEAR(world.body(box).X_wb.position.head<2>().norm(), 0, 1e-6);
}

TEST(Joint, ASpringHangsAtItsStaticLength)
{
  World world(awake());
  const model::BodyId bob = add(world, kSmallBall, {0, 0, -1}, 2);
  model::JointDesc joint;
  joint.kind = model::JointKind::spring;
  joint.a = bob;
  joint.length = 1;
  joint.stiffness = 200;
  joint.damping = 20;
  world.add_joint(joint);
  run(world, 5);
  EXPECT_NEAR(world.body(bob).X_wb.position.z(), -1 - 2 * 9.81 / 200, 1e-3);
}

TEST(Joint, AFixedJointCarriesABeam)
{
  World world(awake());
  const model::BodyId beam = add_box(world, {0.5, 0.05, 0.05}, {0.5, 0, 0});
  model::JointDesc joint;
  joint.kind = model::JointKind::fixed;
  joint.a = beam;
  joint.X_aj.position = {-0.5, 0, 0};
  world.add_joint(joint);
  run(world, 2);
  EXPECT_LT((world.body(beam).X_wb.position - Vec3(0.5, 0, 0)).norm(), 2e-3);
  // The joint carries the weight: on the world it pulls down by m g h each step.
  EXPECT_NEAR(world.state().joints[0].impulse.z(), -9.81 * kStep, 0.02 * 9.81 * kStep);
}

}  // namespace
}  // namespace thrum::sim
