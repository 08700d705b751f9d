// SPDX-License-Identifier: MIT
// Coulomb's law in motion: friction is opposite to slip, whatever the inertias and the length of the step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tests/sim/world_fixture.h"
#include "thrum/base/error.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double g = 9.81;
constexpr double kMu = 0.4;
constexpr double kSteps[] = {1.0 / 25, 1.0 / 60, 1.0 / 144, 1.0 / 333};

struct Throw {
  Vec3 half;     ///< of the box [m]
  double angle;  ///< of the throw against the box's x axis [degrees]
};

struct Slide {
  double along = 0;   ///< [m]
  double across = 0;  ///< the largest distance from the line of the throw [m]
  double turned = 0;  ///< [rad]
};

// A box thrown flat over a plane until it rests.
Slide slide(const Throw& box, double speed, double h, const WorldDesc& desc)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, kMu, 0, 0});
  add_plane(world);
  const Vec3 start(0, 0, box.half.z());
  const model::BodyId id = add_box(world, box.half, start);
  const double angle = box.angle * std::numbers::pi / 180;
  const Vec3 direction(std::cos(angle), std::sin(angle), 0);
  const Vec3 side(-direction.y(), direction.x(), 0);
  world.set_velocity(id, speed * direction, Vec3::Zero());
  Slide result;
  for (double t = 0; t < 1.2 * speed / (kMu * g); t += h) {
    world.step(h);
    const Vec3 moved = world.body(id).X_wb.position - start;
    result.across = std::max(result.across, std::abs(moved.dot(side)));
    result.along = moved.dot(direction);
  }
  result.turned = world.body(id).X_wb.rotation.angularDistance(Quat::Identity());
  return result;
}

// Distance v^2 / (2 mu g), less what the first and the last step cannot know: up to h v / 2.
void expect_straight_slides(const WorldDesc& desc)
{
  constexpr double kSpeed = 3;
  const double expected = kSpeed * kSpeed / (2 * kMu * g);
  // Flat, long and tall boxes; the tall one does not tip: mu times its height is less than its width.
  const Throw throws[] = {{{0.2, 0.1, 0.05}, 30}, {{0.3, 0.05, 0.04}, 60}, {{0.1, 0.15, 0.2}, 45},
                          {{0.3, 0.1, 0.02}, 75}, {{0.2, 0.2, 0.2}, 20},   {{0.2, 0.1, 0.05}, 0}};
  for (const Throw& box : throws) {
    for (const double h : kSteps) {
      SCOPED_TRACE(::testing::Message() << "half sizes " << box.half.transpose() << ", " << box.angle
                                        << " degrees, 1/" << 1 / h << " s");
      const Slide result = slide(box, kSpeed, h, desc);
      EXPECT_LT(result.across, 1e-3);
      EXPECT_LT(result.turned, 2e-3);
      EXPECT_NEAR(result.along, expected, 0.5 * h * kSpeed + 0.005 * expected);
    }
  }
}

TEST(Friction, AThrownBoxKeepsItsLine)
{
  expect_straight_slides(desc_without_sleep());
}

TEST(Friction, AThrownBoxKeepsItsLineWithTheImpulseStepper)
{
  WorldDesc desc = desc_without_sleep();
  desc.stepper = StepperKind::impulse;
  expect_straight_slides(desc);
}

// A cone whatever solves the rows: with a box the two tangents together brake by up to sqrt(2) mu.
TEST(Friction, AThrownBoxKeepsItsLineWithTheDirectSolver)
{
  WorldDesc desc = desc_without_sleep();
  desc.constraint.solver = rigid::RowSolver::direct;
  expect_straight_slides(desc);
}

constexpr StepperKind kSteppers[] = {StepperKind::constraint, StepperKind::impulse};

model::BodyId add_fixed_box(World& world, const Vec3& half, const Pose& pose)
{
  BodyDesc spec;
  spec.shape = world.add_shape({model::Box{half}});
  spec.X_ws = pose;
  spec.motion = model::Motion::fixed;
  return world.add_body(spec);
}

std::string case_name(StepperKind stepper, double h)
{
  return fmt::format("{}, 1/{:.0f} s", stepper == StepperKind::constraint ? "constraint" : "impulse", 1 / h);
}

// A ball that lands obliquely where friction ends the slip rolls with 5/7 of its speed along the floor:
// 2/7 m v <= mu m v_n. Contacts are found from above, by up to the fall of a step, and lie in the middle of
// the gap; with their arm the ball got up to a quarter less spin at 1/25 s.
TEST(Friction, ABallThatLandsObliquelyRolls)
{
  constexpr double kRadius = 0.03;
  constexpr double kAlong = 2;
  constexpr double kDrop = 0.3;
  const double fall_time = std::sqrt(2 * kDrop / g);
  for (const double restitution : {0.0, 0.3, 0.8}) {
    for (const double h : kSteps) {
      for (const double phase : {0.1, 0.35, 0.6, 0.85}) {
        SCOPED_TRACE(fmt::format("1/{:.0f} s, phase {}, e {}", 1 / h, phase, restitution));
        World world(desc_without_sleep());
        world.set_surface(model::kDefaultSurface, {restitution, 0.6, 0, 0});
        add_plane(world);
        const model::BodyId ball = add(world, {model::Sphere{kRadius}}, {0, 0, kRadius + kDrop});
        world.set_velocity(ball, {kAlong, 0, 0}, Vec3::Zero());
        world.step(phase * h);
        while (world.state().time < fall_time + 3 * h) world.step(h);
        EXPECT_NEAR(world.body(ball).angular_velocity.y() * kRadius, 5.0 / 7 * kAlong, 0.01 * kAlong);
        EXPECT_NEAR(world.body(ball).velocity.x(), 5.0 / 7 * kAlong, 0.01 * kAlong);
      }
    }
  }
}

// Plates side by side that a force P = share * m g presses against a wall, the outermost first. Each moves
// down at `speed` to begin with.
struct Pressed {
  int count = 1;     ///< plates between the force and the wall
  double share = 1;  ///< P / (m g) of one plate
  double speed = 0;  ///< downwards [m/s]
};

std::vector<double> speeds_of_pressed(const Pressed& scene, StepperKind stepper, double h, int steps)
{
  WorldDesc desc = desc_without_sleep();
  desc.stepper = stepper;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, kMu, 0, 0});
  add_fixed_box(world, {0.5, 20, 20}, {{0.5, 0, 0}, Quat::Identity()});
  constexpr double kMass = 3;
  std::vector<model::BodyId> plates;
  for (int i = 0; i < scene.count; ++i) {
    plates.push_back(add_box(world, {0.1, 0.3, 0.2}, {-0.1 - 0.2 * (scene.count - 1 - i), 0, 0}, kMass));
    world.set_velocity(plates.back(), {0, 0, -scene.speed}, Vec3::Zero());
  }
  for (int i = 0; i < steps; ++i) {
    const Vec3 middle = world.body(plates.front()).X_wb.position;
    world.apply_force(plates.front(), {scene.share * kMass * g, 0, 0}, middle);
    world.step(h);
  }
  std::vector<double> speeds;
  for (const model::BodyId plate : plates) speeds.push_back(-world.body(plate).velocity.z());
  return speeds;
}

// Against the wall friction mu P acts, and between plates that move alike none needs to: they fall at
// g - mu P / (n m), braking where that is negative.
TEST(Friction, PlatesPressedAgainstAWallSlideByTheFormula)
{
  for (const StepperKind stepper : kSteppers) {
    for (const double h : kSteps) {
      const int steps = static_cast<int>(0.5 / h);
      for (const Pressed& scene : {Pressed{1, 1, 1}, Pressed{1, 2, 0}, Pressed{1, 4, 5}, Pressed{2, 2, 1}}) {
        SCOPED_TRACE(case_name(stepper, h) + fmt::format(", {} plates, P {} m g", scene.count, scene.share));
        const double expected = scene.speed + steps * h * g * (1 - kMu * scene.share / scene.count);
        for (const double speed : speeds_of_pressed(scene, stepper, h, steps))
          EXPECT_NEAR(speed, expected, 0.005 * std::max(1.0, expected));
      }
    }
  }
}

// It sticks where mu P > n m g, and stops where it slid.
TEST(Friction, PlatesPressedHardAgainstAWallStick)
{
  for (const StepperKind stepper : kSteppers) {
    for (const double h : kSteps) {
      for (const Pressed& scene : {Pressed{1, 2.6, 0}, Pressed{1, 5, 2}, Pressed{2, 6, 0}}) {
        SCOPED_TRACE(case_name(stepper, h) + fmt::format(", {} plates, P {} m g", scene.count, scene.share));
        for (const double speed : speeds_of_pressed(scene, stepper, h, static_cast<int>(0.5 / h)))
          EXPECT_NEAR(speed, 0, 1e-4);
      }
    }
  }
}

// A bar between two faces that open upwards, each at `angle` to the vertical, presses both with
// N = m g / (2 sin angle): along the groove it slows down by mu g / sin(angle).
TEST(Friction, ABarInAGrooveIsBrakedByBothFaces)
{
  constexpr double kSpeed = 4;
  constexpr double kSeconds = 0.3;
  const double angle = std::numbers::pi / 4;
  for (const StepperKind stepper : kSteppers) {
    for (const double h : kSteps) {
      SCOPED_TRACE(case_name(stepper, h));
      WorldDesc desc = desc_without_sleep();
      desc.stepper = stepper;
      World world(desc);
      world.set_surface(model::kDefaultSurface, {0, kMu, 0, 0});
      for (const double side : {-1.0, 1.0}) {
        const Quat turn(Eigen::AngleAxisd(side * angle, Vec3::UnitY()));
        add_fixed_box(world, {0.5, 10, 10}, {turn * Vec3(0.5 * side, 0, 0), turn});
      }
      const Quat turn(Eigen::AngleAxisd(angle, Vec3::UnitY()));
      // Long, so that braking below its middle does not lift its end.
      const model::BodyId bar =
          add(world, {model::Box{{0.1, 0.6, 0.1}}}, {0, 0, 0.1 * std::sqrt(2.0)}, 2, turn);
      world.set_velocity(bar, {0, kSpeed, 0}, Vec3::Zero());
      const int steps = static_cast<int>(kSeconds / h);
      for (int i = 0; i < steps; ++i) world.step(h);
      const double expected = kSpeed - kMu * g / std::sin(angle) * steps * h;
      EXPECT_NEAR(world.body(bar).velocity.y(), expected, 0.01 * kSpeed);
    }
  }
}

TEST(Friction, BoundsOfTheFirstSolveNeedTheDirectSolver)
{
  WorldDesc desc;
  desc.constraint.friction_bounds = rigid::FrictionBounds::first_solve;
  EXPECT_THROW(World{desc}, Error);
  desc.constraint.solver = rigid::RowSolver::direct;
  EXPECT_NO_THROW(World{desc});
}

// Overlap shrinks by the share erp in each substep, down to the slop.
TEST(ContactSettings, OverlapRelaxesByErpInEachSubstep)
{
  for (const double erp : {0.05, 0.2, 0.5}) {
    for (const int substeps : {1, 4}) {
      WorldDesc desc = desc_without_sleep();
      desc.gravity = Vec3::Zero();
      desc.constraint.erp = erp;
      desc.constraint.substeps = substeps;
      World world(desc);
      add_plane(world);
      const double depth = 0.004;
      const model::BodyId ball = add(world, {model::Sphere{0.1}}, {0, 0, 0.1 - depth});
      const double slop = desc.constraint.slop * world.model().length_scale;
      double expected = depth;
      for (int i = 0; i < 10; ++i) {
        world.step(kStep);
        // What is left alone is not relaxed.
        for (int k = 0; k < substeps; ++k) expected -= erp * (expected - slop);
        EXPECT_NEAR(0.1 - world.body(ball).X_wb.position.z(), expected, 1e-4 * depth)
            << "erp " << erp << ", " << substeps << " substeps, step " << i;
      }
      EXPECT_LT(world.body(ball).velocity.norm(), 1e-9);
    }
  }
}

// A soft row under the load m g creeps: v + cfm (1/m) lambda = 0 with lambda = m g h in each substep h, so
// that v = -cfm g h. (With erp, pushing out works against it.)
TEST(ContactSettings, ABallCreepsByCfm)
{
  for (const double cfm : {0.1, 0.5, 1.0}) {
    for (const double h : {1.0 / 30, 1.0 / 60, 1.0 / 200}) {
      WorldDesc desc = desc_without_sleep();
      desc.constraint.cfm = cfm;
      desc.constraint.erp = 0;
      World world(desc);
      add_plane(world);
      const model::BodyId ball = add(world, {model::Sphere{0.5}}, {0, 0, 0.5}, 3);
      run(world, 0.5, h);
      const double before = world.body(ball).X_wb.position.z();
      run(world, 0.5, h);
      const double expected = 0.5 * cfm * g * h / desc.constraint.substeps;
      EXPECT_NEAR(before - world.body(ball).X_wb.position.z(), expected, 0.01 * expected)
          << "cfm " << cfm << ", 1/" << 1 / h << " s";
    }
  }
}

}  // namespace
}  // namespace thrum::sim
