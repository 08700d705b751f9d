// SPDX-License-Identifier: MIT
// What holds whatever the scene: reports of impacts, the same bits for any number of threads, absurd input.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/world_fixture.h"
#include "thrum/base/error.h"
#include "thrum/base/parallel.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double g = 9.81;

// A ball that falls onto the ground and stays there strikes it once, at the speed of free fall, whichever
// stepper.
TEST(Laws, AnImpactIsReportedOnceWithItsSpeed)
{
  for (const StepperKind stepper :
       {StepperKind::constraint, StepperKind::impulse, StepperKind::penalty, StepperKind::flexible}) {
    WorldDesc desc = desc_without_sleep();
    desc.stepper = stepper;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {0, 0.5, 0, 0});
    add_plane(world);
    add(world, {model::Sphere{0.2}}, {0, 0, 1.2});
    int hits = 0;
    double speed = 0;
    for (int i = 0; i < 120; ++i) {
      world.step(kStep);
      for (const model::ContactEvent& event : world.events()) {
        if (event.kind != model::ContactEventKind::hit) continue;
        // In a contact that yields, a restitution of 0 leaves a little of the speed.
        if (stepper == StepperKind::flexible && event.speed < 0.03 * std::sqrt(2 * g * 1.0)) continue;
        ++hits;
        speed = event.speed;
      }
    }
    EXPECT_EQ(hits, 1) << static_cast<int>(stepper);
    // Known at the start of the step of the impact, up to a step of gravity too low.
    EXPECT_NEAR(speed, std::sqrt(2 * g * 1.0), g * kStep) << static_cast<int>(stepper);
  }
}

// A step that is cut into pieces reports the impulse of all of them: m (1 + e) v.
TEST(Laws, AFastImpactIsReportedInWhicheverSliceItHappens)
{
  WorldDesc desc = desc_without_sleep();
  desc.gravity = Vec3::Zero();
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0.5, 0, 0, 0});
  add_plane(world);
  const model::BodyId ball = add(world, {model::Sphere{0.2}}, {0, 0, 2}, 2);
  world.set_velocity(ball, {0, 0, -40}, Vec3::Zero());
  double impulse = 0;
  double events = 0;
  int hits = 0;
  for (int i = 0; i < 10; ++i) {
    world.step(kStep);
    for (const model::Contact& contact : world.contacts()) impulse += contact.normal_impulse;
    for (const model::ImpulseEvent& event : world.impulses())
      events += event.body == ball ? event.impulse_b.norm() : 0;
    for (const model::ContactEvent& event : world.events())
      hits += event.kind == model::ContactEventKind::hit;
  }
  EXPECT_NEAR(impulse, 2 * 1.5 * 40, 1e-4);
  EXPECT_NEAR(events, 2 * 1.5 * 40, 1e-4);
  EXPECT_EQ(hits, 1);
}

// A kick that is asked for as a speed is worth m v^2 / 2, whatever the step.
TEST(Laws, ATargetSpeedAddsTheSameEnergyForAnyStep)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const double h : {1.0 / 30, 0.01, 0.001}) {
      WorldDesc desc = desc_without_sleep();
      desc.stepper = stepper;
      World world(desc);
      world.set_surface(model::kDefaultSurface, {0.5, 0.5, 0, 0});
      add_plane(world);
      const model::BodyId ball = add(world, {model::Sphere{0.2}}, {0, 0, 0.2}, 2);
      run(world, 3 * h, h);
      const double at_rest = world.potential_energy();
      model::SceneState state = world.save();
      ASSERT_EQ(state.patches.size(), 1U);
      constexpr double kSpeed = 0.8;
      state.patches[0].points[0].requested_speed = kSpeed;
      world.restore(state);
      world.step(h);
      EXPECT_GT(world.body(ball).velocity.z(), 0);
      // A step of free flight loses m (g h)^2 / 2 over its substeps.
      const double gained = world.kinetic_energy() + world.potential_energy() - at_rest;
      EXPECT_LE(gained, (1 + 1e-5) * kSpeed * kSpeed);
      EXPECT_GT(gained, kSpeed * kSpeed - g * g * h * h - 1e-5) << static_cast<int>(stepper) << " " << h;
    }
  }
}

// Large enough that pairs are distributed over several threads.
TEST(Laws, APyramidHasTheSameBitsForOneAndTwoThreads)
{
  const auto hash_with = [](int threads) {
    base::set_thread_count(threads);
    World world(desc_without_sleep());
    add_plane(world);
    for (int row = 0; row < 20; ++row) {
      for (int i = 0; i < 20 - row; ++i)
        add_box(world, Vec3::Constant(0.5), {1.1 * (i + 0.5 * row), 0, 0.5 + 1.01 * row});
    }
    run(world, 0.5);
    base::set_thread_count(0);
    return world.hash();
  };
  EXPECT_EQ(hash_with(1), hash_with(2));
}

TEST(Laws, RejectsTenThousandBodiesAtOnePoint)
{
  World world(desc_without_sleep());
  BodyDesc spec;
  spec.shape = world.add_shape({model::Box{Vec3::Constant(0.5)}});
  spec.mass = 1;
  for (int i = 0; i < 10000; ++i) world.add_body(spec);
  EXPECT_THROW(world.step(kStep), Error);
}

// What restitution gives, it takes from the speed of approach: balls that meet at once gain nothing.
// Balls that bounce without loss and without friction keep their energy. The impulse stepper resolves one
// blow after another and keeps it at any step. The constraint stepper resolves the blows of a step together,
// and where a ball has two of them at once, Newton's law for each takes energy away; shorter steps have fewer
// such coincidences, so the energy that is lost goes to zero with the step. No stepper may ever gain any.
TEST(Laws, APileOfBallsWithFullRestitutionKeepsItsEnergyAsTheStepShrinks)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    double last_loss = 1;
    for (const double h : {1.0 / 60, 1.0 / 240, 1.0 / 960}) {
      WorldDesc desc = desc_without_sleep();
      desc.stepper = stepper;
      World world(desc);
      world.set_surface(model::kDefaultSurface, {1.0, 0, 0, 0});
      add_plane(world);
      for (int i = 0; i < 8; ++i)
        add(world, {model::Sphere{0.25}}, {0.02 * i, 0.015 * (i % 3), 0.5 + 0.7 * i});
      const double first = world.kinetic_energy() + world.potential_energy();
      double loss = 0;
      double gain = 0;
      for (int i = 0; i < static_cast<int>(std::lround(4 / h)); ++i) {
        world.step(h);
        const double now = world.kinetic_energy() + world.potential_energy();
        loss = std::max(loss, 1 - now / first);
        gain = std::max(gain, now / first - 1);
      }
      EXPECT_LT(gain, 0.01) << "step " << h;
      EXPECT_TRUE(loss < 0.01 || (stepper == StepperKind::constraint && loss < last_loss / 2))
          << "step " << h << " loses " << loss << ", the longer one " << last_loss;
      last_loss = loss;
    }
    EXPECT_LT(last_loss, 0.01);
  }
}

}  // namespace
}  // namespace thrum::sim
