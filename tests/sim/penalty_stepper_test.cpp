// SPDX-License-Identifier: MIT
// The penalty stepper against closed forms of springs, dampers and Coulomb friction.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/sim/world_fixture.h"
#include "thrum/base/random.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double g = 9.81;

WorldDesc penalty_desc()
{
  WorldDesc desc = desc_without_sleep();
  desc.stepper = StepperKind::penalty;
  return desc;
}

// Of a mass on a spring with this damping ratio, up to 1, that leaves when the force falls to 0.
double restitution_of(double ratio)
{
  const double phi = std::asin(ratio);
  return ratio < 1 ? std::exp(-(std::numbers::pi - 2 * phi) * std::tan(phi)) : std::exp(-2.0);
}

double total_energy(const World& world)
{
  return world.kinetic_energy() + world.potential_energy() + world.contact_energy();
}

// A ball in weightlessness leaves a fixed wall with the restitution of its damping ratio, at any step, mass
// and stiffness.
TEST(PenaltyStepper, RestitutionIsThatOfTheDampingRatio)
{
  for (const double h : {1.0 / 30, 1.0 / 60, 0.003, 0.0005}) {
    for (const double ratio : {0.0, 0.1, 0.4, 1.0}) {
      for (const double mass : {0.01, 10.0}) {
        WorldDesc desc = penalty_desc();
        desc.gravity.setZero();
        desc.penalty.damping_ratio = ratio;
        if (mass > 1) desc.penalty.stiffness = 2e6;
        World world(desc);
        add_plane(world);
        const model::BodyId ball = add(world, {model::Sphere{0.2}}, {0, 0, 0.3}, mass);
        world.set_velocity(ball, {0, 0, -2}, Vec3::Zero());
        run(world, 0.5, h);
        EXPECT_NEAR(world.body(ball).velocity.z(), 2 * restitution_of(ratio), 0.03)
            << h << ", ratio " << ratio << ", mass " << mass;
      }
    }
  }
}

// A cube on its four corners: k = m (pi / T)^2 at each, with the mobility 1 / m + (a^2 / 2) / (m a^2 / 6),
// which is 4 / m, so that omega_max^2 = 16 k / m. A substep is pi / (10 omega). On another cube the stiffness
// is half of that, and counts twice.
TEST(PenaltyStepper, SubstepsFollowTheStiffnessOfAllPoints)
{
  for (const double h : {1.0 / 60, 1.0 / 200}) {
    for (const double contact_time : {0.004, 0.001}) {
      WorldDesc desc = penalty_desc();
      desc.penalty.contact_time = contact_time;
      desc.penalty.max_substeps = 1;
      const auto needed = [&](bool on_a_cube) {
        World world(desc);
        world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
        add_plane(world);
        const Vec3 half(0.1, 0.1, 0.1);
        const double below = on_a_cube ? 10.0 : 0.0;
        if (on_a_cube) add_box(world, half, {0, 0, below - 0.1}, 2);
        const model::BodyId cube = add_box(world, half, {0, 0, below + 0.1}, 2);
        world.set_velocity(cube, {0, 0, -0.01}, Vec3::Zero());
        world.step(h);
        return world.limit_counts().max_substeps_needed;
      };
      // Rounding may add one to a whole number.
      const double expected = h * 10 * 4 / contact_time;
      EXPECT_NEAR(needed(false), std::ceil(expected - 1e-9), 1) << h << ", " << contact_time;
      EXPECT_NEAR(needed(true), std::ceil(expected - 1e-9), 1) << h << ", " << contact_time;
    }
  }
}

// A damper above the critical one, as surfaces without restitution have it, leaves next to nothing of the
// speed: 0.01 with a ratio of 5. With and without friction, whose springs change the substep.
TEST(PenaltyStepper, StrongDampersDoNotThrowBack)
{
  for (const double friction : {0.0, 0.5}) {
    for (const double h : {1.0 / 30, 1.0 / 60, 0.003}) {
      WorldDesc desc = penalty_desc();
      desc.gravity.setZero();
      World world(desc);
      world.set_surface(model::kDefaultSurface, {0, friction, 0, 0});
      add_plane(world);
      const model::BodyId ball = add(world, {model::Sphere{0.2}}, {0, 0, 0.3}, 1);
      const model::BodyId box = add_box(world, {0.1, 0.2, 0.3}, {2, 0, 0.4}, 1);
      for (const model::BodyId id : {ball, box}) world.set_velocity(id, {0, 0, -2}, Vec3::Zero());
      run(world, 0.2, h);
      for (const model::BodyId id : {ball, box})
        EXPECT_LT(world.body(id).velocity.z(), 0.03 * 2) << friction << ", " << h;
    }
  }
}

// Without a ratio it is the restitution of the surfaces, of a ball and of a box that lands flat, on the
// ground and on a body that yields.
TEST(PenaltyStepper, RestitutionIsThatOfTheSurfaces)
{
  for (const double e : {0.1, 0.3, 0.7, 1.0}) {
    for (const bool is_box : {false, true}) {
      for (const bool yields : {false, true}) {
        WorldDesc desc = penalty_desc();
        desc.gravity.setZero();
        World world(desc);
        world.set_surface(model::kDefaultSurface, {e, 0.5, 0, 0});
        model::BodyId wall;
        if (yields) {
          wall = add_box(world, {1, 1, 0.25}, {0, 0, -0.25}, 3);
        } else {
          wall = add_plane(world);
        }
        const model::BodyId body = add(
            world, is_box ? model::Shape{model::Box{Vec3::Constant(0.2)}} : model::Shape{model::Sphere{0.2}},
            {0, 0, 0.3}, 2);
        world.set_velocity(body, {0, 0, -2}, Vec3::Zero());
        run(world, 0.4);
        const double apart = world.body(body).velocity.z() - world.body(wall).velocity.z();
        EXPECT_NEAR(apart, 2 * e, 0.03) << (is_box ? "box" : "ball") << (yields ? " on a box" : "");
        if (yields) {
          EXPECT_NEAR(world.momentum().z(), -4, 1e-9);
        }
      }
    }
  }
}

// Fast bodies get stiffer springs, which stay the same from the first touch to the last, though the impact
// goes through several slices: the rebound is that of the surfaces at any speed, size, mass, step and phase.
// (A step that has used up its slices ends with a long one, in which max_substeps cannot follow the springs
// of the fastest: these get softer ones and lose speed.)
TEST(PenaltyStepper, FastBodiesReboundByTheRestitutionOfTheSurfaces)
{
  base::Random random(1316);
  int slower = 0;
  for (int i = 0; i < 400; ++i) {
    const double e = random.uniform(0.1, 1);
    const double speed = 3 * std::pow(100, random.uniform());
    const double size = 0.01 * std::pow(50, random.uniform());
    const double mass = 0.01 * std::pow(1000, random.uniform());
    const double h = 1 / (30 * std::pow(30, random.uniform()));
    const double phase = random.uniform();
    const bool is_box = random.chance(0.5);
    WorldDesc desc = penalty_desc();
    desc.gravity.setZero();
    World world(desc);
    world.set_surface(model::kDefaultSurface, {e, 0.5, 0, 0});
    add_plane(world);
    const model::BodyId body =
        is_box ? add_box(world, Vec3::Constant(0.5 * size), {0, 0, 0.5 * size + phase * h * speed}, mass)
               : add(world, {model::Sphere{0.5 * size}}, {0, 0, 0.5 * size + phase * h * speed}, mass);
    world.set_velocity(body, {0, 0, -speed}, Vec3::Zero());
    const auto has_left = [&] {
      const model::BodyState& state = world.body(body);
      return state.velocity.z() > 0 && state.X_wb.position.z() > 0.51 * size;
    };
    for (int k = 0; k < 1000 && !has_left(); ++k) world.step(h);
    const double rebound = world.body(body).velocity.z() / speed;
    if (rebound < e - 0.02) {
      ++slower;
      EXPECT_GT(world.limit_counts().long_slices, 0U);
    }
    EXPECT_LT(rebound, e + 0.02) << (is_box ? "box" : "ball") << " of " << size << " m and " << mass
                                 << " kg at " << speed << " m/s, step " << h << ", phase " << phase;
    EXPECT_GT(rebound, 0);
  }
  EXPECT_LE(slower, 4);
}

// A body at rest sinks in by its weight over the stiffness of the springs under it.
TEST(PenaltyStepper, SagsByItsWeightOverTheStiffness)
{
  for (const double h : {1.0 / 60, 0.002}) {
    for (const double k : {1e4, 1e6}) {
      WorldDesc desc = penalty_desc();
      desc.penalty.stiffness = k;
      World world(desc);
      add_plane(world);
      const model::BodyId ball = add(world, {model::Sphere{0.2}}, {0, 0, 0.2}, 3);
      const model::BodyId box = add_box(world, Vec3::Constant(0.2), {2, 0, 0.2}, 3);
      run(world, 3, h);
      EXPECT_NEAR(0.2 - world.body(ball).X_wb.position.z(), 3 * g / k, 1e-3 * 3 * g / k) << h;
      EXPECT_NEAR(0.2 - world.body(box).X_wb.position.z(), 3 * g / (4 * k), 1e-3 * 3 * g / k) << h;
      EXPECT_NEAR(world.contact_energy(), (0.5 + 0.125) * 9 * g * g / k, 1e-2 * 9 * g * g / k);
    }
  }
}

// Undamped, a ball sinks in by v sqrt(m / k) and its contact lasts pi sqrt(m / k). Both are seen with steps
// that are short against it.
TEST(PenaltyStepper, DepthAndTimeOfContactAreThoseOfTheSpring)
{
  WorldDesc desc = penalty_desc();
  desc.gravity.setZero();
  desc.penalty.stiffness = 5e4;
  desc.penalty.damping_ratio = 0;
  World world(desc);
  add_plane(world);
  const model::BodyId ball = add(world, {model::Sphere{0.2}}, {0, 0, 0.201}, 2);
  world.set_velocity(ball, {0, 0, -1}, Vec3::Zero());
  constexpr double h = 1e-4;
  double lowest = 1;
  int touching = 0;
  for (int i = 0; i < 1000; ++i) {
    world.step(h);
    const double z = world.body(ball).X_wb.position.z();
    lowest = std::min(lowest, z);
    touching += z < 0.2 ? 1 : 0;
    EXPECT_NEAR(total_energy(world), 1, 1e-9);
  }
  const double period = std::sqrt(2 / 5e4);
  EXPECT_NEAR(0.2 - lowest, period, 1e-3 * period);
  EXPECT_NEAR(touching * h, std::numbers::pi * period, 2 * h);
}

// A ball that the usual stiffness would let in by 1.9 times its width comes to rest at a quarter of it,
// undamped: k = m (v / D)^2, so that the contact lasts pi D / v and the ball leaves as fast as it came, at
// any step.
TEST(PenaltyStepper, FastBodiesAreStoppedWithinAQuarterOfTheirWidth)
{
  constexpr double kSpeed = 60;
  constexpr double kDepth = 0.01;
  for (const double h : {1.0 / 60, 1.0 / 240, 0.001, 1e-4, 1e-5}) {
    WorldDesc desc = penalty_desc();
    desc.gravity.setZero();
    World world(desc);
    world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
    add_plane(world);
    const model::BodyId ball = add(world, {model::Sphere{0.02}}, {0, 0, 0.025 + 0.3 * h * kSpeed}, 2);
    world.set_velocity(ball, {0, 0, -kSpeed}, Vec3::Zero());
    double lowest = 1;
    double touching = 0;
    for (int i = 0; i < 4 || i * h < 0.002; ++i) {
      world.step(h);
      lowest = std::min(lowest, world.body(ball).X_wb.position.z());
      touching += world.body(ball).X_wb.position.z() < 0.02 ? h : 0.0;
      EXPECT_NEAR(total_energy(world), kSpeed * kSpeed, 1e-9 * kSpeed * kSpeed) << h;
    }
    EXPECT_NEAR(world.body(ball).velocity.z(), kSpeed, 1e-6 * kSpeed) << h;
    EXPECT_GT(lowest, 0.02 - 1.01 * kDepth) << h;
    if (h > 1e-5) continue;
    EXPECT_NEAR(0.02 - lowest, kDepth, 0.01 * kDepth);
    EXPECT_NEAR(touching, std::numbers::pi * kDepth / kSpeed, 0.03 * std::numbers::pi * kDepth / kSpeed);
  }
}

// A block on an incline: below the angle of friction it creeps by no more than the stretch of its spring,
// above it slides as Coulomb says.
TEST(PenaltyStepper, ABlockOnAnInclineSticksOrSlides)
{
  for (const double h : {1.0 / 60, 1.0 / 240}) {
    for (const double mu : {0.2, 0.4, 0.6, 0.8}) {
      WorldDesc desc = penalty_desc();
      desc.penalty.stiffness = 1e5;
      constexpr double kAngle = 0.46;  // tan is 0.4954
      World world(desc);
      world.set_surface(model::kDefaultSurface, {0, mu, 0, 0});
      const Quat turn(Eigen::AngleAxisd(kAngle, Vec3::UnitY()));
      add_plane(world, turn);
      const model::BodyId box = add_box(world, {0.3, 0.3, 0.1}, turn * Vec3(0, 0, 0.1), 2, turn);
      const Vec3 start = world.body(box).X_wb.position;
      run(world, 1, h);
      const double way = (turn * Vec3::UnitX()).dot(world.body(box).X_wb.position - start);
      const double pull = g * (std::sin(kAngle) - mu * std::cos(kAngle));
      if (pull > 0) {
        EXPECT_NEAR(way, 0.5 * pull, 0.01 * 0.5 * pull + 0.002) << h << " " << mu;
      } else {
        const double stretch = 2 * g * std::sin(kAngle) / (desc.penalty.friction_stiffness * 4e5);
        // It slips while it sinks in, as long as it weighs less than it will.
        EXPECT_GT(way, 0.95 * stretch) << h << " " << mu;
        EXPECT_LT(way, 3 * stretch) << h << " " << mu;
        EXPECT_LT(world.body(box).velocity.norm(), 1e-4);
      }
    }
  }
}

TEST(PenaltyStepper, ASlidingBlockStopsAfterItsStoppingDistance)
{
  for (const double h : {1.0 / 60, 1.0 / 240}) {
    World world(penalty_desc());
    world.set_surface(model::kDefaultSurface, {0, 0.3, 0, 0});
    add_plane(world);
    const model::BodyId box = add_box(world, {0.3, 0.3, 0.1}, {0, 0, 0.1}, 2);
    world.set_velocity(box, {2, 0, 0}, Vec3::Zero());
    run(world, 2, h);
    const double distance = 4 / (2 * 0.3 * g);
    EXPECT_NEAR(world.body(box).X_wb.position.x(), distance, 0.02 * distance) << h;
    EXPECT_LT(world.body(box).velocity.norm(), 1e-3);
  }
}

// A ball that is thrown along the ground rolls at 5/7 of its speed.
TEST(PenaltyStepper, ASlidingBallRollsAtFiveSevenths)
{
  World world(penalty_desc());
  world.set_surface(model::kDefaultSurface, {0, 0.3, 0, 0});
  add_plane(world);
  const model::BodyId ball = add(world, {model::Sphere{0.2}}, {0, 0, 0.2}, 2);
  world.set_velocity(ball, {3, 0, 0}, Vec3::Zero());
  run(world, 1.5);
  EXPECT_NEAR(world.body(ball).velocity.x(), 3 * 5.0 / 7, 0.02);
  EXPECT_NEAR(world.body(ball).angular_velocity.y(), 3 * 5.0 / 7 / 0.2, 0.1);
}

// Two boxes that meet off centre and spinning, with friction: momentum and angular momentum stay, energy does
// not grow.
TEST(PenaltyStepper, KeepsMomentumAndAngularMomentum)
{
  for (const double h : {1.0 / 60, 1.0 / 480}) {
    WorldDesc desc = penalty_desc();
    desc.gravity.setZero();
    World world(desc);
    world.set_surface(model::kDefaultSurface, {0.5, 0.5, 0, 0});
    const model::BodyId a =
        add_box(world, {0.3, 0.2, 0.1}, {-0.5, 0, 0}, 2, Quat(1, 0.1, 0.2, 0.1).normalized());
    const model::BodyId b = add_box(world, {0.2, 0.2, 0.2}, {0.5, 0.1, 0.05}, 5);
    world.set_velocity(a, {2, 0.1, 0}, {1, 0.5, 2});
    world.set_velocity(b, {-1, 0, 0.1}, {0, 1, 0});
    const auto angular = [&] {
      Vec3 sum = Vec3::Zero();
      for (const model::BodyId id : {a, b}) {
        const model::BodyState& body = world.body(id);
        const Mat3 R = body.X_wb.rotation.toRotationMatrix();
        sum += body.X_wb.position.cross(world.desc_of(id).mass * body.velocity) +
               R * world.desc_of(id).inertia * R.transpose() * body.angular_velocity;
      }
      return sum;
    };
    const Vec3 p = world.momentum();
    const Vec3 L = angular();
    double last = total_energy(world);
    const double first = last;
    for (int i = 0; i < std::lround(1 / h); ++i) {
      world.step(h);
      EXPECT_LE(total_energy(world), last + 1e-4 * first);
      last = total_energy(world);
    }
    EXPECT_LT(last, 0.95 * first);
    EXPECT_NEAR((world.momentum() - p).norm(), 0, 1e-12 * 20);
    EXPECT_NEAR((angular() - L).norm(), 0, 1e-9 * L.norm());
  }
}

// Any stiffness at any step: the substep follows from stiffness and mass, and nothing blows up.
TEST(PenaltyStepper, FindsAStableStepForAnyStiffness)
{
  for (const double h : {1.0 / 30, 1.0 / 240}) {
    for (const double k : {1e2, 1e4, 1e6}) {
      for (const double mass : {1e-3, 1.0, 1e3}) {
        WorldDesc desc = penalty_desc();
        desc.penalty.stiffness = k;
        World world(desc);
        world.set_surface(model::kDefaultSurface, {0.5, 0.5, 0, 0});
        add_plane(world);
        for (int i = 0; i < 3; ++i) add_box(world, Vec3::Constant(0.2), {0.02 * i, 0, 0.5 + 0.5 * i}, mass);
        const double first = total_energy(world);
        for (int i = 0; i < std::lround(0.6 / h); ++i) {
          world.step(h);
          ASSERT_LE(total_energy(world), first * (1 + 1e-3)) << k << " " << mass << " " << h;
        }
      }
    }
  }
}

}  // namespace
}  // namespace thrum::sim
