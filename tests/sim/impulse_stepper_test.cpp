// SPDX-License-Identifier: MIT
// Scenes whose outcome is known, with the impulse stepper at 1/60 s and no sleeping.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "thrum/base/parallel.h"
#include "thrum/sim/world.h"

namespace thrum::sim {
namespace {

constexpr double kStep = 1.0 / 60;  ///< [s]
constexpr double kGravity = 9.81;   ///< [m/s^2]

WorldDesc impulse_world()
{
  WorldDesc desc;
  desc.stepper = StepperKind::impulse;
  desc.sleep.enabled = false;
  return desc;
}

void add_ground(World& world, const Quat& rotation = Quat::Identity())
{
  BodyDesc spec;
  spec.shape = world.add_shape({model::Plane{}});
  spec.motion = model::Motion::fixed;
  spec.X_ws.rotation = rotation;
  world.add_body(spec);
}

model::BodyId add_box(World& world, const Vec3& half, const Vec3& position, double mass = 1,
                      const Quat& rotation = Quat::Identity())
{
  BodyDesc spec;
  spec.shape = world.add_shape({model::Box{half}});
  spec.X_ws = {position, rotation};
  spec.mass = mass;
  return world.add_body(spec);
}

void run(World& world, double seconds)
{
  const int steps = static_cast<int>(std::lround(seconds / kStep));
  for (int i = 0; i < steps; ++i) world.step(kStep);
}

// Largest distance of a body from where it began after `seconds` [m].
double drift_of(World& world, double seconds)
{
  const model::SceneState start = world.save();
  run(world, seconds);
  double drift = 0;
  for (std::size_t i = 0; i < start.bodies.size(); ++i)
    drift = std::max(drift, (world.state().bodies[i].X_wb.position - start.bodies[i].X_wb.position).norm());
  return drift;
}

void build_tower(World& world, int count, double top_mass = 1)
{
  add_ground(world);
  for (int i = 0; i < count; ++i)
    add_box(world, Vec3::Constant(0.5), {0, 0, 0.5 + i}, i + 1 == count ? top_mass : 1.0);
}

// A box on a slope of 30 degrees: where it is after 2 s, along the slope and off it [m].
Vec3 slide(const WorldDesc& desc, double friction, double restitution)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {restitution, friction, 0, 0});
  const Quat tilt(Eigen::AngleAxisd(std::numbers::pi / 6, Vec3::UnitY()));
  add_ground(world, tilt);
  const Vec3 start = tilt * Vec3(0, 0, 0.5);
  const model::BodyId box = add_box(world, Vec3::Constant(0.5), start, 1, tilt);
  run(world, 2);
  return tilt.conjugate() * (world.body(box).X_wb.position - start);
}

TEST(ImpulseStepper, TowerOfTwentyStands)
{
  World world(impulse_world());
  build_tower(world, 20);
  EXPECT_LT(drift_of(world, 3), 0.001);
}

TEST(ImpulseStepper, AThousandKilogramsStandOnTenBoxesOfOne)
{
  World world(impulse_world());
  build_tower(world, 11, 1000);
  EXPECT_LT(drift_of(world, 3), 0.001);
}

TEST(ImpulseStepper, APyramidStands)
{
  World world(impulse_world());
  add_ground(world);
  for (int row = 0; row < 8; ++row) {
    for (int i = 0; i < 8 - row; ++i)
      add_box(world, Vec3::Constant(0.5), {1.1 * (i + 0.5 * row), 0, 0.5 + row});
  }
  EXPECT_LT(drift_of(world, 2), 0.005);
}

TEST(ImpulseStepper, WithoutShockPropagationTheTowerGivesWay)
{
  WorldDesc desc = impulse_world();
  desc.impulse.shock_propagation = false;
  World world(desc);
  build_tower(world, 11, 1000);
  EXPECT_GT(drift_of(world, 3), 0.1);
}

TEST(ImpulseStepper, ABoxOnASlopeRestsWhateverItsRestitution)
{
  EXPECT_LT(slide(impulse_world(), 1, 1).norm(), 1e-4);
}

TEST(ImpulseStepper, ABoxOnASlopeSlidesByTheClosedForm)
{
  // s = g (sin a - mu cos a) t^2 / 2 = 1.314 m
  const double expected = 0.5 * kGravity * (0.5 - 0.5 * std::cos(std::numbers::pi / 6)) * 4;
  for (const double restitution : {0.0, 1.0}) {
    const Vec3 moved = slide(impulse_world(), 0.5, restitution);
    EXPECT_NEAR(moved.x(), expected, 0.002 * expected);
    EXPECT_NEAR(moved.z(), 0, 1e-4);
  }
}

TEST(ImpulseStepper, WithCollisionsAfterTheVelocitiesTheBoxBouncesDownTheSlope)
{
  WorldDesc desc = impulse_world();
  desc.impulse.separate_collisions = false;
  EXPECT_GT(slide(desc, 1, 1).norm(), 0.01);
}

TEST(ImpulseStepper, WithoutMeanVelocitiesSlidingRunsAheadByHalfAStep)
{
  WorldDesc desc = impulse_world();
  desc.impulse.mean_velocity = false;
  const double exact = slide(impulse_world(), 0.5, 0).x();
  EXPECT_NEAR(slide(desc, 0.5, 0).x() / exact, 1 + kStep / 2, 0.001);
}

TEST(ImpulseStepper, WithoutFrictionTheBoxSlidesFreely)
{
  WorldDesc desc = impulse_world();
  desc.impulse.friction = false;
  EXPECT_NEAR(slide(desc, 1, 0).x(), 0.5 * kGravity * 0.5 * 4, 0.01);
}

// Height of the rebounds of a box dropped flat from 1 m, in the time from `from` to `to` [m].
double rebound(const WorldDesc& desc, double restitution, double from, double to, double* sideways = nullptr)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {restitution, 0.5, 0, 0});
  add_ground(world);
  const model::BodyId box = add_box(world, Vec3::Constant(0.5), {0, 0, 1.5});
  run(world, from);
  double peak = 0;
  for (double t = from; t < to; t += kStep) {
    world.step(kStep);
    peak = std::max(peak, world.body(box).X_wb.position.z() - 0.5);
  }
  if (sideways != nullptr) *sideways = world.body(box).X_wb.position.head<2>().norm();
  return peak;
}

TEST(ImpulseStepper, AFlatBoxKeepsBouncingToItsHeight)
{
  double sideways = 1;
  EXPECT_NEAR(rebound(impulse_world(), 1, 10, 12, &sideways), 1.0, 0.001);
  EXPECT_LT(sideways, 1e-3);
}

TEST(ImpulseStepper, BouncesToTheSquareOfTheRestitution)
{
  for (const double e : {0.2, 0.5, 0.8}) EXPECT_NEAR(rebound(impulse_world(), e, 0.5, 0.9), e * e, 0.01) << e;
}

TEST(ImpulseStepper, ReportsOneHitPerImpactWithItsSpeed)
{
  World world(impulse_world());
  world.set_surface(model::kDefaultSurface, {0.5, 0.5, 0, 0});
  add_ground(world);
  add_box(world, Vec3::Constant(0.5), {0, 0, 1.5}, 2);
  int hits = 0;
  for (int i = 0; i < 48; ++i) {
    world.step(kStep);
    for (const model::ContactEvent& event : world.events()) {
      if (event.kind != model::ContactEventKind::hit) continue;
      ++hits;
      const double v = std::sqrt(2 * kGravity);
      EXPECT_NEAR(event.speed, v, kGravity * kStep);
      EXPECT_NEAR(event.impulse, 1.5 * 2 * v, 2 * 3 * kGravity * kStep);
    }
  }
  EXPECT_EQ(hits, 1);
}

TEST(ImpulseStepper, TheGroundCarriesTheWeightOfARestingBox)
{
  World world(impulse_world());
  add_ground(world);
  add_box(world, Vec3::Constant(0.5), {0, 0, 0.5}, 3);
  run(world, 0.5);
  double impulse = 0;
  for (const model::Contact& contact : world.contacts()) impulse += contact.normal_impulse;
  EXPECT_NEAR(impulse, 3 * kGravity * kStep, 1e-6);
}

TEST(ImpulseStepper, SpinningFrictionStopsATopAndRollingFrictionABall)
{
  // Rolling: a = mu_r g / (r (1 + 2/5)); from 1 m/s over 0.5 s.
  const auto speed_after = [](bool on) {
    WorldDesc desc = impulse_world();
    desc.impulse.rolling_and_spinning = on;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {0, 0.8, 0.02, 0.01});
    add_ground(world);
    BodyDesc ball;
    ball.shape = world.add_shape({model::Sphere{0.5}});
    ball.X_ws.position = {0, 0, 0.5};
    ball.velocity = {1, 0, 0};
    ball.angular_velocity = {0, 2, 3};
    const model::BodyId id = world.add_body(ball);
    run(world, 0.5);
    return std::pair(world.body(id).velocity.x(), world.body(id).angular_velocity.z());
  };
  const auto [rolling, spinning] = speed_after(true);
  EXPECT_NEAR(rolling, 1 - 0.5 * 0.02 * kGravity / (0.5 * 1.4), 0.02);
  EXPECT_NEAR(spinning, 3 - 0.5 * 0.01 * kGravity / (0.4 * 0.25), 0.05);
  const auto [free_rolling, free_spinning] = speed_after(false);
  EXPECT_NEAR(free_rolling, 1, 1e-6);
  EXPECT_NEAR(free_spinning, 3, 1e-6);
}

// Boxes dropped onto each other at random.
void build_pile(World& world, unsigned seed, int count, double scale = 1)
{
  std::mt19937 random(seed);
  const auto part = [&] {
    return static_cast<double>(random()) / 4294967296.0;
  };
  for (int i = 0; i < count; ++i) {
    const Quat q = Quat(part() - 0.5, part() - 0.5, part() - 0.5, part() - 0.5).normalized();
    const Vec3 half = scale * Vec3(0.2 + 0.2 * part(), 0.2 + 0.2 * part(), 0.2 + 0.2 * part());
    add_box(world, half, scale * Vec3(part(), part(), 1.0 + 1.2 * i), 0.5 + part(), q);
  }
}

// As slow as bodies that rest: a ball rolls on for v^2 / (2 a) with a = 5 g b / (7 r), one that spins turns
// by w^2 / (2 a) with a = 5 g b / (2 r^2), and a box slides v^2 / (2 mu g). Normal impulses change in none of
// them, and the friction of the step before drove them back: the balls at up to 0.18 m/s and 3.7 rad/s.
TEST(ImpulseStepper, FrictionBringsSlowBodiesToRestAndLeavesThemThere)
{
  constexpr double kRadius = 0.25;
  constexpr double kArm = 0.005;
  constexpr double kMu = 0.8;
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const int rate : {25, 60, 144, 333}) {
      for (const double speed : {0.02, 0.05, 0.1}) {
        SCOPED_TRACE(::testing::Message() << (stepper == StepperKind::constraint ? "constraint" : "impulse")
                                          << ", 1/" << rate << " s, " << speed << " m/s");
        WorldDesc desc = impulse_world();
        desc.stepper = stepper;
        World world(desc);
        world.set_surface(model::kDefaultSurface, {0, kMu, kArm, kArm});
        add_ground(world);
        const auto add_ball = [&](double y) {
          BodyDesc body;
          body.shape = world.add_shape({model::Sphere{kRadius}});
          body.X_ws.position = {0, y, kRadius};
          body.mass = 1;
          return world.add_body(body);
        };
        const model::BodyId rolling = add_ball(0);
        const model::BodyId spinning = add_ball(3);
        const model::BodyId box = add_box(world, {0.2, 0.1, 0.05}, {0, 6, 0.05});
        world.set_velocity(rolling, {speed, 0, 0}, {0, speed / kRadius, 0});
        world.set_velocity(spinning, Vec3::Zero(), {0, 0, 2 * speed});
        world.set_velocity(box, {speed, 0, 0}, Vec3::Zero());
        const double h = 1.0 / rate;
        for (int i = 0; i < 2 * rate; ++i) world.step(h);
        const double rolled = 0.7 * speed * speed * kRadius / (kGravity * kArm);
        EXPECT_NEAR(world.body(rolling).X_wb.position.x(), rolled, 0.5 * h * speed + 0.01 * rolled);
        // A hundredth of what gravity gives in a step is left alone, for a few steps.
        const double creep = 0.011 * kGravity * h;
        const Quat& q = world.body(spinning).X_wb.rotation;
        const double turned = 0.8 * speed * speed * kRadius * kRadius / (kGravity * kArm);
        EXPECT_NEAR(2 * std::atan2(q.z(), q.w()), turned, h * (speed + 3 * creep / kRadius) + 0.01 * turned);
        const double slid = 0.5 * speed * speed / (kMu * kGravity);
        EXPECT_NEAR(world.body(box).X_wb.position.x(), slid, 0.5 * h * speed + 0.01 * slid);
        for (const model::BodyId id : {rolling, spinning, box}) {
          EXPECT_LT(world.body(id).velocity.norm(), creep);
          EXPECT_LT(kRadius * world.body(id).angular_velocity.norm(), creep);
        }
      }
    }
  }
}

TEST(ImpulseStepper, EnergyNeverGrowsInAPile)
{
  for (const double restitution : {0.0, 0.5, 1.0}) {
    for (unsigned seed = 0; seed < 4; ++seed) {
      World world(impulse_world());
      world.set_surface(model::kDefaultSurface, {restitution, 0.5, 0, 0});
      add_ground(world);
      build_pile(world, seed, 6);
      const double start = world.kinetic_energy() + world.potential_energy();
      double most = start;
      for (int i = 0; i < 240; ++i) {
        world.step(kStep);
        most = std::max(most, world.kinetic_energy() + world.potential_energy());
      }
      EXPECT_LE(most, start * 1.001) << "restitution " << restitution << ", seed " << seed;
    }
  }
}

TEST(ImpulseStepper, MomentumIsKeptWithoutGravity)
{
  WorldDesc desc = impulse_world();
  desc.gravity = Vec3::Zero();
  desc.impulse.shock_propagation = false;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0.7, 0.5, 0, 0});
  build_pile(world, 3, 6);
  for (int i = 0; i < 6; ++i)
    world.set_velocity(world.id_of(i), Vec3(0.1 * i, -0.05 * i, 2.5 - i), Vec3(0.3, 0.1 * i, -0.2));
  const Vec3 before = world.momentum();
  run(world, 2);
  EXPECT_LT((world.momentum() - before).norm(), 1e-9);
}

TEST(ImpulseStepper, TheSameSceneInMillimetresMovesTheSame)
{
  const auto position_after = [](double unit) {
    WorldDesc desc = impulse_world();
    desc.gravity = Vec3(0, 0, -kGravity * unit);
    desc.length_scale = unit;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {0.3, 0.5, 0, 0});
    add_ground(world);
    build_pile(world, 5, 4, unit);
    run(world, 1);
    return Vec3(world.state().bodies[4].X_wb.position / unit);
  };
  // Powers of two change no rounding, so even an impact-ridden motion must agree.
  EXPECT_LT((position_after(1) - position_after(1024)).norm(), 1e-9);
}

TEST(ImpulseStepper, SameBitsForOneAndTwoThreads)
{
  const auto hash_with = [](int threads) {
    base::set_thread_count(threads);
    World world(impulse_world());
    add_ground(world);
    build_pile(world, 7, 8);
    run(world, 1);
    base::set_thread_count(0);
    return world.hash();
  };
  EXPECT_EQ(hash_with(1), hash_with(2));
}

TEST(ImpulseStepper, APendulumOnABallJointKeepsItsLength)
{
  World world(impulse_world());
  const model::BodyId bob = add_box(world, Vec3::Constant(0.1), {1, 0, 0});
  model::JointDesc joint;
  joint.kind = model::JointKind::ball;
  joint.a = bob;
  joint.X_aj.position = {-1, 0, 0};
  world.add_joint(joint);
  for (int i = 0; i < 120; ++i) {
    world.step(kStep);
    ASSERT_NEAR(world.body(bob).X_wb.position.norm(), 1, 0.02);
  }
}

TEST(ImpulseStepper, ABodyBornInsideAnotherIsPushedOutWithoutAnExplosion)
{
  World world(impulse_world());
  add_ground(world);
  const model::BodyId box = add_box(world, Vec3::Constant(0.5), {0, 0, 0.2});
  for (int i = 0; i < 300; ++i) {
    world.step(kStep);
    EXPECT_LT(world.body(box).velocity.norm(), 0.5);
  }
  EXPECT_NEAR(world.body(box).X_wb.position.z(), 0.5, 0.001);
}

// A plate that is 10 mm too deep with one side, or with all of it, rises by its share of the overlap and no
// further: what one corner pushes too far, because the others push as well, comes back.
TEST(ImpulseStepper, OverlapIsPushedOutByItsShareAndNoFurther)
{
  for (const double h : {1.0 / 25, 1.0 / 60, 1.0 / 144}) {
    for (const int rounds : {4, 20}) {
      for (const double tilt : {0.0, 0.005}) {
        WorldDesc desc = impulse_world();
        desc.impulse.shock_level_iterations = rounds;
        World world(desc);
        add_ground(world);
        constexpr double kHalf = 1;
        constexpr double kDeep = 0.01;
        const Quat turned(Eigen::AngleAxisd(tilt, Vec3::UnitY()));
        const double centre = 0.1 * std::cos(tilt) + kHalf * std::sin(tilt) - kDeep;
        const model::BodyId plate = add_box(world, {kHalf, 0.6, 0.1}, {0, 0, centre}, 1, turned);
        const auto lowest = [&] {
          const Pose& X = world.body(plate).X_wb;
          double z = 1;
          for (const double x : {-kHalf, kHalf}) z = std::min(z, X.point({x, 0, -0.1}).z());
          return z;
        };
        world.step(h);
        const double slop = desc.impulse.slop * desc.length_scale;
        const double expected = -kDeep + desc.impulse.push_out_share * (kDeep - slop);
        EXPECT_NEAR(lowest(), expected, 0.01 * kDeep)
            << "1/" << std::lround(1 / h) << " s, " << rounds << ", " << tilt;
      }
    }
  }
}

}  // namespace
}  // namespace thrum::sim
