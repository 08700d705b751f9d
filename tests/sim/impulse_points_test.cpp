// SPDX-License-Identifier: MIT
// The impulse stepper with the points and levels of the paper [Guendelman03], at several steps.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "tests/sim/linked_circles.h"
#include "thrum/shapes/shapes.h"
#include "thrum/sim/world.h"

namespace thrum::sim {
namespace {

constexpr double kGravity = 9.81;
constexpr double kSteps[] = {1.0 / 30, 1.0 / 60, 1.0 / 144};

WorldDesc paper_world()
{
  WorldDesc desc;
  desc.stepper = StepperKind::impulse;
  desc.sleep.enabled = false;
  desc.impulse.contact_points = rigid::ContactPoints::paper;
  desc.impulse.levels = rigid::ContactLevels::predicted;
  return desc;
}

// Nothing but the method as it is published.
WorldDesc strict_paper_world()
{
  WorldDesc desc = paper_world();
  desc.impulse.accumulate_impulses = desc.impulse.hold_resting_only = desc.impulse.close_gaps = false;
  desc.impulse.solve_flat_patches = desc.impulse.warm_start = desc.impulse.mean_velocity = false;
  desc.impulse.push_out = false;
  desc.impulse.shock_level_iterations = 2;
  return desc;
}

void add_ground(World& world)
{
  BodyDesc ground;
  ground.shape = world.add_shape({model::Plane{}});
  ground.motion = model::Motion::fixed;
  world.add_body(ground);
}

model::Shape ring()
{
  shapes::TorusDesc desc;
  desc.major_segments = 25;
  desc.minor_segments = 10;
  return {model::Mesh{std::make_shared<mesh::TriangleMesh>(shapes::generate(desc)), nullptr}};
}

TEST(PaperPoints, AStackStandsAndTheGroundCarriesIt)
{
  for (const double h : kSteps) {
    World world(paper_world());
    add_ground(world);
    constexpr int kBoxes = 5;
    for (int i = 0; i < kBoxes; ++i) {
      BodyDesc box;
      // Narrower upwards, so that each vertex has one nearest face.
      box.shape = world.add_shape({model::Box{{0.5 - 0.05 * i, 0.5 - 0.05 * i, 0.5}}});
      box.X_ws.position = {0, 0, 0.5 + i};
      box.mass = 2;
      world.add_body(box);
    }
    const int steps = static_cast<int>(std::lround(2 / h));
    double carried = 0;
    for (int i = 0; i < steps; ++i) {
      world.step(h);
      if (i + 10 < steps) continue;
      for (const model::Contact& contact : world.contacts()) {
        if (contact.a == world.id_of(0) || contact.b == world.id_of(0))
          carried += contact.normal_impulse / 10;
      }
    }
    for (int i = 1; i <= kBoxes; ++i) {
      const Vec3 moved =
          world.state().bodies[static_cast<std::size_t>(i)].X_wb.position - Vec3(0, 0, i - 0.5);
      EXPECT_LT(moved.norm(), 0.01) << "step " << h << ", box " << i;
    }
    // In shock propagation a lower body does not feel what comes to rest on it, but its own weight it does.
    EXPECT_GT(carried, 2 * kGravity * h) << "step " << h;
    EXPECT_LT(carried, 1.05 * kBoxes * 2 * kGravity * h) << "step " << h;
  }
}

TEST(PaperPoints, KeepMomentumOfMeshesThatCollide)
{
  for (const double h : kSteps) {
    WorldDesc desc = paper_world();
    desc.gravity = Vec3::Zero();
    desc.impulse.shock_propagation = desc.impulse.push_out = false;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {0.5, 0.5, 0, 0});
    const model::ShapeId shape = world.add_shape(ring());
    for (int i = 0; i < 2; ++i) {
      BodyDesc body;
      body.shape = shape;
      body.mass = 1 + i;
      body.X_ws = {{0.3 * i, 0.1, 0.5 * i}, Quat(Eigen::AngleAxisd(0.4 * i, Vec3::UnitX()))};
      body.velocity = {0, 0, 1.0 - 2 * i};
      body.angular_velocity = {0.3, 0.1 * i, -0.2};
      world.add_body(body);
    }
    const Vec3 before = world.momentum();
    const double energy = world.kinetic_energy();
    for (int i = 0; i < std::lround(1 / h); ++i) world.step(h);
    EXPECT_LT((world.momentum() - before).norm(), 1e-9) << "step " << h;
    EXPECT_LT(world.kinetic_energy(), 0.99 * energy) << "no impact at step " << h;
    EXPECT_GT(world.state().bodies[1].velocity.z(), world.state().bodies[0].velocity.z()) << "step " << h;
  }
}

// As published the rings overlap and creep, but they neither fall through nor become linked.
TEST(PaperPoints, RingsPileUpWithoutLinksAsPublished)
{
  for (const WorldDesc& desc : {paper_world(), strict_paper_world()}) {
    World world(desc);
    world.set_surface(model::kDefaultSurface, {0, 0.5, 0.005, 0.005});
    add_ground(world);
    const model::ShapeId shape = world.add_shape(ring());
    for (int i = 0; i < 4; ++i) {
      BodyDesc body;
      body.shape = shape;
      body.X_ws = {{0.2 * (i % 2), 0.15 * (i / 2), 0.25 + 0.5 * i},
                   Quat(Eigen::AngleAxisd(0.2 * (i % 3 - 1), Vec3::UnitX()))};
      world.add_body(body);
    }
    const double start = world.potential_energy();
    for (int i = 0; i < 180; ++i) world.step(1.0 / 60);
    EXPECT_LT(world.kinetic_energy() + world.potential_energy(), start);
    EXPECT_LT(world.kinetic_energy(), 1.0);
    for (model::BodyIndex i = 1; i <= 4; ++i) {
      EXPECT_GT(world.state().bodies[static_cast<std::size_t>(i)].X_wb.position.z(), 0.1);
      for (model::BodyIndex j = i + 1; j <= 4; ++j)
        EXPECT_FALSE(
            test::are_linked(world.shape_pose(world.id_of(i)), world.shape_pose(world.id_of(j)), 0.5));
    }
  }
}

}  // namespace
}  // namespace thrum::sim
