// SPDX-License-Identifier: MIT
// Joints of bodies that touch something, with the flexible stepper.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numbers>
#include <vector>

#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

model::BodyId add_wheel(World& world, model::BodyId bed, const Vec3& place, double radius, double speed)
{
  const Quat sideways(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX()));
  const model::BodyId wheel = add(world, {model::Cylinder{radius, 0.015}}, place, 0.18, sideways);
  world.set_velocity(wheel, {speed, 0, 0}, {0, speed / radius, 0});
  model::JointDesc joint;
  joint.kind = model::JointKind::hinge;
  joint.a = bed;
  joint.b = wheel;
  const Pose X_wj{place, Quat::FromTwoVectors(Vec3::UnitZ(), Vec3::UnitY())};
  joint.X_aj = world.body(bed).X_wb.inverse() * X_wj;
  joint.X_bj = world.body(wheel).X_wb.inverse() * X_wj;
  world.add_joint(joint);
  return wheel;
}

World flexible_world()
{
  WorldDesc desc;
  desc.stepper = StepperKind::flexible;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {.restitution = 0.2, .friction = 0.7});
  add_plane(world);
  return world;
}

// A cart of fifty times the mass of a wheel keeps rolling: nothing brakes it.
TEST(FlexibleJoints, ACartKeepsRollingOnItsWheels)
{
  for (const double h : {1.0 / 60, 0.004, 0.001}) {
    World world = flexible_world();
    const double radius = 0.05;
    const double speed = 1.2;
    const model::BodyId bed = add_box(world, {0.3, 0.18, 0.01}, {0, 0, 0.11}, 9);
    world.set_velocity(bed, {speed, 0, 0}, Vec3::Zero());
    std::vector<model::BodyId> wheels;
    for (const double x : {-0.2, 0.2}) {
      for (const double y : {-0.15, 0.15})
        wheels.push_back(add_wheel(world, bed, {x, y, radius}, radius, speed));
    }
    const double start = world.kinetic_energy() + world.potential_energy();
    run(world, 1.5, h);
    EXPECT_NEAR(world.body(bed).velocity.x() / speed, 1, 0.02) << h;
    EXPECT_NEAR(world.body(bed).X_wb.position.x(), 1.5 * speed, 0.02 * 1.5 * speed) << h;
    EXPECT_NEAR(world.body(bed).X_wb.position.z(), 0.11, 5e-4) << h;
    EXPECT_LT(world.kinetic_energy() + world.potential_energy() + world.contact_energy(), start) << h;
    for (const model::BodyId wheel : wheels) {
      EXPECT_NEAR(world.body(wheel).X_wb.position.z(), radius, 5e-4) << h;
      EXPECT_NEAR(world.body(wheel).angular_velocity.y() * radius, world.body(bed).velocity.x(), 0.01) << h;
    }
  }
}

// Joints pass on the weight: the hinges carry the bed.
TEST(FlexibleJoints, HingesCarryWhatStandsOnThem)
{
  World world = flexible_world();
  const double mass = 9;
  const model::BodyId bed = add_box(world, {0.3, 0.18, 0.01}, {0, 0, 0.11}, mass);
  for (const double x : {-0.2, 0.2}) {
    for (const double y : {-0.15, 0.15}) add_wheel(world, bed, {x, y, 0.05}, 0.05, 0);
  }
  run(world, 1);
  Vec3 impulse = Vec3::Zero();
  world.step(kStep);
  for (const model::JointState& joint : world.state().joints) impulse += joint.impulse;
  // On b, the wheels, of the last slice.
  EXPECT_NEAR(-impulse.z() / world.state().last_step, mass * 9.81, 0.01 * mass * 9.81);
}

// Two boxes side by side on the ground, of which a joint holds places that are `off` apart, on a line that
// passes above their centres by `above`: it pulls them into each other. Returns their largest speed [m/s].
double speed_of_pulled_boxes(model::JointKind kind, double off, double above, double h)
{
  World world = flexible_world();
  const std::array<model::BodyId, 2> boxes = {add_box(world, {0.1, 0.1, 0.1}, {0, 0, 0.1}, 2),
                                              add_box(world, {0.1, 0.1, 0.1}, {0.2, 0, 0.1}, 1)};
  model::JointDesc joint;
  joint.kind = kind;
  joint.a = boxes[0];
  joint.b = boxes[1];
  joint.X_aj.position = Vec3(0.1 - 0.5 * off, 0, above);
  joint.X_bj.position = Vec3(-0.1 + 0.5 * off, 0, above);
  joint.collide_connected = true;
  world.add_joint(joint);
  double fastest = 0;
  for (double t = 0; t < 0.3; t += h) {
    world.step(h);
    for (const model::BodyId body : boxes) fastest = std::max(fastest, world.body(body).velocity.norm());
  }
  return fastest;
}

TEST(FlexibleJoints, AJointThatIsOffItsPlaceThrowsNothing)
{
  for (const double off : {0.02, 0.1}) {
    for (const double above : {0.0, 0.08}) {
      for (const model::JointKind kind :
           {model::JointKind::ball, model::JointKind::fixed, model::JointKind::distance}) {
        for (const double h : {1.0 / 60, 0.001}) {
          EXPECT_LT(speed_of_pulled_boxes(kind, off, above, h), 0.3)
              << off << " " << above << " " << static_cast<int>(kind) << " " << h;
        }
      }
    }
  }
}

}  // namespace
}  // namespace thrum::sim
