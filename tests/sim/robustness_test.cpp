// SPDX-License-Identifier: MIT
// Bad input gets a clear error, extreme input sane motion.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "tests/sim/world_fixture.h"
#include "thrum/base/error.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {
namespace {

using namespace testing;

TEST(Robustness, RejectsInvalidBodies)
{
  World world(desc_without_sleep());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(add_box(world, Vec3::Constant(0.5), {nan, 0, 0}), Error);
  EXPECT_THROW(add_box(world, Vec3::Constant(0.5), {0, 0, 0}, 0), Error);
  EXPECT_THROW(add_box(world, Vec3::Constant(0.5), {0, 0, 0}, -1), Error);
  EXPECT_THROW(add_box(world, {0.5, 0, 0.5}, {0, 0, 0}), Error);
  EXPECT_THROW(world.step(0), Error);
  EXPECT_THROW(world.step(nan), Error);
  BodyDesc moving_plane;
  moving_plane.shape = world.add_shape({model::Plane{}});
  EXPECT_THROW(world.add_body(moving_plane), Error);
  model::JointDesc joint;
  joint.a = {7, 0};
  EXPECT_THROW(world.add_joint(joint), Error);
}

// A mesh whose triangles face inwards encloses less than nothing.
TEST(Robustness, RejectsAMeshThatIsInsideOut)
{
  mesh::TriangleMesh mesh = shapes::generate(shapes::TorusDesc{});
  const auto add_mesh = [](const mesh::TriangleMesh& triangles) {
    World world(desc_without_sleep());
    return add(world, {model::Mesh{std::make_shared<mesh::TriangleMesh>(triangles), nullptr}}, {0, 0, 1});
  };
  EXPECT_NO_THROW(add_mesh(mesh));
  for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  try {
    add_mesh(mesh);
    FAIL() << "an inverted mesh became a body";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("volume"), std::string::npos) << error.what();
  }
}

TEST(Robustness, ABodyBornInsideAnotherIsPushedOutWithoutAnExplosion)
{
  World world(desc_without_sleep());
  add_plane(world);
  const model::BodyId a = add_box(world, Vec3::Constant(0.5), {0, 0, 0.5});
  const model::BodyId b = add_box(world, Vec3::Constant(0.5), {0.1, 0.05, 0.7});
  double fastest = 0;
  for (int i = 0; i < 240; ++i) {
    world.step(kStep);
    fastest = std::max({fastest, world.body(a).velocity.norm(), world.body(b).velocity.norm()});
  }
  EXPECT_LT(fastest, 8);
  EXPECT_GT((world.body(a).X_wb.position - world.body(b).X_wb.position).cwiseAbs().maxCoeff(), 0.98);
}

TEST(Robustness, AMillionMetresPerSecondIsSurvived)
{
  World world(desc_without_sleep());
  add_plane(world);
  const model::BodyId box = add_box(world, Vec3::Constant(0.5), {0, 0, 0.5});
  const model::BodyId bullet = add(world, {model::Sphere{0.1}}, {-10, 0, 0.5});
  world.set_velocity(bullet, {1e6, 0, 0}, {1e5, 1e5, 0});
  run(world, 0.5);
  EXPECT_TRUE(world.body(box).X_wb.position.allFinite());
  EXPECT_TRUE(world.body(bullet).X_wb.position.allFinite());
  EXPECT_LE(world.body(bullet).velocity.norm(), 1e6 * (1 + 1e-9));
}

TEST(Robustness, AFastBallDoesNotPassThroughAThinWall)
{
  WorldDesc desc = desc_without_sleep();
  desc.gravity = Vec3::Zero();
  World world(desc);
  BodyDesc wall;
  wall.shape = world.add_shape({model::Box{{0.02, 1, 1}}});
  wall.motion = model::Motion::fixed;
  world.add_body(wall);
  const model::BodyId ball = add(world, {model::Sphere{0.1}}, {-1.03, 0, 0});
  world.set_velocity(ball, {20, 0, 0}, Vec3::Zero());
  run(world, 0.5);
  EXPECT_LT(world.body(ball).X_wb.position.x(), 0);
}

// The tip of an arm moves 0.2 m in a step here, across a ball that lies 2 cm beside the box around the arm.
// The loose boxes of the broad phase may hide that, until a body has used up their looseness.
TEST(Robustness, AnArmThatSpinsMeetsWhatLiesBesideItsBox)
{
  WorldDesc desc = desc_without_sleep();
  desc.gravity = Vec3::Zero();
  desc.broad_phase.looseness = 0;
  World world(desc);
  const model::BodyId arm = add_box(world, {1, 0.05, 0.05}, Vec3::Zero(), 10);
  world.set_velocity(arm, Vec3::Zero(), {0, 0, 12});
  const model::BodyId ball = add(world, {model::Sphere{0.05}}, {0.9, 0.12, 0}, 0.1);
  world.step(kStep);
  EXPECT_GT(world.body(ball).velocity.y(), 0);
  // In axes of the arm the ball is still on the side that it was on.
  EXPECT_GT(world.shape_pose(arm).inverse().point(world.body(ball).X_wb.position).y(), 0.09);
}

// A step is cut into two for a block that is faster than it is thick, and into more for the ball that it
// strikes in the first of them and that is thinner.
TEST(Robustness, WhatIsStruckWithinAStepIsStoppedInTheSameStep)
{
  WorldDesc desc = desc_without_sleep();
  desc.gravity = Vec3::Zero();
  World world(desc);
  world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
  const model::BodyId block = add_box(world, Vec3::Constant(0.5), {-0.57, 0, 0}, 1);
  world.set_velocity(block, {70, 0, 0}, Vec3::Zero());
  const model::BodyId ball = add(world, {model::Sphere{0.05}}, {0, 0, 0}, 1);
  BodyDesc wall;
  wall.shape = world.add_shape({model::Box{{0.05, 3, 3}}});
  wall.X_ws.position = {0.86, 0, 0};
  wall.motion = model::Motion::fixed;
  world.add_body(wall);
  world.step(kStep);
  EXPECT_LT(world.body(ball).X_wb.position.x(), 0.81);
}

TEST(Robustness, EventsComeOncePerContact)
{
  World world(desc_without_sleep());
  add_plane(world);
  add_box(world, Vec3::Constant(0.5), {0, 0, 0.8});
  int begins = 0;
  int ends = 0;
  for (int i = 0; i < 120; ++i) {
    world.step(kStep);
    for (const model::ContactEvent& event : world.events()) {
      begins += event.kind == model::ContactEventKind::begin;
      ends += event.kind == model::ContactEventKind::end;
    }
  }
  EXPECT_EQ(begins, 1);
  EXPECT_EQ(ends, 0);
}

// The flexible stepper finds contacts again after max_step, however few slices are allowed: only steps that
// need more slices than that are counted.
TEST(Limits, SlicesThatTheStepperTakesAnywayAreNotCounted)
{
  for (const double slices : {1, 32}) {
    WorldDesc desc;
    desc.stepper = StepperKind::flexible;
    desc.flexible.max_step = kStep / slices;
    desc.max_slices = 1;
    World world(desc);
    add_plane(world);
    const model::BodyId ball = add(world, {model::Sphere{0.05}}, {0, 0, 0.3});
    world.set_velocity(ball, {0, 0, -10}, Vec3::Zero());
    for (int i = 0; i < 3; ++i) world.step(kStep);
    EXPECT_EQ(world.limit_counts().long_slices > 0, slices == 1);
  }
}

// A ball needs h v / (max_move * safe move) slices; fewer are allowed. The most that was needed is what the
// speed at the landing says.
TEST(Limits, StepsThatNeedMoreSlicesAreCounted)
{
  for (const int max_slices : {1, 64}) {
    WorldDesc desc;
    desc.max_slices = max_slices;
    World world(desc);
    add_plane(world);
    const model::BodyId ball = add(world, {model::Sphere{0.05}}, {0, 0, 2});
    world.set_velocity(ball, {0, 0, -10}, Vec3::Zero());
    for (int i = 0; i < 30; ++i) world.step(kStep);
    const LimitCounts counts = world.limit_counts();
    EXPECT_EQ(counts.long_slices > 0, max_slices == 1);
    if (max_slices > 1) continue;
    const double speed = std::sqrt(100 + 2 * 9.81 * 1.95);
    const double safe_move = world.shapes()[1].safe_move;
    EXPECT_NEAR(counts.max_slices_needed, kStep * speed / (desc.max_move * safe_move), 1.1);
    EXPECT_EQ(counts.points_left_out, 0U);
    EXPECT_EQ(counts.large_impacts, 0U);
  }
}

// A stiff spring on a light ball needs more substeps than one.
TEST(Limits, SlicesThatNeedMoreSubstepsOfThePenaltyStepperAreCounted)
{
  for (const int max_substeps : {1, 100000}) {
    WorldDesc desc;
    desc.stepper = StepperKind::penalty;
    desc.penalty.max_substeps = max_substeps;
    World world(desc);
    add_plane(world);
    add(world, {model::Sphere{0.05}}, {0, 0, 0.06});
    for (int i = 0; i < 30; ++i) world.step(kStep);
    const LimitCounts counts = world.limit_counts();
    EXPECT_EQ(counts.long_substeps > 0, max_substeps == 1);
    EXPECT_EQ(counts.max_substeps_needed > 1, max_substeps == 1);
  }
}

TEST(Limits, StepsThatTimewarpCannotTakeAreCounted)
{
  struct Observer : StepObserver {
    explicit Observer(bool watches) : watches_(watches) {}
    [[nodiscard]] bool only_watches() const override { return watches_; }
    bool watches_;
  };
  for (const bool watches : {false, true}) {
    for (const StepperKind stepper :
         {StepperKind::constraint, StepperKind::impulse, StepperKind::penalty, StepperKind::flexible}) {
      WorldDesc desc;
      desc.time_of_impact = TimeOfImpactMethod::timewarp;
      desc.stepper = stepper;
      World world(desc);
      add_plane(world);
      add(world, {model::Sphere{0.1}}, {0, 0, 1});
      Observer observer(watches);
      world.add_observer(observer);
      EXPECT_EQ(world.can_warp(), watches);
      for (int i = 0; i < 5; ++i) world.step(kStep);
      EXPECT_EQ(world.limit_counts().steps_not_warped, watches ? 0U : 5U);
    }
  }
}

// A row of balls that touch is one impact with a point for each pair; with room for fewer it is left to the
// stepper, and counted.
TEST(Limits, ImpactsOfTooManyPointsAreCounted)
{
  for (const int max_points : {2, 64}) {
    WorldDesc desc;
    desc.gravity.setZero();
    desc.impacts.max_points = max_points;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {.restitution = 1, .friction = 0});
    for (int i = 0; i < 6; ++i) {
      const model::BodyId id = add(world, {model::Sphere{0.1}}, {0.2 * i - (i == 0 ? 0.05 : 0), 0, 0});
      if (i == 0) world.set_velocity(id, {1, 0, 0}, Vec3::Zero());
    }
    for (int i = 0; i < 20; ++i) world.step(0.01);
    EXPECT_EQ(world.limit_counts().large_impacts > 0, max_points == 2);
  }
}

// Balls that fly to and fro between two walls many times in a step cut it into slices of 1/256. What rounding
// leaves of the step after them is no slice: corrections within 1e-17 s would throw bodies.
TEST(Robustness, NoSliceIsMadeOfTheRoundingOfOthers)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse, StepperKind::penalty}) {
    for (const TimeOfImpactMethod method : {TimeOfImpactMethod::continuous, TimeOfImpactMethod::bisection,
                                            TimeOfImpactMethod::conservative, TimeOfImpactMethod::timewarp}) {
      for (const double speed : {300.0, 4000.0, 70000.0}) {
        for (const double h : {1.0 / 60, 1.0 / 50, 1.0 / 144}) {
          World world({.stepper = stepper, .time_of_impact = method});
          const model::SurfaceId elastic = world.add_surface({.restitution = 1});
          for (const double x : {-0.6, 0.6}) {
            const model::BodyId wall = add_box(world, {0.1, 2, 2}, {x, 0, 0});
            world.set_motion(wall, model::Motion::fixed);
            world.set_surface(wall, elastic);
          }
          const model::BodyId ball = add(world, {model::Sphere{0.15}}, {0.1, 0, 0});
          world.set_surface(ball, elastic);
          world.set_velocity(ball, {speed, 0, 0}, Vec3::Zero());
          for (int i = 1; i <= 4; ++i) {
            world.step(h);
            EXPECT_GT(world.state().last_step, 1e-9 * h)
                << static_cast<int>(stepper) << " " << static_cast<int>(method) << " " << speed;
            EXPECT_NEAR(world.state().time, i * h, 1e-12 * i * h);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace thrum::sim
