// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>

#include "tests/sim/world_fixture.h"
#include "thrum/base/error.h"
#include "thrum/flexible/flexible_report.h"
#include "thrum/flexible/group_problem.h"
#include "thrum/sim/step_observer.h"

namespace thrum::sim {
namespace {

using namespace testing;

// Calls what it is given; what is left out does nothing.
struct Probe : StepObserver {
  std::function<void(const StepView&, ContactFilter&)> solve;
  std::function<void(const StepView&, StepActions&)> slice;
  std::function<void(const StepView&, StepActions&)> whole;
  bool needs = false;

  [[nodiscard]] bool needs_bodies_before() const override { return needs; }
  void before_solve(const StepView& view, ContactFilter& filter) override
  {
    if (solve) solve(view, filter);
  }
  void after_slice(const StepView& view, StepActions& actions) override
  {
    if (slice) slice(view, actions);
  }
  void after_step(const StepView& view, StepActions& actions) override
  {
    if (whole) whole(view, actions);
  }
};

class BothSteppers : public ::testing::TestWithParam<StepperKind> {
 protected:
  [[nodiscard]] static WorldDesc desc()
  {
    WorldDesc desc = desc_without_sleep();
    desc.stepper = GetParam();
    return desc;
  }
};
INSTANTIATE_TEST_SUITE_P(StepObserver, BothSteppers,
                         ::testing::Values(StepperKind::constraint, StepperKind::impulse,
                                           StepperKind::penalty, StepperKind::flexible));

TEST(StepObserver, IsCalledInTheOrderOfAdding)
{
  World world;
  add_box(world, {1, 1, 1}, {0, 0, 0});
  std::string calls;
  Probe first;
  Probe second;
  for (auto& [probe, name] : {std::pair(&first, "1"), std::pair(&second, "2")}) {
    probe->solve = [&calls, n = name](const StepView&, ContactFilter&) {
      calls += std::string("b") + n;
    };
    probe->slice = [&calls, n = name](const StepView&, StepActions&) {
      calls += std::string("a") + n;
    };
    probe->whole = [&calls, n = name](const StepView&, StepActions&) {
      calls += std::string("s") + n;
    };
  }
  world.add_observer(second);
  world.add_observer(first);
  world.step(kStep);
  EXPECT_EQ(calls, "b2b1a2a1s2s1");
  EXPECT_THROW(world.add_observer(second), Error);
  calls.clear();
  world.remove_observer(second);
  world.remove_observer(second);  // again: nothing happens
  world.add_observer(second);
  world.step(kStep);
  EXPECT_EQ(calls, "b1b2a1a2s1s2");
}

TEST(StepObserver, MayBeAddedAndRemovedFromACall)
{
  World world;
  add_box(world, {1, 1, 1}, {0, 0, 0});
  int once = 0;
  int never = 0;
  int later = 0;
  Probe remover;
  Probe removed;
  Probe added;
  removed.slice = [&](const StepView&, StepActions&) {
    ++never;
  };
  added.slice = [&](const StepView&, StepActions&) {
    ++later;
  };
  remover.slice = [&](const StepView&, StepActions&) {
    ++once;
    world.remove_observer(removed);
    world.remove_observer(remover);
    world.add_observer(added);
  };
  world.add_observer(remover);
  world.add_observer(removed);
  world.step(kStep);
  EXPECT_EQ(later, 0);
  world.step(kStep);
  world.step(kStep);
  EXPECT_EQ(once, 1);
  EXPECT_EQ(never, 0);
  EXPECT_EQ(later, 2);
}

// Free fall: v1 = v0 + g h, and the bodies before are those of the step before.
TEST(StepObserver, SeesTheBodiesBeforeWhenSomebodyNeedsThem)
{
  World world;
  add_box(world, {1, 1, 1}, {0, 0, 0});
  Probe probe;
  std::size_t before = 99;
  probe.slice = [&](const StepView& view, StepActions&) {
    before = view.bodies_before.size();
    if (before != 1) return;
    EXPECT_NEAR(view.state.bodies[0].velocity.z() - view.bodies_before[0].velocity.z(), -9.81 * view.h,
                1e-12);
  };
  world.add_observer(probe);
  run(world, 0.1);
  EXPECT_EQ(before, 0u);
  probe.needs = true;
  run(world, 0.1);
  EXPECT_EQ(before, 1u);
}

// A ball so fast that its step is cut: the slices fill the step without a gap, each begins where the last
// ended, and after_step spans all of them.
TEST_P(BothSteppers, SlicesFillTheStep)
{
  World world(desc());
  add_plane(world);
  const model::BodyId ball = add(world, {model::Sphere{0.1}}, {0, 0, 1});
  world.set_velocity(ball, {3, 0, -50}, Vec3::Zero());
  Probe probe;
  probe.needs = true;
  int slices = 0;
  double filled = 0;
  Vec3 last = world.body(ball).velocity;
  const Vec3 start = last;
  double impulse = 0;
  const auto i = static_cast<std::size_t>(world.index_of(ball));
  probe.slice = [&](const StepView& view, StepActions&) {
    ++slices;
    EXPECT_NEAR(view.time, filled, 1e-12);
    filled += view.h;
    EXPECT_EQ(view.bodies_before[i].velocity, last);
    last = view.state.bodies[i].velocity;
    EXPECT_EQ(view.surfaces.size(), view.state.patches.size());
    for (const model::ContactPatch& patch : view.state.patches) {
      for (const model::ContactPoint& point : patch.active()) impulse += point.normal_impulse;
    }
    EXPECT_THROW((void)view.contacts(), Error);
  };
  bool complete = false;
  probe.whole = [&](const StepView& view, StepActions&) {
    complete = true;
    EXPECT_EQ(view.time, 0);
    EXPECT_EQ(view.h, 0.05);
    EXPECT_EQ(view.bodies_before[i].velocity, start);
    EXPECT_EQ(view.state.bodies[i].velocity, last);
    double sum = 0;
    for (const model::Contact& contact : view.contacts()) sum += contact.normal_impulse;
    EXPECT_NEAR(sum, impulse, 1e-12 * impulse);
  };
  world.add_observer(probe);
  world.step(0.05);
  EXPECT_TRUE(complete);
  EXPECT_GT(slices, 1);
  EXPECT_NEAR(filled, 0.05, 1e-12);
  EXPECT_GT(impulse, 0);
}

// Passes bodies that come from below: their lowest point is below the upper face of the platform, or they
// rise.
struct OneWay : StepObserver {
  model::BodyIndex platform = 0;
  double top = 0;
  double radius = 0;
  void before_solve(const StepView& view, ContactFilter& filter) override
  {
    for (std::size_t p = 0; p < view.state.patches.size(); ++p) {
      const model::ContactPatch& patch = view.state.patches[p];
      if (patch.a != platform && patch.b != platform) continue;
      const auto other = static_cast<std::size_t>(patch.a == platform ? patch.b : patch.a);
      const model::BodyState& body = view.state.bodies[other];
      if (body.velocity.z() > 0.05 || body.X_wb.position.z() - radius < top - 0.02) filter.disable(p);
    }
  }
};

// Thrown up at 5 m/s from 0.5 m below, the ball rises to v^2 / 2g = 1.27 m as if nothing were there, and
// comes to rest on the platform. Without the filter it never gets there.
TEST_P(BothSteppers, AFilterMakesAOneWayPlatform)
{
  for (const bool filtered : {true, false}) {
    World world(desc());
    BodyDesc spec;
    spec.shape = world.add_shape({model::Box{{1, 1, 0.05}}});
    spec.motion = model::Motion::fixed;
    const model::BodyId platform = world.add_body(spec);
    const model::BodyId ball = add(world, {model::Sphere{0.1}}, {0, 0, -0.5});
    world.set_velocity(ball, {0, 0, 5}, Vec3::Zero());
    OneWay filter;
    filter.platform = world.index_of(platform);
    filter.top = 0.05;
    filter.radius = 0.1;
    if (filtered) world.add_observer(filter);
    double highest = -1;
    const double h = 1.0 / 240;
    for (int i = 0; i < 720; ++i) {
      world.step(h);
      highest = std::max(highest, world.body(ball).X_wb.position.z());
    }
    if (filtered) {
      EXPECT_NEAR(highest, -0.5 + 25 / (2 * 9.81), 5 * h);
      EXPECT_NEAR(world.body(ball).X_wb.position.z(), 0.15, 2e-3);
      EXPECT_LT(world.body(ball).velocity.norm(), 1e-3);
    } else {
      EXPECT_LT(highest, 0);
    }
  }
}

// A box that slides at 2 m/s: friction mu stops it after v^2 / (2 mu g); without friction from 0.1 s on it
// keeps the speed that it has then.
TEST_P(BothSteppers, AFilterMakesAContactFrictionless)
{
  const double h = 1.0 / 240;
  for (const bool filtered : {true, false}) {
    World world(desc());
    world.set_surface(model::kDefaultSurface, {.restitution = 0, .friction = 0.4});
    add_plane(world);
    const model::BodyId box = add_box(world, {0.2, 0.2, 0.1}, {0, 0, 0.1});
    world.set_velocity(box, {2, 0, 0}, Vec3::Zero());
    run(world, 0.1, h);
    const double speed = world.body(box).velocity.x();
    EXPECT_NEAR(speed, 2 - 0.4 * 9.81 * 0.1, 0.05);
    Probe probe;
    probe.solve = [](const StepView& view, ContactFilter& filter) {
      for (std::size_t p = 0; p < view.state.patches.size(); ++p) filter.set_surface(p, {.friction = 0});
    };
    if (filtered) world.add_observer(probe);
    run(world, 1, h);
    if (filtered) {
      EXPECT_NEAR(world.body(box).velocity.x(), speed, 1e-9);
    } else {
      EXPECT_NEAR(world.body(box).velocity.x(), 0, 1e-6);
      EXPECT_NEAR(world.body(box).X_wb.position.x(), 4 / (2 * 0.4 * 9.81), 0.02);
    }
  }
}

TEST(StepObserver, AFilterRejectsWhatNoSurfaceHas)
{
  World world;
  add_plane(world);
  add_box(world, {0.2, 0.2, 0.1}, {0, 0, 0.1});
  Probe probe;
  bool seen = false;
  probe.solve = [&](const StepView& view, ContactFilter& filter) {
    seen = !view.state.patches.empty();
    EXPECT_THROW(filter.set_surface(0, {.friction = -1}), Error);
    EXPECT_THROW(filter.set_surface(0, {.restitution = 1.5}), Error);
    EXPECT_THROW(filter.set_surface(view.state.patches.size(), {}), Error);
    EXPECT_THROW(filter.disable(view.state.patches.size()), Error);
    EXPECT_FALSE(filter.is_disabled(0));
  };
  world.add_observer(probe);
  world.step(kStep);
  EXPECT_TRUE(seen);
}

// A heap that falls, with a fast body that cuts steps.
World heap(const WorldDesc& desc)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {.restitution = 0.3, .friction = 0.5});
  add_plane(world);
  for (int i = 0; i < 6; ++i)
    add(world, one_of_four(i, {{0.2, 0.3, 0.1}}, {0.2}, {0.1, 0.2}, {0.2, 0.1}), {0.1 * i, 0, 0.3 + 0.5 * i});
  world.set_velocity(add(world, {model::Sphere{0.05}}, {-3, 0, 0.2}), {40, 0, 0}, Vec3::Zero());
  return world;
}

TEST_P(BothSteppers, LookingChangesNoBit)
{
  World alone = heap(desc());
  World watched = heap(desc());
  Probe probe;
  probe.needs = true;
  double seen = 0;
  probe.solve = [&](const StepView& view, ContactFilter&) {
    seen += static_cast<double>(view.surfaces.size());
  };
  probe.slice = [&](const StepView& view, StepActions&) {
    seen += view.bodies_before[1].velocity.norm();
  };
  probe.whole = [&](const StepView& view, StepActions&) {
    seen += static_cast<double>(view.contacts().size());
  };
  watched.add_observer(probe);
  for (int i = 0; i < 60; ++i) {
    alone.step(kStep);
    watched.step(kStep);
    ASSERT_EQ(base::to_hex(alone.hash()), base::to_hex(watched.hash())) << i;
  }
  EXPECT_GT(seen, 100);
}

TEST(StepObserver, ActionsChangeTheStateAtOnce)
{
  World world;
  const model::BodyId box = add_box(world, {0.5, 0.5, 0.5}, {0, 0, 5}, 2);
  Probe probe;
  probe.slice = [&](const StepView& view, StepActions& actions) {
    const model::BodyIndex i = view.index_of(box);
    actions.set_velocity(i, {1, 0, 0}, Vec3::Zero());
    // m v u + m u^2 / 2 with u = j / m = 3, v = 1
    EXPECT_NEAR(actions.apply_impulse(i, {6, 0, 0}, Vec3::Zero()), 2 * 3 + 9, 1e-12);
    EXPECT_EQ(view.state.bodies[static_cast<std::size_t>(i)].velocity, Vec3(4, 0, 0));
    actions.scale_velocity(i, 0.5);
    actions.set_modal_state(box, std::vector{1.0, 2.0}, std::vector{0.0, 0.0});
    actions.scale_modal_state(box, 2);
    actions.add_pending_kick({.body = box, .time = 1});
    actions.add_pending_kick({.body = box, .time = 9});
    EXPECT_EQ(actions.take_pending_kicks(1).size(), 1u);
  };
  world.add_observer(probe);
  world.step(kStep);
  EXPECT_EQ(world.body(box).velocity, Vec3(2, 0, 0));
  ASSERT_EQ(world.state().modal_states.size(), 1u);
  EXPECT_EQ(world.state().modal_states[0].q, (std::vector{2.0, 4.0}));
  EXPECT_EQ(world.state().pending_kicks.size(), 1u);
}

TEST(StepObserver, ActionsRejectWhatDoesNotExist)
{
  World world;
  add_plane(world);
  const model::BodyId box = add_box(world, {0.5, 0.5, 0.5}, {0, 0, 0.5}, 2);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Vec3 none = Vec3::Zero();
  int calls = 0;
  Probe probe;
  probe.slice = [&](const StepView& view, StepActions& actions) {
    ++calls;
    const model::BodyIndex i = view.index_of(box);
    for (const model::BodyIndex wrong : {-1, 2, 99}) {
      EXPECT_THROW(actions.wake(wrong), Error);
      EXPECT_THROW(actions.apply_impulse(wrong, none, none), Error);
      EXPECT_THROW(actions.set_velocity(wrong, none, none), Error);
      EXPECT_THROW(actions.scale_velocity(wrong, 1), Error);
    }
    EXPECT_THROW(actions.set_velocity(i, none, {0, nan, 0}), Error);
    ASSERT_FALSE(view.state.patches.empty());
    const std::size_t count = view.state.patches[0].count;
    EXPECT_THROW(actions.request_separation_speed(view.state.patches.size(), 0, 1), Error);
    EXPECT_THROW(actions.request_separation_speed(0, count, 1), Error);
    EXPECT_THROW(actions.allow_energy(0, 0, -1), Error);
    EXPECT_THROW(actions.set_modal_state(box, std::vector{1.0, 2.0}, std::vector{0.0}), Error);
  };
  world.add_observer(probe);
  world.step(kStep);
  EXPECT_GT(calls, 0);
  EXPECT_TRUE(world.body(box).velocity.allFinite());
}

// Whatever call throws, the world goes on as one that was never disturbed: from the state before the slice
// for before_solve, from the complete step for the other two.
TEST_P(BothSteppers, AWorldSurvivesAnObserverThatThrows)
{
  for (const int call : {0, 1, 2}) {
    World calm = heap(desc());
    World world = heap(desc());
    run(calm, 0.5);
    run(world, 0.5);
    (void)world.contacts();
    const std::string before = base::to_hex(world.hash());
    Probe probe;
    const auto fail = [](const StepView&, auto&) {
      throw std::runtime_error("no");
    };
    if (call == 0) probe.solve = fail;
    if (call == 1) probe.slice = fail;
    if (call == 2) probe.whole = fail;
    world.add_observer(probe);
    EXPECT_THROW(world.step(0.001), std::runtime_error);
    world.remove_observer(probe);
    if (call == 0) {
      EXPECT_EQ(base::to_hex(world.hash()), before);
      EXPECT_TRUE(world.contacts().empty());
      world.step(0.001);
    }
    calm.step(0.001);
    EXPECT_EQ(base::to_hex(world.hash()), base::to_hex(calm.hash())) << call;
    run(calm, 0.1);
    run(world, 0.1);
    EXPECT_EQ(base::to_hex(world.hash()), base::to_hex(calm.hash())) << call;
  }
}

// The scene cannot be changed while a step runs: each of these calls throws in each callback, changes
// nothing, and works again after the step.
TEST_P(BothSteppers, AnObserverMayNotChangeTheSceneItself)
{
  for (int callback = 0; callback < 3; ++callback) {
    World world = heap(desc());
    World calm = heap(desc());
    const model::BodyId body = world.bodies().back();
    const model::ShapeId shape = world.add_shape({model::Sphere{0.1}});
    (void)calm.add_shape({model::Sphere{0.1}});
    const model::SceneState saved = world.save();
    int rejected = 0;
    const auto attempt = [&](const StepView&, auto&) {
      const auto expect_error = [&](const auto& call) {
        EXPECT_THROW(call(), Error);
        ++rejected;
      };
      expect_error([&] { world.step(kStep); });
      expect_error([&] { world.restore(saved); });
      expect_error([&] { world.add_body({.shape = shape}); });
      expect_error([&] { world.add_shape({model::Sphere{0.2}}); });
      expect_error([&] { world.add_joint({.a = body}); });
      expect_error([&] { world.remove_body(body); });
      expect_error([&] { world.remove_shape(shape); });
      expect_error([&] { world.set_pose(body, {}); });
      expect_error([&] { world.set_motion(body, model::Motion::fixed); });
      expect_error([&] { world.set_mass(body, 2); });
    };
    Probe probe;
    if (callback == 0) probe.solve = attempt;
    if (callback == 1) probe.slice = attempt;
    if (callback == 2) probe.whole = attempt;
    world.add_observer(probe);
    world.step(0.001);
    calm.step(0.001);
    EXPECT_GE(rejected, 10);
    EXPECT_EQ(base::to_hex(world.hash()), base::to_hex(calm.hash()));
    world.remove_body(body);
    EXPECT_FALSE(world.contains(body));
  }
}

// Groups may call from several threads at once.
struct SubstepCounter : flexible::SubstepObserver {
  std::atomic<std::uint64_t> count = 0;
  void on_substep(const flexible::ContactGroup&, const flexible::SubstepInfo&) override { ++count; }
};

TEST(SubstepObserver, SeesTheSubstepsOfItsWorldAlone)
{
  const auto fill = [](World& world, double height) {
    add_plane(world);
    for (int i = 0; i < 5; ++i) add_box(world, Vec3::Constant(0.1), {1.0 * i, 0, 0.1 + height});
  };
  World first({.stepper = StepperKind::flexible}), second({.stepper = StepperKind::flexible});
  fill(first, 0.002);
  fill(second, 0.01);
  SubstepCounter of_first, of_second;
  first.set_substep_observer(&of_first);
  second.set_substep_observer(&of_second);
  for (int i = 0; i < 20; ++i) {
    first.step(0.005);
    second.step(0.005);
  }
  EXPECT_GT(of_first.count, 0U);
  EXPECT_EQ(of_first.count, first.flexible_report().groups.substeps);
  EXPECT_EQ(of_second.count, second.flexible_report().groups.substeps);
  EXPECT_NE(of_first.count, of_second.count);
  const std::uint64_t before = of_first.count;
  first.set_substep_observer(nullptr);
  first.step(0.005);
  EXPECT_EQ(of_first.count, before);
  World other;
  EXPECT_THROW(other.set_substep_observer(&of_first), Error);
}

}  // namespace
}  // namespace thrum::sim
