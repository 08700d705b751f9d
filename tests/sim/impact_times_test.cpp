// SPDX-License-Identifier: MIT
// Time of impact by bisection, conservative advancement and timewarp: against closed forms, and against each
// other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/sim/parameter_names.h"
#include "tests/sim/world_fixture.h"
#include "thrum/base/random.h"
#include "thrum/sim/step_observer.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double g = 9.81;

class ImpactTimes : public ::testing::TestWithParam<TimeOfImpactMethod> {
 protected:
  [[nodiscard]] WorldDesc desc() const
  {
    WorldDesc desc = desc_without_sleep();
    desc.time_of_impact = GetParam();
    desc.max_impact_slices = 100;
    return desc;
  }
};

INSTANTIATE_TEST_SUITE_P(Methods, ImpactTimes,
                         ::testing::Values(TimeOfImpactMethod::bisection, TimeOfImpactMethod::conservative,
                                           TimeOfImpactMethod::timewarp),
                         [](const auto& method) { return method_name(method.param); });

// A ball between two walls in weightlessness, without losses: it is on the triangle wave of the gap that the
// tolerance leaves, at any step and tolerance.
TEST_P(ImpactTimes, OfABallBetweenWallsAreThoseOfItsTriangleWave)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
      for (const double h : {1.0 / 30, 1.0 / 60, 1.0 / 250}) {
        WorldDesc d = desc();
        d.stepper = stepper;
        d.gravity.setZero();
        d.impact_tolerance = tolerance;
        World world(d);
        world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
        BodyDesc wall;
        wall.shape = world.add_shape({model::Box{{0.1, 1, 1}}});
        wall.motion = model::Motion::fixed;
        for (const double x : {-0.6, 0.6}) {
          wall.X_ws.position = {x, 0, 0};
          world.add_body(wall);
        }
        const model::BodyId ball = add(world, {model::Sphere{0.1}}, Vec3::Zero());
        constexpr double kSpeed = 7;
        world.set_velocity(ball, {kSpeed, 0, 0}, Vec3::Zero());
        const int steps = static_cast<int>(std::lround(0.5 / h));
        for (int i = 1; i <= steps; ++i) {
          world.step(h);
          // The way if walls were mirrors at +-0.4.
          const double way = kSpeed * h * i;
          const double phase = std::fmod(way + 0.4, 1.6);
          const double expected = phase < 0.8 ? phase - 0.4 : 1.2 - phase;
          const double impacts = std::floor((way + 0.4) / 0.8);
          // Each impact is early by up to 1.5 tolerances, there and back.
          const double allowed = 3.1 * tolerance * 0.2 * impacts + 1e-9;
          ASSERT_NEAR(world.body(ball).X_wb.position.x(), expected, allowed)
              << "h " << h << ", tolerance " << tolerance << ", step " << i << ", stepper "
              << static_cast<int>(stepper);
        }
        EXPECT_NEAR(std::abs(world.body(ball).velocity.x()), kSpeed, 1e-9);
      }
    }
  }
}

// A dropped ball comes back to its height at the times of the closed form.
TEST_P(ImpactTimes, OfADroppedBallAreThoseOfItsParabolas)
{
  for (const double h : {1.0 / 30, 1.0 / 60, 1.0 / 250}) {
    World world(desc());
    world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
    add_plane(world);
    const model::BodyId ball = add(world, {model::Sphere{0.1}}, {0, 0, 1.1});
    const double fall = std::sqrt(2 / g);
    for (int i = 1; i <= static_cast<int>(std::lround(2 / h)); ++i) {
      world.step(h);
      const double since = std::fmod(h * i + fall, 2 * fall) - fall;  // the highest point
      const double impacts = std::floor((h * i + fall) / (2 * fall));
      // 1.5 tolerances of 0.2 mm there and back, and as much in speed for what follows.
      ASSERT_NEAR(world.body(ball).X_wb.position.z(), 1.1 - 0.5 * g * since * since, 2e-3 * impacts + 1e-9)
          << h << " step " << i;
    }
  }
}

// The end of a spinning rod reaches the ground at the angle a with half length * sin a = height. Without
// losses its centre then rises at a constant speed, from which the time of the impact follows. Bodies that
// turned by 2 atan(h w / 2) a slice were late by up to 6 mm of the way of their end.
TEST_P(ImpactTimes, OfASpinningRodIsWhenItsEndReachesTheGround)
{
  constexpr double kTolerance = 1e-4;  // of the thickness of 2 cm
  // Corner at (0.5, -0.01): 0.5 sin a + 0.01 cos a = height.
  const double reach = std::hypot(0.5, 0.01);
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const double spin : {2.0, 10.0, 30.0, 100.0}) {
      for (const double height : {0.17, 0.26, 0.33, 0.39}) {
        WorldDesc d = desc();
        d.stepper = stepper;
        d.gravity.setZero();
        d.impact_tolerance = kTolerance;
        World world(d);
        world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
        add_plane(world);
        const model::BodyId rod = add_box(world, {0.5, 0.01, 0.01}, {0, 0, height});
        world.set_velocity(rod, Vec3::Zero(), {0, spin, 0});
        const double expected = (std::asin(height / reach) - std::atan2(0.01, 0.5)) / spin;
        double speed = 0;
        for (int i = 0; i < 60 && speed < 1e-9; ++i) {
          world.step(kStep);
          speed = world.body(rod).velocity.z();
        }
        ASSERT_GT(speed, 1e-9);
        const double hit = world.state().time - (world.body(rod).X_wb.position.z() - height) / speed;
        EXPECT_LT(std::abs(hit - expected) * spin * 0.5, 15 * kTolerance * 0.02)
            << spin << " rad/s from " << height << " m, stepper " << static_cast<int>(stepper);
      }
    }
  }
}

/// Balls in a box without gravity.
World make_gas(WorldDesc desc, int count, double size, double speed)
{
  desc.gravity.setZero();
  desc.sleep.enabled = false;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
  BodyDesc wall;
  wall.motion = model::Motion::fixed;
  for (int k = 0; k < 3; ++k) {
    Vec3 half = Vec3::Constant(size);
    half[k] = 0.1;
    wall.shape = world.add_shape({model::Box{half}});
    for (const double side : {-1.0, 1.0}) {
      wall.X_ws.position = side * (0.5 * size + 0.1) * Vec3::Unit(k);
      world.add_body(wall);
    }
  }
  base::Random random(42);
  const int side = static_cast<int>(std::ceil(std::cbrt(count)));
  const model::ShapeId ball = world.add_shape({model::Sphere{0.05}});
  for (int i = 0; i < count; ++i) {
    BodyDesc body;
    body.shape = ball;
    body.mass = 1;
    const Vec3 cell(i % side, (i / side) % side, i / side / side);
    body.X_ws.position = size * ((cell + Vec3::Constant(0.5)) / side - Vec3::Constant(0.5));
    body.velocity = speed * Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
    world.add_body(body);
  }
  return world;
}

// Balls that bounce keep their energy, whichever method; collisions happen; none leaves the box.
TEST_P(ImpactTimes, AGasKeepsItsEnergyAndStaysInItsBox)
{
  World world = make_gas(desc(), 60, 1.2, 10);
  const double energy = world.kinetic_energy();
  for (int i = 0; i < 60; ++i) world.step(kStep);
  // Rows of the solver are in single precision.
  EXPECT_NEAR(world.kinetic_energy(), energy, 1e-4 * energy);
  for (const model::BodyId id : world.bodies()) {
    if (world.desc_of(id).motion == model::Motion::fixed) continue;
    EXPECT_LT(world.body(id).X_wb.position.cwiseAbs().maxCoeff(), 0.6);
  }
}

// What is at rest stays: a stack of boxes.
TEST_P(ImpactTimes, AStackRests)
{
  World world(desc());
  world.set_surface(model::kDefaultSurface, {0, 0.5, 0, 0});
  add_plane(world);
  std::vector<model::BodyId> boxes;
  for (int i = 0; i < 5; ++i) boxes.push_back(add_box(world, Vec3::Constant(0.25), {0, 0, 0.26 + 0.52 * i}));
  run(world, 2);
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(world.body(boxes[static_cast<std::size_t>(i)]).X_wb.position.z(), 0.25 + 0.5 * i, 5e-3);
    EXPECT_LT(world.body(boxes[static_cast<std::size_t>(i)]).velocity.norm(), 1e-2);
  }
}

// A state that is restored goes on with the same bits.
TEST_P(ImpactTimes, GoOnFromARestoredState)
{
  World world = make_gas(desc(), 30, 1, 8);
  run(world, 0.2);
  const model::SceneState state = world.save();
  run(world, 0.2);
  const base::Hash128 expected = world.hash();
  world.restore(state);
  run(world, 0.2);
  EXPECT_EQ(world.hash(), expected);
}

// Timewarp moves every ball as the synchronous run does, up to what the first impacts leave to chance, with
// less work.
TEST(Timewarp, MovesAsTheSynchronousRunWithLessWork)
{
  WorldDesc desc;
  desc.max_impact_slices = 1000;
  const auto run_with = [&](TimeOfImpactMethod method) {
    desc.time_of_impact = method;
    World world = make_gas(desc, 500, 5, 5);
    for (int i = 0; i < 12; ++i) world.step(kStep);
    return world;
  };
  const World warp = run_with(TimeOfImpactMethod::timewarp);
  const World together = run_with(TimeOfImpactMethod::conservative);
  double largest = 0;
  for (std::size_t i = 0; i < warp.state().bodies.size(); ++i)
    largest = std::max(
        largest, (warp.state().bodies[i].X_wb.position - together.state().bodies[i].X_wb.position).norm());
  // Impacts are found to 1e-4 m; a second one of the same ball multiplies that by its way over its radius.
  EXPECT_LT(largest, 0.01);
  const ImpactCounts& a = warp.impact_counts();
  const ImpactCounts& b = together.impact_counts();
  EXPECT_LT(4 * a.solved_bodies, b.solved_bodies);
}

// Joints of the impulse stepper depend on where slices end: steps are taken by conservative advancement, bit
// for bit, and counted.
TEST(Timewarp, RunsAsConservativeWithJointsOfTheImpulseStepper)
{
  const auto run_with = [](StepperKind stepper, TimeOfImpactMethod method) {
    WorldDesc desc = desc_without_sleep();
    desc.stepper = stepper;
    desc.time_of_impact = method;
    World world(desc);
    add_plane(world);
    model::JointDesc joint;
    joint.kind = model::JointKind::ball;
    joint.a = add_box(world, {0.2, 0.05, 0.05}, {0, 0, 0.3});
    joint.b = add_box(world, {0.2, 0.05, 0.05}, {0.5, 0, 0.3});
    joint.X_aj.position = {0.25, 0, 0};
    joint.X_bj.position = {-0.25, 0, 0};
    world.add_joint(joint);
    add(world, {model::Sphere{0.1}}, {3, 0, 0.5});
    run(world, 0.5);
    return std::pair(world.hash(), world.limit_counts().steps_not_warped);
  };
  const auto warped = run_with(StepperKind::impulse, TimeOfImpactMethod::timewarp);
  EXPECT_EQ(warped.first, run_with(StepperKind::impulse, TimeOfImpactMethod::conservative).first);
  EXPECT_EQ(warped.second, 30U);
  EXPECT_EQ(run_with(StepperKind::constraint, TimeOfImpactMethod::timewarp).second, 0U);
}

// Two balls collide, and one of them is sent into a third one that nothing else would have met in this step:
// the third is rolled back, and struck at the right time. All others are not touched.
TEST(Timewarp, RollsBackOnlyWhatAnImpactReaches)
{
  WorldDesc desc = desc_without_sleep();
  desc.gravity.setZero();
  desc.time_of_impact = TimeOfImpactMethod::timewarp;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
  // The first stops dead and the second takes its velocity, up the x axis, to the third.
  const model::BodyId first = add(world, {model::Sphere{0.1}}, {0, 0, 0});
  const model::BodyId second = add(world, {model::Sphere{0.1}}, {0.4, 0, 0});
  const model::BodyId third = add(world, {model::Sphere{0.1}}, {0.85, 0, 0});
  std::vector<model::BodyId> others;
  for (int i = 0; i < 50; ++i) others.push_back(add(world, {model::Sphere{0.1}}, {0, 1.0 + i, 0}));
  world.set_velocity(first, {6, 0, 0}, Vec3::Zero());
  constexpr double h = 0.1;
  world.step(h);  // 0.2 to the second, 0.25 to the third, 0.15 further
  EXPECT_NEAR(world.body(first).X_wb.position.x(), 0.2, 1e-3);
  EXPECT_NEAR(world.body(second).X_wb.position.x(), 0.65, 2e-3);
  EXPECT_NEAR(world.body(third).X_wb.position.x(), 1.0, 3e-3);
  EXPECT_NEAR(world.body(third).velocity.x(), 6, 1e-6);
  const ImpactCounts& counts = world.impact_counts();
  EXPECT_GT(counts.undone_bodies, 0u);
  EXPECT_LT(counts.undone_bodies, 10u);
  EXPECT_LT(counts.solved_bodies, others.size() + 30);
}

// What an observer was shown.
struct Watcher : StepObserver {
  struct Slice {
    double time;
    double h;
    std::vector<model::BodyState> before;
    std::vector<model::BodyState> after;
    std::vector<model::ContactPatch> patches;
  };

  [[nodiscard]] bool only_watches() const override { return true; }
  [[nodiscard]] bool needs_bodies_before() const override { return true; }
  void before_step(const StepView& /*view*/) override { slices.clear(); }
  void after_slice(const StepView& view, StepActions& /*actions*/) override
  {
    EXPECT_EQ(view.surfaces.size(), view.state.patches.size());
    slices.push_back({view.time,
                      view.h,
                      {view.bodies_before.begin(), view.bodies_before.end()},
                      view.state.bodies,
                      view.state.patches});
  }

  std::vector<Slice> slices;
};

// An observer that only watches is shown one row of slices that fills the step, from its start to its end,
// each with the bodies as the one before left them. Impulses of all slices together are the change of every
// body's momentum; and the world moves bit for bit as without it.
TEST(Timewarp, IsWatchedAsOneRowOfSlices)
{
  for (const double speed : {3.0, 12.0}) {
    WorldDesc desc;
    desc.time_of_impact = TimeOfImpactMethod::timewarp;
    desc.max_impact_slices = 1000;
    World alone = make_gas(desc, 200, 2.5, speed);
    World watched = make_gas(desc, 200, 2.5, speed);
    Watcher watcher;
    watched.add_observer(watcher);
    std::size_t most_slices = 0;
    for (int i = 0; i < 20; ++i) {
      const std::vector<model::BodyState> start = watched.state().bodies;
      const double begin = watched.state().time;
      alone.step(kStep);
      watched.step(kStep);
      ASSERT_EQ(alone.hash(), watched.hash()) << i;
      most_slices = std::max(most_slices, watcher.slices.size());
      double time = begin;
      std::vector<Vec3> momentum(start.size(), Vec3::Zero());
      for (std::size_t k = 0; k < watcher.slices.size(); ++k) {
        const Watcher::Slice& slice = watcher.slices[k];
        EXPECT_NEAR(slice.time, time, 1e-12);
        EXPECT_GT(slice.h, 0);
        time = slice.time + slice.h;
        const auto& expected = k == 0 ? start : watcher.slices[k - 1].after;
        for (std::size_t b = 0; b < start.size(); ++b)
          ASSERT_EQ(slice.before[b].X_wb.position, expected[b].X_wb.position) << i << ", " << k << ", " << b;
        for (const model::ContactPatch& patch : slice.patches) {
          for (const model::ContactPoint& point : patch.active()) {
            momentum[at(patch.a)] -= point.normal_impulse * patch.normal;
            momentum[at(patch.b)] += point.normal_impulse * patch.normal;
          }
        }
      }
      EXPECT_NEAR(time, watched.state().time, 1e-12);
      for (std::size_t b = 0; b < start.size(); ++b) {
        ASSERT_EQ(watcher.slices.back().after[b].X_wb.position, watched.state().bodies[b].X_wb.position);
        if (watched.model().bodies[b].motion == model::Motion::fixed) continue;
        const Vec3 change = watched.state().bodies[b].velocity - start[b].velocity;  // each has 1 kg
        // Rows of the solver are in single precision; by `conservative` it is up to 3e-3.
        ASSERT_LT((change - momentum[b]).norm(), 5e-3 * speed) << "step " << i << ", body " << b;
      }
    }
    EXPECT_GT(most_slices, 3U);
    EXPECT_EQ(watched.limit_counts().steps_not_warped, 0U);
  }
}

// Contacts are shown where and when they happen: a point of contact lies on both balls at the beginning of
// its slice, and the impacts are at the times that `conservative` finds.
TEST(Timewarp, ShowsImpactsWhereAndWhenTheyHappen)
{
  const auto impacts = [](TimeOfImpactMethod method) {
    WorldDesc desc;
    desc.time_of_impact = method;
    desc.max_impact_slices = 1000;
    World world = make_gas(desc, 120, 2.5, 6);
    Watcher watcher;
    world.add_observer(watcher);
    std::vector<std::tuple<model::BodyIndex, model::BodyIndex, double, double>> found;
    for (int i = 0; i < 8; ++i) {
      world.step(kStep);
      for (const Watcher::Slice& slice : watcher.slices) {
        for (const model::ContactPatch& patch : slice.patches) {
          const model::ContactPoint& point = patch.points[0];
          if (!(point.normal_impulse > 0)) continue;
          found.emplace_back(patch.a, patch.b, slice.time, point.normal_impulse);
          for (const model::BodyIndex body : {patch.a, patch.b}) {
            if (world.model().bodies[at(body)].motion == model::Motion::fixed) continue;
            EXPECT_NEAR((slice.before[at(body)].X_wb.position - point.position).norm(), 0.05, 5e-4);
          }
        }
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  const auto warped = impacts(TimeOfImpactMethod::timewarp);
  const auto together = impacts(TimeOfImpactMethod::conservative);
  ASSERT_EQ(warped.size(), together.size());
  EXPECT_GT(warped.size(), 20U);
  for (std::size_t i = 0; i < warped.size(); ++i) {
    EXPECT_EQ(std::get<0>(warped[i]), std::get<0>(together[i]));
    EXPECT_EQ(std::get<1>(warped[i]), std::get<1>(together[i]));
    EXPECT_NEAR(std::get<2>(warped[i]), std::get<2>(together[i]), 1e-3);
    EXPECT_NEAR(std::get<3>(warped[i]), std::get<3>(together[i]), 0.02 * std::get<3>(together[i]) + 1e-3);
  }
}

// A ball that bounces through a sensor is announced in the step in which it gets there, and when it has left;
// by timewarp as by the synchronous run, though other balls collide at other times.
TEST(Timewarp, SensorsSeeTheBodiesOfAllGroups)
{
  const auto events = [](TimeOfImpactMethod method) {
    WorldDesc desc = desc_without_sleep();
    desc.time_of_impact = method;
    desc.max_impact_slices = 1000;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {0.8, 0, 0, 0});
    add_plane(world);
    for (int i = 0; i < 30; ++i) add(world, {model::Sphere{0.1}}, {0.5 * i, 0, 0.5 + 0.037 * i});
    BodyDesc sensor;
    sensor.shape = world.add_shape({model::Box{{20, 1, 0.05}}});
    sensor.motion = model::Motion::fixed;
    sensor.sensor = true;
    sensor.X_ws.position = {7, 0, 0.4};
    const model::BodyId id = world.add_body(sensor);
    std::vector<std::tuple<int, model::BodyIndex, int>> found;
    std::size_t overlaps = 0;
    for (int i = 0; i < 90; ++i) {
      world.step(kStep);
      for (const model::ContactEvent& event : world.events()) {
        if (event.a != id && event.b != id) continue;
        found.emplace_back(i, world.index_of(event.a == id ? event.b : event.a),
                           static_cast<int>(event.kind));
      }
      for (const model::Contact& contact : world.contacts()) overlaps += contact.b == id && contact.depth > 0;
    }
    EXPECT_EQ(world.limit_counts().steps_not_warped, 0U);
    EXPECT_GT(overlaps, 0U);
    return found;
  };
  const auto warped = events(TimeOfImpactMethod::timewarp);
  const auto together = events(TimeOfImpactMethod::conservative);
  EXPECT_GT(warped.size(), 100U);
  // Slices of the synchronous run end at impacts of other balls too, so that it looks more often.
  std::map<std::pair<model::BodyIndex, int>, std::vector<int>> expected;
  for (const auto& [step, body, kind] : together) expected[{body, kind}].push_back(step);
  for (const auto& [step, body, kind] : warped) {
    const auto& steps = expected[{body, kind}];
    EXPECT_TRUE(std::any_of(steps.begin(), steps.end(), [&](int s) { return std::abs(s - step) <= 1; }))
        << "step " << step << ", body " << body << ", kind " << kind;
  }
}

// With springs each group has substeps of its own, and the energy of all springs is that of the world.
TEST(Timewarp, SpringsOfThePenaltyStepperKeepTheEnergy)
{
  const auto left = [](TimeOfImpactMethod method) {
    WorldDesc desc;
    desc.stepper = StepperKind::penalty;
    desc.time_of_impact = method;
    desc.max_impact_slices = 1000;
    World world = make_gas(desc, 60, 1.2, 10);
    const double energy = world.kinetic_energy();
    double stored = 0;
    double last = energy;
    for (int i = 0; i < 60; ++i) {
      world.step(1.0 / 400);
      stored = std::max(stored, world.contact_energy());
      const double now = world.kinetic_energy() + world.contact_energy();
      EXPECT_LT(now, last * (1 + 1e-9)) << i;
      last = now;
    }
    EXPECT_GT(stored, 1e-3 * energy);
    EXPECT_EQ(world.limit_counts().steps_not_warped, 0U);
    return last / energy;
  };
  // Balls pass each other while their springs are pressed, which takes energy.
  EXPECT_NEAR(left(TimeOfImpactMethod::timewarp), left(TimeOfImpactMethod::conservative), 0.05);
}

}  // namespace
}  // namespace thrum::sim
