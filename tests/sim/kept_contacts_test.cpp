// SPDX-License-Identifier: MIT
// Contacts that are kept from step to step (collision/kept_contacts.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>

#include "tests/sim/parameter_names.h"
#include "tests/sim/world_fixture.h"
#include "thrum/model/compare_state.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {
namespace {

using namespace testing;

WorldDesc desc_that_finds_always()
{
  WorldDesc desc = desc_without_sleep();
  desc.narrow_phase.kept_move = 0;
  return desc;
}

Quat turned(const Vec3& axis, double angle)
{
  return Quat(Eigen::AngleAxisd(angle, axis));
}

// Boxes that stand on each other, one that falls and bounces, a jointed pair, a ball, a cylinder that stands.
void build_mixed_heap(World& world)
{
  world.set_surface(model::kDefaultSurface, {0.3, 0.5, 0, 0});
  add_plane(world);
  for (int i = 0; i < 4; ++i) (void)add_box(world, {0.3, 0.3, 0.2}, {0.01 * i, 0, 0.2 + 0.4 * i});
  (void)add_box(world, {0.1, 0.1, 0.1}, {0, 0, 2.4}, 0.3, turned(Vec3::UnitX(), 0.4));
  const model::BodyId a = add_box(world, {0.1, 0.1, 0.1}, {1, 0, 0.1});
  const model::BodyId b = add_box(world, {0.1, 0.1, 0.1}, {1.25, 0, 0.1});
  model::JointDesc joint;
  joint.kind = model::JointKind::ball;
  joint.a = a;
  joint.b = b;
  joint.X_aj.position = {0.125, 0, 0};
  joint.X_bj.position = {-0.125, 0, 0};
  (void)world.add_joint(joint);
  (void)add(world, {model::Sphere{0.2}}, {-1, 0, 0.2});
  (void)add(world, {model::Cylinder{0.2, 0.2}}, {-1, 1, 0.2});
  shapes::TorusDesc torus;
  torus.major_segments = 25;
  torus.minor_segments = 10;
  const auto ring = std::make_shared<mesh::TriangleMesh>(shapes::generate(torus));
  (void)add(world, {model::Mesh{ring, nullptr}}, {3, 0, 0.3});
  (void)add(world, {model::Mesh{ring, nullptr}}, {3.2, 0, 0.9}, 1, turned(Vec3::UnitX(), 0.2));
}

// Pairs of the state whose contacts were found in an earlier step than the last: a body has moved since.
int kept_pairs(const model::SceneState& before, const model::SceneState& after)
{
  int kept = 0;
  for (const model::PairReference& pair : after.references) {
    const auto same = [&](const model::PairReference& other) {
      return other.a == pair.a && other.b == pair.b && other.X_wb.position == pair.X_wb.position &&
             other.X_wa.position == pair.X_wa.position;
    };
    const bool was_there = std::any_of(before.references.begin(), before.references.end(), same);
    const bool moved = after.bodies[at(pair.b)].X_wb.position != pair.X_wb.position;
    kept += was_there && moved ? 1 : 0;
  }
  return kept;
}

class KeptContacts : public ::testing::TestWithParam<StepperKind> {};
INSTANTIATE_TEST_SUITE_P(Steppers, KeptContacts,
                         ::testing::Values(StepperKind::constraint, StepperKind::impulse,
                                           StepperKind::penalty, StepperKind::flexible),
                         testing::stepper_name);

// A second world, which never saw the steps before, goes on from each state as the first one does.
TEST_P(KeptContacts, RestoringInTheMiddleContinuesBitForBit)
{
  WorldDesc desc = desc_without_sleep();
  desc.stepper = GetParam();
  World world(desc);
  World other(desc);
  build_mixed_heap(world);
  build_mixed_heap(other);
  int kept = 0;
  for (int i = 0; i < 150; ++i) {
    const model::SceneState before = world.save();
    world.step(kStep);
    other.restore(before);
    other.step(kStep);
    const auto difference = model::first_difference(world.state(), other.state());
    ASSERT_FALSE(difference) << i << ": " << difference->text();
    kept += kept_pairs(before, world.state());
    // And where the other continues alone for a while.
    if (i % 30 != 29) continue;
    World third(desc);
    build_mixed_heap(third);
    third.restore(before);
    for (int k = 0; k < 10; ++k) {
      if (k > 0) other.step(kStep);
      third.step(kStep);
    }
    ASSERT_FALSE(model::first_difference(third.state(), other.state())) << i;
  }
  EXPECT_GT(kept, 300);
}

// What the contact functions find at the poses of a step differs from what is kept by the square of the move:
// (1) of kept_contacts.h is exact to first order.
class KeptDepths : public ::testing::TestWithParam<double> {};

TEST_P(KeptDepths, AreThoseThatWouldBeFound)
{
  WorldDesc desc = desc_without_sleep();
  World world(desc);
  World finder(desc_that_finds_always());
  build_mixed_heap(world);
  build_mixed_heap(finder);
  // Another gravity is another heap at rest.
  for (World* one : {&world, &finder}) one->set_gravity({0, 0, -GetParam()});
  const auto last = static_cast<model::BodyIndex>(world.state().bodies.size()) - 1;
  const std::array rings{last - 1, last};
  run(world, 2);
  int compared = 0;
  for (int i = 0; i < 60; ++i) {
    model::SceneState state = world.save();
    world.step(kStep);
    state.references.clear();
    finder.restore(state);
    finder.step(kStep);
    for (const model::ContactPatch& patch : world.state().patches) {
      for (const model::ContactPatch& found : finder.state().patches) {
        if (found.a != patch.a || found.b != patch.b || found.part_a != patch.part_a) continue;
        // The four ends of the ellipse under a round body are all as deep as its middle when it is found; one
        // that is kept tilts with the bodies, by at most 1e-4 rad.
        const bool is_round = patch.a == rings[0] && patch.b == rings[1];
        for (const model::ContactPoint& p : patch.active()) {
          for (const model::ContactPoint& q : found.active()) {
            if (p.feature_a != q.feature_a || p.feature_b != q.feature_b) continue;
            if ((p.position - q.position).norm() > 0.01) continue;
            EXPECT_NEAR(p.depth, q.depth, is_round ? 1e-5 : 1e-7) << patch.a << " " << patch.b;
            // Where a ring touches a ring along a line, each end of the ellipse may be anywhere on it.
            if (!is_round) {
              EXPECT_LT((p.position - q.position).norm(), 2e-4) << patch.a << " " << patch.b;
            }
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

INSTANTIATE_TEST_SUITE_P(Gravities, KeptDepths, ::testing::Values(9.5, 9.7, 9.81, 10.0));

// Points of contact that lag behind would drive a ball: those of balls are found in each step, with the same
// bits as in a world that finds all.
TEST(KeptContacts, BallsMoveAsWithoutKeeping)
{
  World world(desc_without_sleep());
  World finder(desc_that_finds_always());
  for (World* w : {&world, &finder}) {
    add_plane(*w);
    const model::BodyId slow = add(*w, {model::Sphere{0.5}}, {0, 0, 0.5});
    w->set_velocity(slow, {1e-4, 0, 0}, {0, 2e-4, 0});
    (void)add(*w, {model::Sphere{0.5}}, {3, 0, 0.5});
    run(*w, 3);
  }
  for (std::size_t i = 0; i < world.state().bodies.size(); ++i) {
    EXPECT_EQ(world.state().bodies[i].X_wb.position, finder.state().bodies[i].X_wb.position);
    EXPECT_EQ(world.state().bodies[i].velocity, finder.state().bodies[i].velocity);
  }
  EXPECT_NEAR(world.state().bodies[1].velocity.x(), 1e-4, 1e-9);
}

// A stack that rides on a platform keeps its contacts, since the two have not moved against each other.
TEST(KeptContacts, AStackOnAMovingPlatformKeepsThem)
{
  World world(desc_without_sleep());
  BodyDesc platform;
  platform.shape = world.add_shape({model::Box{{2, 2, 0.5}}});
  platform.motion = model::Motion::kinematic;
  platform.velocity = {0, 0, 0.005};
  (void)world.add_body(platform);
  const model::BodyId first = add_box(world, {0.3, 0.3, 0.3}, {0, 0, 0.8});
  const model::BodyId second = add_box(world, {0.3, 0.3, 0.3}, {0, 0, 1.4});
  for (const model::BodyId id : {first, second}) world.set_velocity(id, platform.velocity, Vec3::Zero());
  run(world, 1);
  const model::SceneState before = world.save();
  world.step(kStep);
  EXPECT_EQ(kept_pairs(before, world.state()), 2);
  run(world, 2);
  // It takes a step to lift the boxes.
  EXPECT_NEAR(world.body(second).X_wb.position.z(), 1.4 + 0.005 * (3 + kStep), 1e-3);
}

// A box on the ground, and far away one that spins about a fixed point, for which each step is cut into
// slices.
model::BodyId build_box_beside_spinner(World& world, double spin)
{
  world.set_surface(model::kDefaultSurface, {0, 0.5, 0, 0});
  add_plane(world);
  const model::BodyId box = add_box(world, {0.3, 0.2, 0.1}, {0, 0, 0.1});
  const model::BodyId spinner = add_box(world, {0.2, 0.2, 0.2}, {0, 20, 5});
  model::JointDesc joint;
  joint.kind = model::JointKind::ball;
  joint.a = spinner;
  joint.X_bj.position = {0, 20, 5};
  (void)world.add_joint(joint);
  world.set_velocity(spinner, Vec3::Zero(), {0, 0, spin});
  return box;
}

// How far contacts are kept: 0.1 mm in whole steps, 2 mm in slices, each and what the box moves in one more
// slice.
TEST(KeptContacts, TheyAreKeptOverLargerMovesInSlices)
{
  constexpr double kSpeed = 0.03;
  const auto max_lag = [&](double spin, int& slices) {
    WorldDesc desc = desc_without_sleep();
    desc.gravity = {0, 0, -1e-3};  // next to no friction
    World world(desc);
    const model::BodyId box = build_box_beside_spinner(world, spin);
    world.set_velocity(box, {kSpeed, 0, 0}, Vec3::Zero());
    double lag = 0;
    const std::uint64_t start = world.state().step;
    for (int i = 0; i < 60; ++i) {
      world.step(1.0 / 60);
      for (const model::PairReference& pair : world.state().references) {
        const Vec3 now = world.state().bodies[at(pair.b)].X_wb.position;
        if (pair.b == 1) lag = std::max(lag, (now - pair.X_wb.position).norm());
      }
    }
    slices = static_cast<int>(world.state().step - start) / 60;
    return lag;
  };
  int slices = 0;
  EXPECT_LE(max_lag(0, slices), 1e-4 + kSpeed / 60);
  EXPECT_EQ(slices, 1);
  const double lag = max_lag(58, slices);
  EXPECT_EQ(slices, 4);
  EXPECT_GT(lag, 1e-3);
  EXPECT_LE(lag, 2e-3 + kSpeed / 60 / 4);
}

// What is not where it was does not hold anybody.
TEST(KeptContacts, WhatIsGoneHoldsNobody)
{
  const auto falls = [](auto&& change) {
    World world(desc_without_sleep());
    BodyDesc shelf;
    shelf.shape = world.add_shape({model::Box{{1, 1, 0.1}}});
    shelf.motion = model::Motion::fixed;
    shelf.X_ws.position = {0, 0, -0.1};
    const model::BodyId id = world.add_body(shelf);
    const model::BodyId box = add_box(world, {0.3, 0.3, 0.3}, {0, 0, 0.3});
    run(world, 1);
    EXPECT_NEAR(world.body(box).X_wb.position.z(), 0.3, 1e-3);
    change(world, id);
    run(world, 0.5);
    return world.body(box).X_wb.position.z() < -0.7;
  };
  EXPECT_FALSE(falls([](World&, model::BodyId) {}));
  EXPECT_TRUE(falls([](World& world, model::BodyId id) { world.remove_body(id); }));
  EXPECT_TRUE(falls([](World& world, model::BodyId id) {
    world.set_pose(id, {{5, 0, -0.1}, Quat::Identity()});
  }));
}

// Rings, tubes and boxes from all sides, which spin and meet in the middle.
void build_swarm(World& world, unsigned seed)
{
  world.set_gravity(Vec3::Zero());
  world.set_surface(model::kDefaultSurface, {0.3, 0.4, 0, 0});
  shapes::TorusDesc torus;
  torus.major_segments = 25;
  torus.minor_segments = 10;
  const auto ring = std::make_shared<mesh::TriangleMesh>(shapes::generate(torus));
  shapes::TubeDesc tube_desc;
  tube_desc.path = {{0, 0, -0.4}, {0, 0, 0.4}};
  tube_desc.radius = 0.3;
  tube_desc.inner_radius = 0.2;
  tube_desc.segments = 12;
  const auto tube = std::make_shared<mesh::TriangleMesh>(shapes::generate(tube_desc));
  const std::array<model::Shape, 3> kinds{model::Shape{model::Mesh{ring, nullptr}},
                                          model::Shape{model::Mesh{tube, nullptr}},
                                          model::Shape{model::Box{{0.3, 0.2, 0.4}}}};
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto any = [&] {
    return Vec3(uniform(random), uniform(random), uniform(random));
  };
  for (std::size_t i = 0; i < 12; ++i) {
    const Vec3 place(1.6 * (static_cast<double>(i % 4) - 1.5), 1.6 * (static_cast<double>(i / 4) - 1), 0);
    const Vec3 position = place + 0.1 * any();
    const model::BodyId id =
        add(world, kinds[(i + i / 4) % 3], position, 1, turned(any().normalized(), 3 * uniform(random)));
    world.set_velocity(id, -1.5 * position + any(), 4 * any());
  }
}

// That two bodies are apart is remembered until they may have met, which changes no bit of how they move.
TEST(KeptContacts, BodiesThatAreApartMoveAsWithoutKeeping)
{
  int kept = 0;
  std::size_t touching = 0;
  for (const unsigned seed : {1U, 2U, 3U}) {
    for (const double h : {1.0 / 60, 1.0 / 144}) {
      // No contact is kept over any move.
      WorldDesc desc = desc_without_sleep();
      desc.narrow_phase.kept_move = desc.narrow_phase.kept_turn = 1e-12;
      World world(desc);
      World finder(desc_that_finds_always());
      for (World* one : {&world, &finder}) build_swarm(*one, seed);
      for (int i = 0; i < std::lround(1 / h); ++i) {
        const model::SceneState before = world.save();
        for (World* one : {&world, &finder}) one->step(h);
        kept += kept_pairs(before, world.state());
        touching += world.state().patches.size();
        for (std::size_t b = 0; b < world.state().bodies.size(); ++b) {
          const model::BodyState& one = world.state().bodies[b];
          const model::BodyState& other = finder.state().bodies[b];
          ASSERT_EQ(one.X_wb.position, other.X_wb.position) << seed << " " << h << " " << i << " " << b;
          ASSERT_EQ(one.velocity, other.velocity) << seed << " " << h << " " << i << " " << b;
        }
      }
    }
  }
  EXPECT_GT(kept, 1000);
  EXPECT_GT(touching, 1000U);
}

// Disables all contacts in every other step.
class EveryOther final : public StepObserver {
 public:
  int asked = 0;
  void before_solve(const StepView& view, ContactFilter& filter) override
  {
    asked += static_cast<int>(view.state.patches.size());
    for (std::size_t p = 0; p < view.state.patches.size(); ++p) {
      if (view.state.step % 2 == 1) filter.disable(p);
    }
  }
};

TEST(KeptContacts, AFilterIsAskedAboutThemInEachStep)
{
  World world(desc_without_sleep());
  add_plane(world);
  (void)add_box(world, {0.3, 0.3, 0.3}, {0, 0, 0.3});
  EveryOther filter;
  world.add_observer(filter);
  for (int i = 0; i < 10; ++i) world.step(1e-3);
  EXPECT_EQ(filter.asked, 10);
}

// Begin, hit and end come where they come without keeping.
TEST(KeptContacts, EventsAreThose)
{
  const auto events_of = [](const WorldDesc& desc) {
    World world(desc);
    add_plane(world);
    const model::BodyId box = add_box(world, {0.3, 0.3, 0.3}, {0, 0, 0.5});
    std::vector<std::pair<int, model::ContactEventKind>> events;
    for (int i = 0; i < 180; ++i) {
      if (i == 120) world.set_velocity(box, {0, 0, 2}, Vec3::Zero());
      world.step(kStep);
      for (const model::ContactEvent& event : world.events()) events.emplace_back(i, event.kind);
    }
    return events;
  };
  const auto kept = events_of(desc_without_sleep());
  EXPECT_EQ(kept, events_of(desc_that_finds_always()));
  const auto count = [&](model::ContactEventKind kind) {
    return std::count_if(kept.begin(), kept.end(), [&](const auto& event) { return event.second == kind; });
  };
  EXPECT_EQ(count(model::ContactEventKind::begin), 2);
  EXPECT_EQ(count(model::ContactEventKind::end), 1);
}

}  // namespace
}  // namespace thrum::sim
