// SPDX-License-Identifier: MIT
// The flexible stepper in a world, against closed forms and laws of conservation.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/sim/world_fixture.h"
#include "tests/vibration/plate_model.h"
#include "thrum/base/error.h"
#include "thrum/elastic/surface_map.h"
#include "thrum/flexible/elastic_body.h"
#include "thrum/flexible/flexible_report.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double g = 9.81;

WorldDesc flexible_desc()
{
  WorldDesc desc;
  desc.stepper = StepperKind::flexible;
  return desc;
}

World world_with(const model::Surface& surface, const WorldDesc& desc = flexible_desc())
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, surface);
  return world;
}

// Everything that a body could gain.
double total_energy(const World& world)
{
  return world.kinetic_energy() + world.potential_energy() + world.contact_energy() +
         world.vibration_energy();
}

/// A ground that rings as a wooden plate.
model::BodyId add_ringing_plane(World& world, const vibration::PlateSize& size = {})
{
  const model::BodyId ground = add_plane(world);
  world.set_elastic(ground, {size.young / (1 - size.poisson * size.poisson), vibration::plate_model(size)});
  return ground;
}

// A ball leaves rigid ground with the restitution of the surfaces, at any step, phase, mass and speed.
TEST(FlexibleStepper, RestitutionIsThatOfTheSurfaces)
{
  for (const double h : {1.0 / 30, 1.0 / 60, 0.003}) {
    for (const double e : {0.0, 0.05, 0.4, 0.8, 1.0}) {
      for (const double mass : {0.01, 10.0}) {
        WorldDesc desc = flexible_desc();
        desc.gravity.setZero();
        World world = world_with({.restitution = e}, desc);
        add_plane(world);
        const double speed = mass > 1 ? 0.5 : 3;
        const model::BodyId ball = add(world, {model::Sphere{0.2}}, {0, 0, 0.2 + 0.317 * speed * h}, mass);
        world.set_velocity(ball, {0, 0, -speed}, Vec3::Zero());
        run(world, 0.2, h);
        EXPECT_NEAR(world.body(ball).velocity.z() / speed, e, 0.02) << h << " " << e << " " << mass;
      }
    }
  }
}

// v^2 / 2 mu g, for a box and for one that turns as it slides.
TEST(FlexibleStepper, ASlidingBoxStopsWhereCoulombSays)
{
  for (const double h : {1.0 / 30, 1.0 / 60, 1.0 / 200}) {
    for (const double mu : {0.1, 0.3, 0.6}) {
      World world = world_with({.restitution = 0.2, .friction = mu});
      add_plane(world);
      const model::BodyId box = add_box(world, {0.1, 0.1, 0.02}, {0, 0, 0.02}, 0.8);
      world.set_velocity(box, {0.5, 0, 0}, Vec3::Zero());
      run(world, 1, h);
      EXPECT_NEAR(world.body(box).X_wb.position.x(), 0.25 / (2 * mu * g), 1e-3 * 0.25 / (2 * mu * g) + 1e-6);
      EXPECT_NEAR(world.body(box).velocity.norm(), 0, 1e-6);
      EXPECT_NEAR(world.body(box).X_wb.position.y(), 0, 1e-9);
    }
  }
}

// What rests on flexible ground is carried: the contact forces are the weight, and hold still.
TEST(FlexibleStepper, AtRestTheForcesAreTheWeightAndSteady)
{
  World world = world_with({.restitution = 0.3, .friction = 0.4});
  add_ringing_plane(world);
  const double mass = 1.7;
  const model::BodyId box = add_box(world, {0.1, 0.1, 0.05}, {0.6, 0.4, 0.05}, mass);
  run(world, 2);
  double least = 1e9;
  double most = 0;
  for (int i = 0; i < 60; ++i) {
    world.step(kStep);
    double impulse = 0;
    for (const model::Contact& contact : world.contacts()) impulse += contact.normal_impulse;
    least = std::min(least, impulse / kStep);
    most = std::max(most, impulse / kStep);
  }
  EXPECT_NEAR(least, mass * g, 1e-5 * mass * g);
  EXPECT_NEAR(most, mass * g, 1e-5 * mass * g);
  EXPECT_LT(world.body(box).velocity.norm(), 1e-6);
}

// The ground sags by what its modes yield: sum of (phi . F / w)^2 over the modes.
TEST(FlexibleStepper, TheGroundSagsByTheComplianceOfItsModes)
{
  World world = world_with({.restitution = 0.1, .friction = 0.4});
  const vibration::PlateSize size{.alpha = 200};
  add_ringing_plane(world, size);
  const auto model = vibration::plate_model(size);
  const double mass = 3;
  const Vec3 place(0.8, 0.45, 0);
  add(world, {model::Sphere{0.05}}, place + Vec3(0, 0, 0.05), mass);
  run(world, 3);
  const elastic::MappedPoint mapped = elastic::SurfaceMap(model).find(place);
  double sag = 0;
  for (Index m = 0; m < model->mode_count(); ++m)
    sag += std::pow(mapped.shapes(2, m) / model->omega(m), 2) * mass * g;
  ASSERT_EQ(world.state().modal_states.size(), 1U);
  double found = 0;
  for (Index m = 0; m < model->mode_count(); ++m)
    found -= mapped.shapes(2, m) * world.state().modal_states[0].q[at(m)];
  EXPECT_NEAR(found / sag, 1, 0.01);
}

// A thin plate of metal on soft ground that sags by more than the plate is thick: the search for impacts,
// which sees the shape of the ground, neither stops the plate nor cuts the steps.
TEST(FlexibleStepper, GroundThatSagsFarCarriesAThinBody)
{
  for (const double h : {1.0 / 60, 1.0 / 200}) {
    World world = world_with({.restitution = 0.1, .friction = 0.4});
    const vibration::PlateSize size{.h = 0.01, .alpha = 200};
    add_ringing_plane(world, size);
    const auto model = vibration::plate_model(size);
    const double mass = 20;
    const Vec3 place(0.8, 0.45, 0);
    const model::BodyId plate = add_box(world, {0.02, 0.02, 0.0005}, place + Vec3(0, 0, 0.0005), mass);
    run(world, 3, h);
    const elastic::MappedPoint mapped = elastic::SurfaceMap(model).find(place);
    double sag = 0;
    for (Index m = 0; m < model->mode_count(); ++m)
      sag += std::pow(mapped.shapes(2, m) / model->omega(m), 2) * mass * g;
    EXPECT_GT(sag, 2e-3);
    EXPECT_NEAR((0.0005 - world.body(plate).X_wb.position.z()) / sag, 1, 0.05) << h;
    EXPECT_EQ(world.impact_counts().stopped_bodies, 0U) << h;
    EXPECT_LT(static_cast<double>(world.impact_counts().solved_slices),
              1.05 * static_cast<double>(world.flexible_report().slices))
        << h;
    EXPECT_LT(static_cast<double>(world.flexible_report().slices), 1.1 * 3 / 1e-3) << h;
  }
}

// A ball on a ringing ground: something far away is thrown up, with a rigid ground it is not; and what all
// bodies, modes and contacts have never grows.
TEST(FlexibleStepper, AnImpactThrowsUpWhatStandsFarAway)
{
  for (const double h : {1.0 / 30, 1.0 / 60, 1.0 / 100, 1.0 / 1000}) {
    for (const bool rings : {false, true}) {
      World world = world_with({.restitution = 0.3, .friction = 0.3});
      if (rings) {
        add_ringing_plane(world);
      } else {
        add_plane(world);
      }
      const model::BodyId cup = add_box(world, {0.03, 0.03, 0.04}, {1.2, 0.45, 0.04}, 0.2);
      add(world, {model::Sphere{0.08}}, {0.4, 0.45, 0.48}, 4);
      run(world, 0.2);  // the cup settles
      double energy = total_energy(world);
      const double rest = world.body(cup).X_wb.position.z();
      double rise = 0;
      for (double t = 0; t < 0.4; t += h) {
        world.step(h);
        rise = std::max(rise, world.body(cup).X_wb.position.z() - rest);
        EXPECT_LE(total_energy(world), energy + 1e-6 * std::abs(energy)) << h << " " << t;
        energy = total_energy(world);
      }
      if (rings) {
        EXPECT_GT(rise, 2e-3) << h;
      } else {
        EXPECT_LT(rise, 1e-6) << h;
      }
    }
  }
}

TEST(FlexibleStepper, BodiesInFreeFlightKeepTheirMomentum)
{
  for (const unsigned seed : {1U, 2U, 3U}) {
    WorldDesc desc = flexible_desc();
    desc.gravity.setZero();
    World world = world_with({.restitution = 0.6, .friction = 0.5}, desc);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> u(-1, 1);
    for (int i = 0; i < 12; ++i) {
      const Vec3 place(0.3 * (i % 3), 0.3 * (i / 3 % 2), 0.3 * (i / 6));
      const model::BodyId body =
          add(world, one_of_four(i, {{0.08, 0.1, 0.06}}, {0.1}, {0.06, 0.05}, {0.07, 0.06}), place,
              0.2 + 0.1 * i);
      world.set_velocity(body, Vec3(u(random), u(random), u(random)) - 2 * place,
                         3 * Vec3(u(random), u(random), u(random)));
    }
    const Vec3 before = world.momentum();
    const double energy = total_energy(world);
    run(world, 1);
    EXPECT_NEAR((world.momentum() - before).norm(), 0, 1e-10);
    EXPECT_LT(total_energy(world), energy);
  }
}

model::SceneState ringing_run(int threads, bool pause)
{
  WorldDesc desc = flexible_desc();
  desc.threads = threads;
  World world = world_with({.restitution = 0.4, .friction = 0.3}, desc);
  add_ringing_plane(world);
  for (int i = 0; i < 6; ++i) {
    add(world, one_of_four(i, {{0.05, 0.05, 0.05}}, {0.05}, {0.04, 0.05}, {0.05, 0.04}),
        {0.2 + 0.2 * i, 0.45, 0.1 + 0.05 * i}, 0.5);
  }
  run(world, 0.3);
  if (!pause) {
    run(world, 0.3);
    return world.save();
  }
  const model::SceneState saved = world.save();
  World other = world_with({.restitution = 0.4, .friction = 0.3}, desc);
  add_ringing_plane(other);
  for (int i = 0; i < 6; ++i) {
    add(other, one_of_four(i, {{0.05, 0.05, 0.05}}, {0.05}, {0.04, 0.05}, {0.05, 0.04}), {0, 0, 5.0 + i},
        0.5);
  }
  other.restore(saved);
  run(other, 0.3);
  return other.save();
}

TEST(FlexibleStepper, TheSameBitsForAnyNumberOfThreadsAndAfterRestoring)
{
  World any(flexible_desc());
  const auto bits = [](const model::SceneState& state) {
    std::vector<double> values;
    for (const model::BodyState& body : state.bodies) {
      for (const Vec3& v : {body.X_wb.position, body.velocity, body.angular_velocity})
        values.insert(values.end(), {v.x(), v.y(), v.z()});
    }
    for (const model::ModalState& ring : state.modal_states) {
      values.insert(values.end(), ring.q.begin(), ring.q.end());
      values.insert(values.end(), ring.v.begin(), ring.v.end());
    }
    return values;
  };
  const std::vector<double> one = bits(ringing_run(1, false));
  EXPECT_EQ(one, bits(ringing_run(4, false)));
  EXPECT_EQ(one, bits(ringing_run(1, true)));
  EXPECT_GT(one.size(), 7U * 9U);
}

// Holding quiet modes is not seen in the motion, and saves most of the work.
TEST(FlexibleStepper, QuietModesNeedNotMove)
{
  std::array<double, 2> rise{};
  std::array<double, 2> work{};
  for (const bool adapts : {false, true}) {
    WorldDesc desc = flexible_desc();
    desc.flexible.adapt_modes = adapts;
    World world = world_with({.restitution = 0.3, .friction = 0.3}, desc);
    add_ringing_plane(world, {.modes = 60});
    const model::BodyId cup = add_box(world, {0.03, 0.03, 0.04}, {1.2, 0.45, 0.04}, 0.2);
    add(world, {model::Sphere{0.08}}, {0.4, 0.45, 1.5}, 4);
    run(world, 0.25);
    const double rest = world.body(cup).X_wb.position.z();
    for (int i = 0; i < 100; ++i) {
      world.step(0.01);
      rise[adapts] = std::max(rise[adapts], world.body(cup).X_wb.position.z() - rest);
    }
    work[adapts] = static_cast<double>(world.flexible_report().groups.active_modes);
  }
  EXPECT_NEAR(rise[1], rise[0], 0.1 * rise[0]);
  EXPECT_LT(work[1], 0.7 * work[0]);
}

TEST(FlexibleStepper, RejectsWhatItCannotUse)
{
  World rigid_world;
  const model::BodyId body = add_box(rigid_world, {1, 1, 1}, {0, 0, 3});
  EXPECT_THROW(rigid_world.set_elastic(body, {}), Error);
  EXPECT_THROW((void)rigid_world.flexible_report(), Error);

  World world(flexible_desc());
  const model::BodyId box = add_box(world, {1, 1, 1}, {0, 0, 3});
  EXPECT_THROW(world.set_elastic(box, {-1, {}}), Error);
  EXPECT_THROW(world.set_elastic(box, {1e10, vibration::plate_model()}), Error);  // of another mesh
  const model::BodyId ground = add_plane(world);
  auto disordered = std::make_shared<model::ModalModel>(*vibration::plate_model());
  std::swap(disordered->frequencies[0], disordered->frequencies[3]);
  EXPECT_THROW(world.set_elastic(ground, {1e10, disordered}), Error);
  auto not_finite = std::make_shared<model::ModalModel>(*vibration::plate_model());
  not_finite->shapes(5, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(world.set_elastic(ground, {1e10, not_finite}), Error);
  auto endless = std::make_shared<model::ModalModel>(*vibration::plate_model());
  endless->decays[1] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(world.set_elastic(ground, {1e10, endless}), Error);

  // A state with the amplitudes of other modes.
  world.remove_body(ground);
  add_ringing_plane(world);
  add_box(world, {0.1, 0.1, 0.1}, {0.6, 0.4, 0.3});
  run(world, 1);
  model::SceneState state = world.save();
  ASSERT_FALSE(state.modal_states.empty());
  state.modal_states[0].q.pop_back();
  EXPECT_THROW(world.restore(state), Error);
}

// Modes above `max_frequency` are left out, also all of them; over-damped ones move as they should.
TEST(FlexibleStepper, AnyModesWillDo)
{
  for (const double top : {1.0, 100.0, 1e5}) {
    for (const double alpha : {0.0, 20.0, 1e4}) {
      WorldDesc desc = flexible_desc();
      desc.flexible.max_frequency = top;
      World world = world_with({.restitution = 0.3, .friction = 0.3}, desc);
      add_ringing_plane(world, {.alpha = alpha});
      const model::BodyId ball = add(world, {model::Sphere{0.08}}, {0.4, 0.45, 0.3}, 4);
      const double before = total_energy(world);
      run(world, 1);
      EXPECT_LT(total_energy(world), before);
      EXPECT_NEAR(world.body(ball).X_wb.position.z(), 0.08, 0.01);
      EXPECT_TRUE(std::isfinite(total_energy(world)));
    }
  }
}

}  // namespace
}  // namespace thrum::sim
