// SPDX-License-Identifier: MIT
// Changing gravity, motion types, surfaces, masses and joints of a running world.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/sim/world_fixture.h"
#include "tests/support/test_meshes.h"
#include "thrum/base/error.h"
#include "thrum/base/parallel.h"

namespace thrum::sim {
namespace {

using namespace testing;

TEST(Settings, GravityChangesDirection)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    World world({.stepper = stepper});
    const model::BodyId ball = add(world, {model::Sphere{0.1}}, {0, 0, 0});
    world.set_gravity({2, 0, 0});
    for (int i = 0; i < 100; ++i) world.step(0.01);
    EXPECT_NEAR(world.body(ball).velocity.x(), 2.0, 1e-9);
    EXPECT_NEAR(world.body(ball).X_wb.position.x(), 1.0, 0.011);
    EXPECT_THROW(world.set_gravity(Vec3::Constant(std::nan(""))), Error);
  }
}

TEST(Settings, AFixedBodyBecomesDynamicWithTheMassOfItsDescriptionAndStaysInPlace)
{
  World world;
  // Two balls of one body: its centre of mass is not the origin of its shape.
  model::Compound parts;
  const auto ball = std::make_shared<model::Shape>(model::Shape{model::Sphere{0.1}});
  parts.parts = {{{{0, 0, 0}, Quat::Identity()}, ball}, {{{1, 0, 0}, Quat::Identity()}, ball}};
  const Pose X_ws{{1, 2, 3}, Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()))};
  const model::BodyId id = world.add_body(
      {.shape = world.add_shape({parts}), .X_ws = X_ws, .motion = model::Motion::fixed, .density = 500});
  world.step(0.01);
  world.set_motion(id, model::Motion::dynamic);
  EXPECT_NEAR((world.shape_pose(id).position - X_ws.position).norm(), 0, 1e-12);
  EXPECT_NEAR((world.body(id).X_wb.position - X_ws.point({0.5, 0, 0})).norm(), 0, 1e-12);
  EXPECT_NEAR(world.desc_of(id).mass, 2 * 500 * 4.0 / 3 * std::numbers::pi * 1e-3, 1e-9);
  for (int i = 0; i < 50; ++i) world.step(0.01);
  EXPECT_NEAR(world.body(id).velocity.z(), -9.81 * 0.5, 1e-9);
  world.set_motion(id, model::Motion::fixed);
  const Pose stopped = world.shape_pose(id);
  for (int i = 0; i < 10; ++i) world.step(0.01);
  EXPECT_EQ(world.shape_pose(id).position, stopped.position);
  const model::BodyId plane = add_plane(world);
  EXPECT_THROW(world.set_motion(plane, model::Motion::dynamic), Error);
  EXPECT_EQ(world.desc_of(plane).motion, model::Motion::fixed);
}

TEST(Settings, WhatRestsOnABodyFallsWithItWhenItBecomesDynamic)
{
  World world;
  const model::BodyId shelf = add_box(world, {1, 1, 0.1}, {0, 0, 0});
  world.set_motion(shelf, model::Motion::fixed);
  const model::BodyId box = add_box(world, Vec3::Constant(0.2), {0, 0, 0.3});
  run(world, 2);
  ASSERT_TRUE(world.body(box).asleep);
  world.set_motion(shelf, model::Motion::dynamic);
  run(world, 0.5);
  EXPECT_NEAR(world.body(box).velocity.z(), -9.81 * 0.5, 0.1);
}

TEST(Settings, PosesAreThoseOfTheShapeAsInTheDescription)
{
  World world;
  model::Compound parts;
  const auto ball = std::make_shared<model::Shape>(model::Shape{model::Sphere{0.1}});
  parts.parts = {{{{0.3, 0, 0}, Quat::Identity()}, ball}, {{{1, 0, 0}, Quat::Identity()}, ball}};
  const model::BodyId id = world.add_body({.shape = world.add_shape({parts})});
  const Pose X_ws{{1, -2, 0.5}, Quat(Eigen::AngleAxisd(1.1, Vec3::UnitY()))};
  world.set_pose(id, X_ws);
  EXPECT_NEAR((world.shape_pose(id).position - X_ws.position).norm(), 0, 1e-12);
  EXPECT_NEAR(world.shape_pose(id).rotation.angularDistance(X_ws.rotation), 0, 1e-12);
  EXPECT_THROW(world.set_pose(id, {Vec3::Constant(std::nan("")), Quat::Identity()}), Error);
  EXPECT_THROW(world.set_pose(id, {Vec3::Zero(), Quat(1, 1, 0, 0)}), Error);
}

TEST(Settings, ASurfaceDecidesWhetherABoxSlides)
{
  World world;
  const double slope = 0.35;  // [rad]
  const Quat tilt(Eigen::AngleAxisd(slope, Vec3::UnitY()));
  add_plane(world, tilt);
  const model::SurfaceId ice = world.add_surface({.friction = 0.0});
  const model::BodyId box = add_box(world, Vec3::Constant(0.2), tilt * Vec3(0, 0, 0.2), 1, tilt);
  run(world, 2);
  EXPECT_LT(world.body(box).velocity.norm(), 1e-3);
  world.set_surface(box, ice);
  run(world, 1);
  EXPECT_NEAR(world.body(box).velocity.norm(), 9.81 * std::sin(slope), 0.02);
}

TEST(Settings, InertiaIsScaledWithTheMass)
{
  World world({.gravity = Vec3::Zero()});
  const model::BodyId box = add_box(world, {0.1, 0.2, 0.3}, Vec3::Zero(), 2);
  const Mat3 inertia = world.desc_of(box).inertia;
  world.set_mass(box, 6);
  EXPECT_NEAR((world.desc_of(box).inertia - 3 * inertia).norm(), 0, 1e-15);
  world.apply_impulse(box, {6, 0, 0}, Vec3::Zero());
  EXPECT_NEAR(world.body(box).velocity.x(), 1, 1e-15);
  EXPECT_THROW(world.set_mass(box, -1), Error);
}

TEST(Settings, EachWorldHasItsOwnNumberOfThreadsAndTheSameBits)
{
  struct Count : StepObserver {
    void after_slice(const StepView& /*view*/, StepActions& /*actions*/) override
    {
      threads = base::thread_count();
    }
    int threads = 0;
  };
  base::set_thread_count(3);
  std::vector<base::Hash128> hashes;
  for (const int threads : {1, 2, 0, 8}) {
    World world({.threads = threads});
    Count count;
    world.add_observer(count);
    add_plane(world);
    for (int i = 0; i < 60; ++i)
      add_box(world, Vec3::Constant(0.2), {0.1 * (i % 3), 0.1 * (i % 2), 0.3 + 0.41 * i});
    run(world, 0.5);
    EXPECT_EQ(count.threads, threads == 0 ? 3 : std::min(threads, 3));
    EXPECT_EQ(base::thread_count(), 3);
    hashes.push_back(world.hash());
    EXPECT_EQ(hashes.back(), hashes.front());
  }
  base::set_thread_count(0);
  EXPECT_THROW(World({.threads = -1}), Error);
}

// A hinge about z of the world, and a slider along it.
struct Jointed {
  explicit Jointed(model::JointKind kind, StepperKind stepper = StepperKind::constraint)
      : world({.gravity = Vec3::Zero(), .stepper = stepper}),
        body(add_box(world, Vec3::Constant(0.1), Vec3::Zero()))
  {
    joint = world.add_joint({.kind = kind, .a = body});
  }
  World world;
  model::BodyId body;
  model::JointId joint;
};

TEST(Settings, JointValuesFollowTheMotion)
{
  Jointed hinge(model::JointKind::hinge);
  hinge.world.set_velocity(hinge.body, Vec3::Zero(), {0, 0, 0.5});
  EXPECT_NEAR(hinge.world.joint_speed(hinge.joint), -0.5, 1e-12);  // the world is b
  run(hinge.world, 1);
  EXPECT_NEAR(hinge.world.joint_value(hinge.joint), -0.5, 1e-6);
  Jointed slider(model::JointKind::slider);
  slider.world.set_velocity(slider.body, {0, 0, 0.25}, Vec3::Zero());
  run(slider.world, 2);
  EXPECT_NEAR(slider.world.joint_value(slider.joint), -0.5, 1e-6);
  EXPECT_NEAR(slider.world.joint_speed(slider.joint), -0.25, 1e-6);
  World world({.gravity = Vec3::Zero()});
  const model::BodyId a = add_box(world, Vec3::Constant(0.1), Vec3::Zero());
  const model::BodyId b = add_box(world, Vec3::Constant(0.1), {3, 4, 0});
  const model::JointId spring =
      world.add_joint({.kind = model::JointKind::spring, .a = a, .b = b, .length = 5, .stiffness = 1});
  EXPECT_NEAR(world.joint_value(spring), 5, 1e-12);
  world.set_velocity(b, {3, 4, 0}, Vec3::Zero());
  EXPECT_NEAR(world.joint_speed(spring), 5, 1e-12);
}

TEST(Settings, MotorsReachTheirSpeedAndTheirTarget)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const double h : {1.0 / 30, 1.0 / 60, 1.0 / 200}) {
      Jointed slider(model::JointKind::slider, stepper);
      slider.world.set_joint_motor(slider.joint, {.enabled = true, .speed = 0.7, .max_force = 100});
      run(slider.world, 0.5, h);
      EXPECT_NEAR(slider.world.joint_speed(slider.joint), 0.7, 1e-6) << h;
      slider.world.set_joint_motor(
          slider.joint, {.enabled = true, .has_target = true, .speed = 2, .max_force = 100, .target = -0.4});
      run(slider.world, 2, h);
      EXPECT_NEAR(slider.world.joint_value(slider.joint), -0.4, 1e-3) << h;
      EXPECT_NEAR(slider.world.joint_speed(slider.joint), 0, 1e-3) << h;
      slider.world.set_joint_motor(slider.joint, {.enabled = true, .speed = 1, .max_force = 100});
      slider.world.set_joint_limits(slider.joint, {-1, 0.25});
      run(slider.world, 2, h);
      EXPECT_NEAR(slider.world.joint_value(slider.joint), 0.25, 5e-3) << h;
      slider.world.remove_joint_limits(slider.joint);
      run(slider.world, 1, h);
      EXPECT_GT(slider.world.joint_value(slider.joint), 0.5) << h;
    }
  }
}

TEST(Settings, MotorsAndLimitsThatAJointCannotHaveAreRejected)
{
  Jointed ball(model::JointKind::ball);
  EXPECT_THROW(ball.world.set_joint_motor(ball.joint, {.enabled = true}), Error);
  EXPECT_THROW(ball.world.set_joint_limits(ball.joint, {0, 1}), Error);
  EXPECT_THROW(ball.world.set_joint_length(ball.joint, 1), Error);
  Jointed hinge(model::JointKind::hinge);
  EXPECT_THROW(hinge.world.set_joint_limits(hinge.joint, {1, 0}), Error);
  EXPECT_THROW(hinge.world.set_joint_motor(hinge.joint, {.enabled = true, .max_force = -1}), Error);
}

TEST(Settings, RejectsNumbersThatAreNotFinite)
{
  World world(desc_without_sleep());
  const model::BodyId a = add_box(world, Vec3::Constant(0.1), {0, 0, 1});
  const model::BodyId b = add_box(world, Vec3::Constant(0.1), {1, 0, 1});
  const double nan = std::nan("");
  const Vec3 bad(0, nan, 0);
  EXPECT_THROW(world.apply_impulse(a, bad, Vec3::Zero()), Error);
  EXPECT_THROW(world.apply_impulse(a, Vec3::UnitX(), bad), Error);
  EXPECT_THROW(world.apply_force(a, bad, Vec3::Zero()), Error);
  EXPECT_THROW(world.set_velocity(a, bad, Vec3::Zero()), Error);
  EXPECT_THROW(world.set_velocity(a, Vec3::Zero(), bad), Error);
  model::JointDesc joint;
  joint.a = a;
  joint.b = b;
  const auto expect_rejected = [&](auto&& change) {
    model::JointDesc wrong = joint;
    change(wrong);
    EXPECT_THROW(world.add_joint(wrong), Error);
  };
  expect_rejected([&](model::JointDesc& j) { j.X_aj.position = bad; });
  expect_rejected([&](model::JointDesc& j) { j.X_bj.rotation = Quat(0, 0, 0, 0); });
  expect_rejected([&](model::JointDesc& j) { j.length = -1; });
  expect_rejected([&](model::JointDesc& j) { j.stiffness = nan; });
  expect_rejected([&](model::JointDesc& j) { j.kind = model::JointKind::spring; });  // without any force
  expect_rejected([&](model::JointDesc& j) {
    j.limited = true;
    j.limits = {1, -1};
  });
  EXPECT_NO_THROW(world.add_joint(joint));
  world.step(kStep);
  EXPECT_TRUE(world.body(a).X_wb.position.allFinite());
}

TEST(Settings, RejectsWorldsThatCannotStep)
{
  const auto expect_rejected = [](auto&& change) {
    WorldDesc desc;
    change(desc);
    EXPECT_THROW(World{desc}, Error);
  };
  expect_rejected([](WorldDesc& d) { d.max_slices = 0; });
  expect_rejected([](WorldDesc& d) { d.max_move = 0; });
  expect_rejected([](WorldDesc& d) { d.max_turn = std::nan(""); });
  expect_rejected([](WorldDesc& d) { d.constraint.substeps = 0; });
  expect_rejected([](WorldDesc& d) { d.constraint.iterations = 0; });
  expect_rejected([](WorldDesc& d) { d.gravity.z() = std::nan(""); });
  expect_rejected([](WorldDesc& d) { d.threads = -1; });
}

// A heap of meshes on a height field moves the same, bit for bit, whichever way its faces are found.
TEST(Settings, InterferenceByZListGivesTheSameMotion)
{
  const auto run = [](collision::Interference interference) {
    World world({.interference = interference});
    auto heights = std::make_shared<std::vector<double>>();
    for (int i = 0; i < 256; ++i)
      heights->push_back(0.05 * std::sin(0.9 * (i % 16)) * std::cos(0.7 * (i / 16)));
    model::HeightField field;
    field.columns = field.rows = 16;
    field.spacing = 0.2;
    field.heights = heights;
    world.add_body({.shape = world.add_shape({field}), .motion = model::Motion::fixed});
    const auto block =
        std::make_shared<mesh::TriangleMesh>(support::box_mesh({-0.2, -0.15, -0.1}, {0.2, 0.15, 0.1}));
    const model::ShapeId shape = world.add_shape({model::Mesh{block, nullptr}});
    for (int i = 0; i < 6; ++i) {
      const Quat turn(Eigen::AngleAxisd(0.4 * i, Vec3(1, 0.5, 0.2 * i).normalized()));
      world.add_body({.shape = shape, .X_ws = {{1.4 + 0.07 * i, 1.5, 0.3 + 0.35 * i}, turn}});
    }
    for (int i = 0; i < 150; ++i) world.step(1.0 / 60);
    EXPECT_GT(world.state().patches.size(), 5U);
    return world.hash();
  };
  EXPECT_EQ(run(collision::Interference::hierarchy), run(collision::Interference::zlist));
}

}  // namespace
}  // namespace thrum::sim
