// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
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
  World world(desc_without_sleep());
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

constexpr std::array kSteppers{StepperKind::constraint, StepperKind::impulse, StepperKind::penalty,
                               StepperKind::flexible};

// A pendulum comes back to its height swing after swing: a ball on a rod or on a rope (a distance with an
// upper limit), a bar in a ball joint or in a hinge.
enum class Hung { rod, rope, ball, hinge };

constexpr double kPendulum = 0.5;       // from the support to the centre of mass [m]
constexpr double kPendulumAngle = 1.2;  // from the vertical [rad]

model::BodyId hang(World& world, Hung how)
{
  model::JointDesc joint;
  const Vec3 start = kPendulum * Vec3(std::sin(kPendulumAngle), 0, -std::cos(kPendulumAngle));
  if (how == Hung::rod || how == Hung::rope) {
    joint.a = add(world, kSmallBall, start);
    joint.kind = model::JointKind::distance;
    joint.length = kPendulum;
    joint.limited = how == Hung::rope;
    if (joint.limited) joint.limits.upper = kPendulum;
  } else {
    // The bar's x points away from the support. A hinge turns about z of its frames: here y of the world.
    const Quat rotation(Eigen::AngleAxisd(0.5 * std::numbers::pi - kPendulumAngle, Vec3::UnitY()));
    const Quat z_to_y(Eigen::AngleAxisd(-0.5 * std::numbers::pi, Vec3::UnitX()));
    joint.a = add_box(world, {kPendulum, 0.02, 0.02}, start, 1, rotation);
    joint.kind = how == Hung::ball ? model::JointKind::ball : model::JointKind::hinge;
    joint.X_aj = {{-kPendulum, 0, 0}, z_to_y};
    joint.X_bj.rotation = z_to_y;
  }
  world.add_joint(joint);
  return joint.a;
}

TEST(Joint, APendulumKeepsItsHeight)
{
  for (const StepperKind stepper : kSteppers) {
    for (const Hung how : {Hung::rod, Hung::rope, Hung::ball, Hung::hinge}) {
      WorldDesc desc = desc_without_sleep();
      desc.stepper = stepper;
      World world(desc);
      const model::BodyId bob = hang(world, how);
      const double start = world.body(bob).X_wb.position.z();
      const double swing = start + kPendulum;
      // The largest height of the last swings of 20 s, and of all.
      double late = -1;
      double ever = -1;
      double stretch = 0;
      for (int i = 0; i < 1200; ++i) {
        world.step(kStep);
        const Vec3& p = world.body(bob).X_wb.position;
        const double height = (p.z() - start) / swing;
        ever = std::max(ever, height);
        if (i > 1000) late = std::max(late, height);
        stretch = std::max(stretch, std::abs(p.norm() - kPendulum));
      }
      // The impulse stepper has no substeps, and a rope gives way to one side only.
      const double allowed =
          (how == Hung::rope ? 5 : 1) * (stepper == StepperKind::constraint ? 0.002 : 0.02);
      const int what = 10 * static_cast<int>(stepper) + static_cast<int>(how);
      EXPECT_GT(late, -allowed) << what;
      EXPECT_LT(ever, allowed) << what;
      EXPECT_LT(stretch, 1e-3) << what;
    }
  }
}

// Two bars on ball joints swing without order, but not without energy. (Of three, the first and the last
// would hit each other.)
TEST(Joint, ADoublePendulumKeepsItsEnergy)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    WorldDesc desc = desc_without_sleep();
    desc.stepper = stepper;
    World world(desc);
    model::BodyId above;
    for (int i = 0; i < 2; ++i) {
      const model::BodyId bar = add_box(world, {0.2, 0.02, 0.02}, {0.2 + 0.4 * i, 0, 0});
      model::JointDesc joint;
      joint.a = bar;
      joint.X_aj.position = {-0.2, 0, 0};
      joint.b = above;
      if (above.valid()) joint.X_bj.position = {0.2, 0, 0};
      world.add_joint(joint);
      above = bar;
    }
    // What it can lose by hanging down: 2 kg at 0.4 m on average.
    const double swing = 2 * 9.81 * 0.4;
    double most = 0;
    double mean = 0;
    const int steps = 1200;
    for (int i = 0; i < steps; ++i) {
      world.step(kStep / 2);
      const double energy = (world.kinetic_energy() + world.potential_energy()) / swing;
      most = std::max(most, energy);
      if (i >= steps / 2) mean += energy / (steps - steps / 2);
    }
    const double allowed = stepper == StepperKind::constraint ? 0.01 : 0.04;
    EXPECT_NEAR(mean, 0, allowed);
    EXPECT_LT(most, allowed);
  }
}

TEST(Joint, ABallJointChainHoldsTogether)
{
  World world(desc_without_sleep());
  model::BodyId above;
  std::vector<model::BodyId> links;
  for (int i = 0; i < 6; ++i) {
    const model::BodyId link = add_box(world, {0.2, 0.05, 0.05}, {0.2 + 0.4 * i, 0, 0});
    model::JointDesc joint;
    joint.kind = model::JointKind::ball;
    joint.a = link;
    joint.X_aj.position = {-0.2, 0, 0};
    joint.b = above;
    joint.X_bj.position = above.valid() ? Vec3(0.2, 0, 0) : Vec3(0, 0, 0);
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
  for (const StepperKind stepper : kSteppers) {
    WorldDesc desc = desc_without_sleep();
    desc.stepper = stepper;
    World world(desc);
    const model::BodyId wheel = add(world, {model::Cylinder{0.3, 0.05}}, {0, 0, 1});
    model::JointDesc joint;
    joint.kind = model::JointKind::hinge;
    joint.a = wheel;
    joint.X_bj.position = {0, 0, 1};
    joint.motor = {
        .enabled = true, .speed = -4.0, .max_force = 100.0};  // b is the world: the wheel turns the other way
    world.add_joint(joint);
    run(world, 1);
    EXPECT_NEAR(world.body(wheel).angular_velocity.z(), 4, 1e-3);
    EXPECT_NEAR(world.body(wheel).angular_velocity.head<2>().norm(), 0, 1e-3);
    EXPECT_NEAR((world.body(wheel).X_wb.position - Vec3(0, 0, 1)).norm(), 0, 1e-3);
  }
}

TEST(Joint, ASliderStopsAtItsLimit)
{
  for (const StepperKind stepper : kSteppers) {
    WorldDesc desc = desc_without_sleep();
    desc.stepper = stepper;
    World world(desc);
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
}

TEST(Joint, ASpringHangsAtItsStaticLength)
{
  for (const StepperKind stepper : kSteppers) {
    WorldDesc desc = desc_without_sleep();
    desc.stepper = stepper;
    World world(desc);
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
}

TEST(Joint, AFixedJointCarriesABeam)
{
  World world(desc_without_sleep());
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
