// SPDX-License-Identifier: MIT
// Groups of the flexible stepper that advance each at its own time, from a queue [Zheng11, algorithm 1].
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/sim/world_fixture.h"
#include "tests/vibration/plate_model.h"
#include "thrum/flexible/elastic_body.h"
#include "thrum/flexible/flexible_report.h"

namespace thrum::sim {
namespace {

using namespace testing;

WorldDesc desc_with(TimeOfImpactMethod method)
{
  WorldDesc desc;
  desc.stepper = StepperKind::flexible;
  desc.time_of_impact = method;
  return desc;
}

double total_energy(const World& world)
{
  return world.kinetic_energy() + world.potential_energy() + world.contact_energy() +
         world.vibration_energy();
}

/// A plate that rings, fixed, and balls on it and above it; far away others that fall onto nothing.
World make_plate(const WorldDesc& desc)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {.restitution = 0.4, .friction = 0.3});
  const vibration::PlateSize size{.modes = 40};
  const model::BodyId ground = add_plane(world);
  world.set_elastic(ground, {size.young / (1 - size.poisson * size.poisson), vibration::plate_model(size)});
  for (int i = 0; i < 6; ++i)
    add(world, {model::Sphere{0.04 + 0.002 * i}}, {0.2 + 0.2 * i, 0.45, 0.1 + 0.05 * i}, 0.5);
  for (int i = 0; i < 4; ++i) add(world, {model::Sphere{0.05}}, {0.5 * i, 0.4, 20.0 + i}, 0.5);
  return world;
}

// The second ball takes the velocity of the first to a third one in another group, which pushes a fourth and,
// where its group comes first in the queue, has gone further by then: it is rolled back, with the ball that
// it pushes. The paper would keep what the fourth has got from it.
World play_four_balls(TimeOfImpactMethod method, bool other_group_first, double restitution, double h)
{
  WorldDesc desc = desc_with(method);
  desc.gravity.setZero();
  World world(desc);
  world.set_surface(model::kDefaultSurface, {.restitution = restitution, .friction = 0.4});
  const std::array<Vec3, 4> places = {Vec3(0, 0, 0), Vec3(0.3, 0.02, 0), Vec3(0.55, 0, 0), Vec3(0.75, 0, 0)};
  const std::array<double, 4> masses = {2, 0.5, 1, 1};
  const std::array<double, 4> speeds = {6, 0, 0.3, 0};
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::size_t i = other_group_first ? (k + 2) % places.size() : k;
    const auto ball = add(world, {model::Sphere{0.1}}, places[i], masses[i]);
    world.set_velocity(ball, {speeds[i], 0, 0}, {0, 0, i == 0 ? 3.0 : 0.0});
  }
  const Vec3 before = world.momentum();
  double energy = total_energy(world);
  for (double t = 0; t < 0.19; t += h) {
    world.step(h);
    EXPECT_LT(total_energy(world), energy * (1 + 1e-9));
    energy = total_energy(world);
  }
  EXPECT_NEAR((world.momentum() - before).norm(), 0, 1e-12 * before.norm());
  return world;
}

TEST(FlexibleQueue, MomentumIsKeptWhereGroupsMerge)
{
  for (const double restitution : {0.0, 0.5, 1.0}) {
    for (const double h : {0.04, 0.05}) {
      for (const bool other_first : {false, true}) {
        const World queue = play_four_balls(TimeOfImpactMethod::timewarp, other_first, restitution, h);
        const World slices = play_four_balls(TimeOfImpactMethod::continuous, other_first, restitution, h);
        EXPECT_GE(queue.impact_counts().undone_slices, other_first ? 2U : 1U) << restitution << " " << h;
        for (std::size_t i = 0; i < 4; ++i) {
          const Vec3 apart = queue.state().bodies[i].X_wb.position - slices.state().bodies[i].X_wb.position;
          EXPECT_NEAR(apart.norm(), 0, 1e-6) << restitution << " " << h << " " << other_first << " " << i;
        }
      }
    }
  }
}

// As with slices that all share, to what rounding does to bodies that bounce and ring; and what falls far
// away is solved once a step.
TEST(FlexibleQueue, MovesAsWithSlices)
{
  // Which modes are held is decided at the beginning of slices, of which the plate has fewer while it is
  // alone.
  WorldDesc desc = desc_with(TimeOfImpactMethod::timewarp);
  desc.flexible.adapt_modes = false;
  World queue = make_plate(desc);
  desc.time_of_impact = TimeOfImpactMethod::continuous;
  World slices = make_plate(desc);
  double energy = total_energy(queue);
  for (int i = 0; i < 30; ++i) {
    queue.step(0.01);
    slices.step(0.01);
    EXPECT_LT(total_energy(queue), energy * (1 + 1e-9)) << i;
    energy = total_energy(queue);
    EXPECT_NEAR(queue.contact_energy(), slices.contact_energy(), 1e-3 * slices.contact_energy() + 1e-9) << i;
  }
  EXPECT_GT(queue.vibration_energy(), 0);
  for (std::size_t i = 0; i < queue.state().bodies.size(); ++i)
    EXPECT_NEAR((queue.state().bodies[i].X_wb.position - slices.state().bodies[i].X_wb.position).norm(), 0,
                1e-5)
        << i;
  EXPECT_LT(5 * queue.impact_counts().solved_bodies, 4 * slices.impact_counts().solved_bodies);
  EXPECT_EQ(queue.limit_counts().steps_not_warped, 0U);
}

TEST(FlexibleQueue, TheSameBitsForAnyNumberOfThreadsAndAfterRestoring)
{
  const auto run_with = [](int threads, bool pause) {
    WorldDesc desc = desc_with(TimeOfImpactMethod::timewarp);
    desc.threads = threads;
    World world = make_plate(desc);
    run(world, 0.2, 0.01);
    if (!pause) {
      run(world, 0.2, 0.01);
      return world.hash();
    }
    World other = make_plate(desc);
    other.restore(world.save());
    run(other, 0.2, 0.01);
    return other.hash();
  };
  const base::Hash128 one = run_with(1, false);
  EXPECT_EQ(run_with(4, false), one);
  EXPECT_EQ(run_with(1, true), one);
}

// An observer sees all bodies at one time: steps are then cut into slices, which the run says.
TEST(FlexibleQueue, WithASensorStepsAreCutIntoSlices)
{
  World world = make_plate(desc_with(TimeOfImpactMethod::timewarp));
  BodyDesc sensor;
  sensor.shape = world.add_shape({model::Sphere{0.1}});
  sensor.motion = model::Motion::fixed;
  sensor.sensor = true;
  (void)world.add_body(sensor);
  run(world, 0.05, 0.01);
  EXPECT_EQ(world.limit_counts().steps_not_warped, 5U);
}

}  // namespace
}  // namespace thrum::sim
