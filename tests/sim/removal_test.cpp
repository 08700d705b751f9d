// SPDX-License-Identifier: MIT
// Removing bodies, joints and shapes from a running world.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <set>

#include "tests/sim/same_bits.h"
#include "tests/sim/world_fixture.h"
#include "thrum/base/error.h"
#include "thrum/base/random.h"
#include "thrum/sim/checkpoint.h"

namespace thrum::sim {
namespace {

using namespace testing;

// A heap of boxes, balls and capsules, and between any two of them as many others as `extra` says.
struct Heap {
  Heap(StepperKind stepper, std::uint64_t seed, int extra, bool far_away) : world({.stepper = stepper})
  {
    add_plane(world);
    base::Random random(seed);
    base::Random other(seed + 1);
    for (int i = 0; i < 24; ++i) {
      for (int k = 0; k < extra; ++k) {
        const Vec3 place = far_away ? Vec3(100 + 3 * k, 3 * i, 1 + other.uniform())
                                    : Vec3(other.uniform(), other.uniform(), 2);
        extras.push_back(add_box(world, Vec3::Constant(0.3), place));
        // What moves fast would cut the steps of all bodies into slices.
        if (far_away) world.set_motion(extras.back(), model::Motion::fixed);
      }
      const Vec3 place(0.8 * random.uniform(), 0.8 * random.uniform(), 0.5 + 0.7 * i);
      kept.push_back(i % 3 == 0   ? add_box(world, Vec3(0.2, 0.3, 0.25), place)
                     : i % 3 == 1 ? add(world, {model::Sphere{0.25}}, place)
                                  : add(world, {model::Capsule{0.15, 0.2}}, place));
    }
  }

  void remove_extras(std::uint64_t seed)
  {
    base::Random random(seed);
    while (!extras.empty()) {
      const auto i = static_cast<std::size_t>(random.uniform() * static_cast<double>(extras.size()));
      world.remove_body(extras[i]);
      extras.erase(extras.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  World world;
  std::vector<model::BodyId> kept, extras;
};

void expect_same_motion(Heap& a, Heap& b, int steps, double h)
{
  for (int s = 0; s < steps; ++s) {
    a.world.step(h);
    b.world.step(h);
    for (std::size_t i = 0; i < a.kept.size(); ++i)
      ASSERT_TRUE(same_bits(a.world.body(a.kept[i]), b.world.body(b.kept[i])))
          << "body " << i << " in step " << s;
  }
}

TEST(Removal, WhatIsLeftMovesAsIfTheRestHadNeverBeenThere)
{
  for (const StepperKind stepper :
       {StepperKind::constraint, StepperKind::impulse, StepperKind::penalty, StepperKind::flexible}) {
    for (const int extra : {1, 4}) {  // without and with empty places being closed up
      for (const std::uint64_t seed : {1, 2, 3}) {
        Heap alone(stepper, seed, 0, false);
        Heap removed(stepper, seed, extra, false);
        removed.remove_extras(seed + 7);
        expect_same_motion(alone, removed, 120, seed == 2 ? 1.0 / 100 : 1.0 / 60);
        EXPECT_EQ(alone.world.save().patches.size(), removed.world.save().patches.size());
      }
    }
  }
}

TEST(Removal, InTheMiddleOfARunDoesNotDisturbOthersByABit)
{
  for (const StepperKind stepper :
       {StepperKind::constraint, StepperKind::impulse, StepperKind::penalty, StepperKind::flexible}) {
    for (const int extra : {1, 3}) {
      Heap alone(stepper, 5, 0, true);
      Heap removed(stepper, 5, extra, true);
      expect_same_motion(alone, removed, 50, 1.0 / 60);
      removed.remove_extras(3);
      expect_same_motion(alone, removed, 100, 1.0 / 60);
    }
  }
}

TEST(Removal, StaleIdsAreRejectedWithASentence)
{
  World world;
  const model::BodyId first = add_box(world, Vec3::Constant(0.5), {0, 0, 1});
  world.remove_body(first);
  const model::BodyId second = add_box(world, Vec3::Constant(0.5), {0, 0, 1});
  EXPECT_EQ(second.slot, first.slot);
  EXPECT_FALSE(world.contains(first));
  EXPECT_TRUE(world.contains(second));
  EXPECT_EQ(world.bodies(), std::vector{second});
  const auto message = [&](auto&& act) -> std::string {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  for (const std::string& text :
       {message([&] { static_cast<void>(world.body(first)); }), message([&] { world.remove_body(first); }),
        message([&] { world.set_velocity(first, Vec3::Zero(), Vec3::Zero()); }),
        message([&] { world.apply_force(first, Vec3::UnitX(), Vec3::Zero()); }),
        message([&] { world.add_joint({.a = first}); })})
    EXPECT_NE(text.find("removed"), std::string::npos) << text;
  EXPECT_NE(message([&] { static_cast<void>(world.body({})); }).find("empty"), std::string::npos);
  // Surfaces are never removed.
  const std::string surface = message([&] { world.set_surface(second, model::SurfaceId{9, 0, 0}); });
  EXPECT_NE(surface.find("There is no surface 9"), std::string::npos) << surface;
  EXPECT_EQ(surface.find("removed"), std::string::npos) << surface;
}

TEST(Ids, OfAnotherWorldAreRejectedThoughTheirSlotMatches)
{
  World here, there;
  const model::ShapeId shape = here.add_shape({model::Sphere{0.5}});
  const model::SurfaceId surface = here.add_surface({});
  const model::BodyId ball = here.add_body({.shape = shape, .surface = surface});
  const model::BodyId other = here.add_body({.shape = shape, .X_ws = {{0, 0, 3}, Quat::Identity()}});
  const model::JointId joint = here.add_joint({.kind = model::JointKind::distance, .a = ball, .b = other});
  const model::ShapeId foreign_shape = there.add_shape({model::Sphere{0.5}});
  const model::SurfaceId foreign_surface = there.add_surface({});
  const model::BodyId foreign = there.add_body({.shape = foreign_shape, .surface = foreign_surface});
  const model::BodyId second = there.add_body({.shape = foreign_shape});
  const model::JointId foreign_joint =
      there.add_joint({.kind = model::JointKind::distance, .a = foreign, .b = second});
  EXPECT_EQ(foreign, ball);  // ids are compared without their world
  EXPECT_TRUE(here.contains(ball) && here.contains(joint) && here.contains(shape));
  EXPECT_FALSE(here.contains(foreign));
  EXPECT_FALSE(here.contains(foreign_joint));
  EXPECT_FALSE(here.contains(foreign_shape));
  const auto expect_rejected = [](const std::string& what, auto&& act) {
    try {
      act();
      FAIL() << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what + " 0 is of another world"), std::string::npos)
          << error.what();
    }
  };
  expect_rejected("body", [&] { static_cast<void>(here.body(foreign)); });
  expect_rejected("body", [&] { here.remove_body(foreign); });
  expect_rejected("body", [&] { here.apply_impulse(foreign, Vec3::UnitX(), Vec3::Zero()); });
  expect_rejected("body", [&] { here.add_joint({.a = foreign, .b = ball}); });
  expect_rejected("joint", [&] { here.remove_joint(foreign_joint); });
  expect_rejected("joint", [&] { static_cast<void>(here.joint_value(foreign_joint)); });
  expect_rejected("shape", [&] { here.add_body({.shape = foreign_shape}); });
  expect_rejected("shape", [&] { here.remove_shape(foreign_shape); });
  static_cast<void>(there.add_surface({}));
  const auto surface_sentence = [&](auto&& act) -> std::string {
    try {
      act();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_NE(surface_sentence([&] { here.set_surface(ball, foreign_surface); }).find("of another world"),
            std::string::npos);
  here.set_surface(ball, model::kDefaultSurface);  // the one that every world has
}

// The same calls give worlds with the same bits, and each continues from what the other saved, with its own
// ids.
TEST(Ids, TheWorldOfAnIdIsNotPartOfTheState)
{
  const auto build = [](World& world) {
    const model::ShapeId shape = world.add_shape({model::Sphere{0.5}});
    return world.add_body({.shape = shape, .velocity = {1, 2, 3}});
  };
  World first, second;
  const model::BodyId a = build(first);
  const model::BodyId b = build(second);
  EXPECT_EQ(first.hash(), second.hash());
  first.step(0.01);
  second.restore(first.save());
  EXPECT_EQ(first.hash(), second.hash());
  EXPECT_TRUE(second.contains(second.bodies().front()));
  EXPECT_EQ(second.body(b).X_wb.position, first.body(a).X_wb.position);
  EXPECT_THROW(static_cast<void>(second.body(a)), Error);
  // An id goes with the world that is moved.
  World moved = std::move(first);
  EXPECT_EQ(moved.body(a).X_wb.position, second.body(b).X_wb.position);
}

TEST(Removal, AShapeGoesWhenNoBodyHasIt)
{
  World world;
  const model::ShapeId ball = world.add_shape({model::Sphere{0.5}});
  const model::BodyId body = world.add_body({.name = "ball", .shape = ball});
  EXPECT_THROW(world.remove_shape(ball), Error);
  world.remove_body(body);
  world.remove_shape(ball);
  EXPECT_FALSE(world.contains(ball));
  EXPECT_THROW(world.add_body({.name = "ball", .shape = ball}), Error);
  const model::ShapeId box = world.add_shape({model::Box{Vec3::Constant(0.5)}});
  EXPECT_EQ(box.slot, ball.slot);
  world.add_body({.name = "box", .shape = box, .X_ws = {{0, 0, 5}, Quat::Identity()}});
  for (int i = 0; i < 10; ++i) world.step(0.01);
}

TEST(Removal, WhatRestedOnABodyWakesAndFalls)
{
  for (const StepperKind stepper :
       {StepperKind::constraint, StepperKind::impulse, StepperKind::penalty, StepperKind::flexible}) {
    World world({.stepper = stepper});
    add_plane(world);
    const model::BodyId low = add_box(world, Vec3::Constant(0.5), {0, 0, 0.5});
    const model::BodyId high = add_box(world, Vec3::Constant(0.5), {0, 0, 1.5});
    for (int i = 0; i < 240; ++i) world.step(1.0 / 60);
    // With the flexible stepper bodies do not sleep.
    ASSERT_EQ(world.body(high).asleep, stepper != StepperKind::flexible);
    world.remove_body(low);
    world.step(1.0 / 60);
    const auto events = world.events();
    EXPECT_TRUE(std::any_of(events.begin(), events.end(), [&](const model::ContactEvent& e) {
      return e.kind == model::ContactEventKind::end && (e.a == low || e.b == low) &&
             (e.a == high || e.b == high);
    }));
    for (int i = 0; i < 120; ++i) world.step(1.0 / 60);
    EXPECT_NEAR(world.body(high).X_wb.position.z(), 0.5, 5e-3);
  }
}

// Also when so many go at once that their places are closed up.
TEST(Removal, EveryContactOfARemovedBodyEnds)
{
  for (const StepperKind stepper :
       {StepperKind::constraint, StepperKind::impulse, StepperKind::penalty, StepperKind::flexible}) {
    for (const bool sensor : {false, true}) {
      for (const int pairs : {3, 60}) {
        World world({.stepper = stepper});
        const model::ShapeId box = world.add_shape({model::Box{Vec3::Constant(0.2)}});
        std::vector<model::BodyId> low, high;
        for (int i = 0; i < pairs; ++i) {
          low.push_back(world.add_body({.shape = box,
                                        .X_ws = {{1.0 * i, 0, 0}, Quat::Identity()},
                                        .motion = model::Motion::fixed,
                                        .sensor = sensor}));
          high.push_back(world.add_body({.shape = box,
                                         .X_ws = {{1.0 * i, 0, sensor ? 0.1 : 0.4}, Quat::Identity()},
                                         .gravity_scale = sensor ? 0.0 : 1.0}));
        }
        for (int i = 0; i < 10; ++i) world.step(0.01);
        for (std::size_t i = 0; i < low.size(); ++i) {
          world.remove_body(low[i]);
          if (i % 10 != 0) world.remove_body(high[i]);
        }
        world.step(0.01);
        std::set<model::BodyId> ended;
        for (const model::ContactEvent& event : world.events()) {
          EXPECT_EQ(event.kind, model::ContactEventKind::end);
          ended.insert(event.a);
          ended.insert(event.b);
        }
        std::set<model::BodyId> expected(low.begin(), low.end());
        expected.insert(high.begin(), high.end());
        EXPECT_EQ(ended, expected) << static_cast<int>(stepper) << " " << sensor << " " << pairs;
      }
    }
  }
}

// A box falls through a sensor and lands, by timewarp: neither the sensor nor its removal changes the motion.
TEST(Removal, ASensorThatIsGoneDoesNotChangeHowTheWorldSteps)
{
  const auto height = [](int removed_after) {
    World world({.time_of_impact = TimeOfImpactMethod::timewarp});
    add_plane(world);
    const model::BodyId box = add_box(world, Vec3::Constant(0.2), {0, 0, 1});
    model::BodyId sensor;
    if (removed_after >= 0)
      sensor = world.add_body(
          {.shape = world.add_shape({model::Sphere{0.5}}), .motion = model::Motion::fixed, .sensor = true});
    for (int i = 0; i < 60; ++i) {
      if (i == removed_after) world.remove_body(sensor);
      world.step(0.01);
    }
    EXPECT_EQ(world.limit_counts().steps_not_warped, 0u);
    return world.body(box).X_wb.position.z();
  };
  const double without = height(-1);
  for (const int step : {1, 20, 45, 100}) EXPECT_EQ(height(step), without) << step;
}

TEST(Removal, JointsGoWithTheirBodies)
{
  World world;
  const model::BodyId a = add_box(world, Vec3::Constant(0.1), {0, 0, 0});
  const model::BodyId b = add_box(world, Vec3::Constant(0.1), {0.5, 0, 0});
  const model::BodyId c = add_box(world, Vec3::Constant(0.1), {1, 0, 0});
  const model::JointId held = world.add_joint({.kind = model::JointKind::ball, .a = a});
  const model::JointId ab = world.add_joint(
      {.kind = model::JointKind::fixed, .a = a, .b = b, .X_aj = {{0.5, 0, 0}, Quat::Identity()}});
  const model::JointId bc = world.add_joint(
      {.kind = model::JointKind::fixed, .a = b, .b = c, .X_aj = {{0.5, 0, 0}, Quat::Identity()}});
  for (int i = 0; i < 5; ++i) world.step(0.01);
  world.remove_body(b);
  EXPECT_FALSE(world.contains(ab));
  EXPECT_FALSE(world.contains(bc));
  EXPECT_TRUE(world.contains(held));
  EXPECT_THROW(static_cast<void>(world.joint_value(ab)), Error);
  const double z = world.body(c).X_wb.position.z();
  const double v = world.body(c).velocity.z();
  for (int i = 0; i < 20; ++i) world.step(0.01);
  EXPECT_EQ(world.model().joints.size(), 1u);
  EXPECT_NEAR(world.body(c).X_wb.position.z(), z + v * 0.2 - 9.81 * 0.2 * 0.2 / 2,
              9.81 * 0.2 * 0.01);                            // falls freely
  EXPECT_NEAR(world.body(a).X_wb.position.norm(), 0, 1e-6);  // still held
  world.remove_joint(held);
  for (int i = 0; i < 20; ++i) world.step(0.01);
  EXPECT_LT(world.body(a).X_wb.position.z(), -0.1);
}

TEST(Removal, SavedStatesFollow)
{
  Heap heap(StepperKind::constraint, 9, 3, false);
  for (int i = 0; i < 30; ++i) heap.world.step(1.0 / 60);
  const model::SceneState before = heap.world.save();
  heap.world.remove_body(heap.extras[4]);
  heap.extras.erase(heap.extras.begin() + 4);
  EXPECT_THROW(heap.world.restore(before), Error);
  heap.remove_extras(1);
  const base::Hash128 hash = heap.world.hash();
  const model::SceneState saved = heap.world.save();
  EXPECT_EQ(saved.bodies.size(), heap.kept.size() + 1);
  for (int i = 0; i < 40; ++i) heap.world.step(1.0 / 60);
  const base::Hash128 later = heap.world.hash();
  heap.world.restore(saved);
  EXPECT_EQ(heap.world.hash(), hash);
  for (int i = 0; i < 40; ++i) heap.world.step(1.0 / 60);
  EXPECT_EQ(heap.world.hash(), later);
  // Through the bytes of a checkpoint as well.
  const Checkpoint read = parse_checkpoint(checkpoint_bytes({0, 0, {}, saved}), "test");
  heap.world.restore(read.state);
  EXPECT_EQ(heap.world.hash(), hash);
}

// Whatever the world did before the state was restored into it.
TEST(Removal, SavedHeapsContinueBitForBitWithEveryTimeOfImpact)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const TimeOfImpactMethod method :
         {TimeOfImpactMethod::none, TimeOfImpactMethod::continuous, TimeOfImpactMethod::bisection,
          TimeOfImpactMethod::conservative, TimeOfImpactMethod::timewarp}) {
      const auto make = [&](World& world) {
        add_plane(world);
        base::Random random(4);
        for (int i = 0; i < 14; ++i) {
          const Vec3 place(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), 0.4 + 0.3 * i);
          const model::BodyId id =
              add(world, one_of_four(i, {{0.2, 0.15, 0.1}}, {0.15}, {0.1, 0.15}, {0.15, 0.1}), place, 1,
                  random.rotation());
          world.set_velocity(id, {0, 0, i % 5 == 0 ? -20.0 : -1.0}, {3, -2, 5});
        }
      };
      const WorldDesc desc{.stepper = stepper, .time_of_impact = method};
      World world(desc), other(desc);
      make(world);
      make(other);
      for (int i = 0; i < 48; ++i) {
        world.step(1.0 / 60);
        if (i % 4 == 0) other.restore(world.save());
        if (i % 4 != 0) other.step(1.0 / 60);
        ASSERT_EQ(world.hash(), other.hash())
            << static_cast<int>(stepper) << " " << static_cast<int>(method) << " step " << i;
      }
    }
  }
}

// Masses of contacts are kept over the steps and are not part of the state, those of sleepers neither. Pairs
// of boxes and capsules fall asleep while they still slide, and balls fall on them.
TEST(Removal, SavedSleepersWakeBitForBit)
{
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const auto make = [&](World& world) {
      add_plane(world);
      base::Random random(seed);
      for (int i = 0; i < 12; ++i) {
        const Vec3 place(i, 0, 0.1);
        const model::BodyId below = add_box(world, {0.3, 0.3, 0.1}, place);
        const model::BodyId above = add(world, {model::Capsule{0.1, 0.15}}, place + Vec3(0, 0, 0.2), 1,
                                        Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX())));
        for (const model::BodyId id : {below, above})
          world.set_velocity(id, {random.uniform(-0.008, 0.008), 0, 0}, {0, random.uniform(-0.01, 0.01), 0});
      }
    };
    World world, other;
    make(world);
    make(other);
    const auto count_asleep = [&] {
      const std::vector<model::BodyId> bodies = world.bodies();
      return std::count_if(bodies.begin(), bodies.end(),
                           [&](model::BodyId id) { return world.body(id).asleep; });
    };
    for (int i = 0; i < 600 && count_asleep() < 12; ++i) world.step(1.0 / 60);
    ASSERT_GE(count_asleep(), 12) << "seed " << seed;
    other.restore(world.save());
    for (World* each : {&world, &other}) {
      for (int i = 0; i < 12; ++i) add(*each, {model::Sphere{0.1}}, {i + 0.03, 0.02, 0.55});
    }
    for (int i = 0; i < 20; ++i) {
      world.step(1.0 / 60);
      other.step(1.0 / 60);
      ASSERT_EQ(world.hash(), other.hash()) << "seed " << seed << ", step " << i << " after waking";
    }
  }
}

// Bodies come and go for a long time: arrays stay bounded by the number that exists, and ids stay unique.
TEST(Removal, ComingAndGoingForLongStaysBounded)
{
  World world;
  add_plane(world);
  const model::ShapeId shape = world.add_shape({model::Sphere{0.1}});
  std::vector<model::BodyId> alive;
  std::set<model::BodyId> seen;
  base::Random random(3);
  std::size_t most = 0;
  for (int i = 0; i < 4000; ++i) {
    const Vec3 place(10 * random.uniform(), 10 * random.uniform(), 0.2 + 3 * random.uniform());
    alive.push_back(world.add_body({.shape = shape, .X_ws = {place, Quat::Identity()}}));
    EXPECT_TRUE(seen.insert(alive.back()).second);
    if (alive.size() > 60) {
      world.remove_body(alive.front());
      alive.erase(alive.begin());
    }
    if (i % 20 == 0) world.step(1.0 / 60);
    most = std::max(most, world.state().bodies.size());
  }
  EXPECT_LE(most, 2 * 62 + 33u + 20u);
  EXPECT_EQ(world.bodies().size(), alive.size() + 1);
  for (const model::BodyId id : alive) EXPECT_TRUE(world.body(id).X_wb.position.allFinite());
}

}  // namespace
}  // namespace thrum::sim
