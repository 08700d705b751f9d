// SPDX-License-Identifier: MIT
// Impacts of several bodies at once, against closed forms and symmetry, with both steppers and four steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double kSteps[] = {1.0 / 25, 1.0 / 60, 1.0 / 144, 1.0 / 333};
constexpr double kRadius = 0.1;

WorldDesc free_space(StepperKind stepper)
{
  WorldDesc desc = desc_without_sleep();
  desc.stepper = stepper;
  desc.gravity.setZero();
  return desc;
}

template <class Check>
void for_all_steps(Check&& check)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const double h : kSteps) {
      SCOPED_TRACE(::testing::Message() << (stepper == StepperKind::constraint ? "constraint" : "impulse")
                                        << ", 1/" << std::lround(1 / h) << " s");
      check(stepper, h);
    }
  }
}

struct Row {
  int count = 5;     ///< balls
  int strikers = 1;  ///< of them, at the left, with speed 1
  double restitution = 1;
  double friction = 0;
};

// The speeds of balls in a row after the impact.
std::vector<double> strike_row(const Row& row, const WorldDesc& desc, double h)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {row.restitution, row.friction, 0, 0});
  const bool on_table = !desc.gravity.isZero();
  if (on_table) add_plane(world);
  std::vector<model::BodyId> balls;
  for (int i = 0; i < row.count; ++i) {
    const bool strikes = i < row.strikers;
    balls.push_back(add(world, {model::Sphere{kRadius}},
                        {2 * kRadius * i - (strikes ? 0.137 : 0.0), 0, on_table ? kRadius : 0.0}));
    if (strikes) world.set_velocity(balls.back(), Vec3::UnitX(), Vec3::Zero());
  }
  run(world, 0.4, h);
  std::vector<double> speeds;
  for (const model::BodyId ball : balls) {
    EXPECT_NEAR(world.body(ball).velocity.y(), 0, 1e-6);
    speeds.push_back(world.body(ball).velocity.x());
  }
  return speeds;
}

void expect_speeds(const std::vector<double>& speeds, const std::vector<double>& expected, double tolerance)
{
  ASSERT_EQ(speeds.size(), expected.size());
  for (std::size_t i = 0; i < speeds.size(); ++i)
    EXPECT_NEAR(speeds[i], expected[i], tolerance) << "ball " << i;
}

TEST(SimultaneousImpacts, OnlyTheLastOfARowLeaves)
{
  for_all_steps([](StepperKind stepper, double h) {
    expect_speeds(strike_row({5, 1, 1, 0}, free_space(stepper), h), {0, 0, 0, 0, 1}, 1e-6);
    expect_speeds(strike_row({5, 1, 1, 0.3}, free_space(stepper), h), {0, 0, 0, 0, 1}, 1e-6);
    expect_speeds(strike_row({7, 1, 1, 0}, free_space(stepper), h), {0, 0, 0, 0, 0, 0, 1}, 1e-6);
    WorldDesc on_table = free_space(stepper);
    on_table.gravity = {0, 0, -9.81};
    expect_speeds(strike_row({5, 1, 1, 0}, on_table, h), {0, 0, 0, 0, 1}, 1e-5);
  });
}

TEST(SimultaneousImpacts, AsManyLeaveARowAsStrikeIt)
{
  for_all_steps([](StepperKind stepper, double h) {
    expect_speeds(strike_row({5, 2, 1, 0}, free_space(stepper), h), {0, 0, 0, 1, 1}, 1e-6);
    expect_speeds(strike_row({5, 3, 1, 0}, free_space(stepper), h), {0, 0, 1, 1, 1}, 1e-6);
  });
}

// e times what full restitution leaves, and 1 - e times the common speed of none.
TEST(SimultaneousImpacts, RestitutionBetweenNoneAndFullIsTheirMixture)
{
  for_all_steps([](StepperKind stepper, double h) {
    for (const double e : {0.25, 0.5, 0.9}) {
      SCOPED_TRACE(e);
      const double together = (1 - e) / 3;
      expect_speeds(strike_row({3, 1, e, 0}, free_space(stepper), h), {together, together, e + together},
                    1e-6);
    }
  });
}

// Bernoulli: one ball onto two that touch. The two are struck at once and leave along the normals, at 30
// degrees: momentum and energy give -1/5 and 2 sqrt(3) / 5.
TEST(SimultaneousImpacts, OneBallOntoTwo)
{
  for_all_steps([](StepperKind stepper, double h) {
    for (const double friction : {0.0, 0.3}) {
      World world(free_space(stepper));
      world.set_surface(model::kDefaultSurface, {1, friction, 0, 0});
      const auto up = add(world, {model::Sphere{kRadius}}, {0, kRadius, 0});
      const auto striker = add(world, {model::Sphere{kRadius}}, {-std::sqrt(3.0) * kRadius - 0.153, 0, 0});
      const auto down = add(world, {model::Sphere{kRadius}}, {0, -kRadius, 0});
      world.set_velocity(striker, Vec3::UnitX(), Vec3::Zero());
      run(world, 0.4, h);
      const Vec3 a = world.body(up).velocity;
      const Vec3 b = world.body(down).velocity;
      // The mirror image, also with friction.
      EXPECT_NEAR(a.x(), b.x(), 1e-9);
      EXPECT_NEAR(a.y(), -b.y(), 1e-9);
      EXPECT_NEAR(world.body(striker).velocity.y(), 0, 1e-9);
      EXPECT_NEAR(world.body(striker).velocity.x() + a.x() + b.x(), 1, 1e-9);
      if (friction > 0) continue;
      EXPECT_NEAR(world.body(striker).velocity.x(), -0.2, 1e-6);
      EXPECT_NEAR(a.x(), 0.6, 1e-6);
      EXPECT_NEAR(a.y(), 0.2 * std::sqrt(3.0), 1e-6);
    }
  });
}

// Nine balls in a diamond, struck in the middle: the picture is its own mirror image for as long as rounding
// lets it.
TEST(SimultaneousImpacts, ANineBallBreakKeepsItsMirrorImage)
{
  for_all_steps([](StepperKind stepper, double h) {
    for (const bool on_table : {false, true}) {
      SCOPED_TRACE(on_table ? "on a table" : "in free space");
      WorldDesc desc = free_space(stepper);
      if (on_table) desc.gravity = {0, 0, -9.81};
      World world(desc);
      world.set_surface(model::kDefaultSurface, {0.95, on_table ? 0.05 : 0.0, 0, 0});
      if (on_table) add_plane(world);
      const double z = on_table ? kRadius : 0.0;
      struct Mirrored {
        model::BodyId left;
        model::BodyId right;
      };
      std::vector<Mirrored> pairs;
      for (const int row : {-2, -1, 0, 1, 2}) {
        const int count = 3 - std::abs(row);
        std::vector<model::BodyId> balls;
        for (int k = 0; k < count; ++k)
          balls.push_back(add(world, {model::Sphere{kRadius}},
                              {std::sqrt(3.0) * kRadius * row, kRadius * (2 * k - count + 1), z}));
        for (int k = 0; k < count; ++k)
          pairs.push_back(
              {balls[static_cast<std::size_t>(k)], balls[static_cast<std::size_t>(count - 1 - k)]});
      }
      const auto cue = add(world, {model::Sphere{kRadius}}, {-0.8, 0, z});
      pairs.push_back({cue, cue});
      world.set_velocity(cue, 3 * Vec3::UnitX(), Vec3::Zero());
      run(world, 0.6, h);
      double fastest = 0;
      for (const auto& [left, right] : pairs) {
        const Vec3 p = world.body(left).X_wb.position;
        const Vec3 q = world.body(right).X_wb.position;
        EXPECT_LT((p - Vec3(q.x(), -q.y(), q.z())).norm(), 1e-6);
        fastest = std::max(fastest, world.body(left).velocity.norm());
      }
      // The break happened.
      EXPECT_GT(fastest, 0.5);
    }
  });
}

// Random heaps of unequal bodies in free space that fly into each other.
TEST(SimultaneousImpacts, EnergyNeverGrowsAndMomentumIsKept)
{
  for_all_steps([](StepperKind stepper, double h) {
    for (unsigned seed = 0; seed < 3; ++seed) {
      std::mt19937 random(seed);
      const auto part = [&] {
        return static_cast<double>(random()) / 4294967296.0;
      };
      const double restitution = seed == 0 ? 1.0 : part();
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", restitution " << restitution);
      World world(free_space(stepper));
      world.set_surface(model::kDefaultSurface, {restitution, seed == 1 ? 0.0 : 0.5, 0, 0});
      // A grid of touching balls and boxes, and four bodies that fly into it.
      std::vector<model::BodyId> bodies;
      std::vector<double> masses;
      for (int i = 0; i < 12; ++i) {
        const Vec3 at(2 * kRadius * (i % 3), 2 * kRadius * (i / 3 % 2), 2 * kRadius * (i / 6));
        const model::Shape shape = (i + static_cast<int>(seed)) % 3 == 0
                                       ? model::Shape{model::Box{Vec3::Constant(kRadius)}}
                                       : model::Shape{model::Sphere{kRadius}};
        masses.push_back(std::pow(10.0, 2 * part() - 1));
        bodies.push_back(add(world, shape, at, masses.back()));
      }
      for (int i = 0; i < 4; ++i) {
        Vec3 from(part() - 0.5, part() - 0.5, part() - 0.5);
        from = 0.9 * from.normalized();
        const Vec3 middle(2 * kRadius, kRadius, kRadius);
        masses.push_back(1 + 3 * part());
        bodies.push_back(add(world, {model::Sphere{0.8 * kRadius}}, middle + from, masses.back()));
        world.set_velocity(bodies.back(), -4 * from, Vec3(part(), part(), part()));
      }
      const auto momentum = [&] {
        Vec3 sum = Vec3::Zero();
        for (std::size_t i = 0; i < bodies.size(); ++i) sum += masses[i] * world.body(bodies[i]).velocity;
        return sum;
      };
      const double start = world.kinetic_energy();
      const Vec3 first = momentum();
      double last = start;
      double lowest = start;
      for (double t = 0; t < 1; t += h) {
        world.step(h);
        const double now = world.kinetic_energy();
        ASSERT_LE(now, last + 1e-6 * start);
        last = now;
        lowest = std::min(lowest, now);
      }
      EXPECT_LT((momentum() - first).norm(), 1e-9 * std::sqrt(start));
      // Something happened, and full restitution does not waste it.
      EXPECT_TRUE(restitution == 1 ? lowest > 0.5 * start : lowest < 0.99 * start);
    }
  });
}

// A ball that is dropped from 2 m with e = 0.5 bounces ever faster and rests after t (1 + e) / (1 - e),
// where t is the time of its fall. A step that ends a bounce early, or starts it late, would show.
TEST(SimultaneousImpacts, ABallComesToRestOnTime)
{
  for_all_steps([](StepperKind stepper, double h) {
    for (const double e : {0.3, 0.5, 0.7}) {
      SCOPED_TRACE(e);
      WorldDesc desc = desc_without_sleep();
      desc.stepper = stepper;
      World world(desc);
      world.set_surface(model::kDefaultSurface, {e, 0.3, 0, 0});
      add_plane(world);
      const auto ball = add(world, {model::Sphere{kRadius}}, {0, 0, 2 + kRadius});
      const double expected = std::sqrt(2 * 2 / 9.81) * (1 + e) / (1 - e);
      double last = 0;
      for (double t = h; t < 1.2 * expected + 0.2; t += h) {
        world.step(h);
        const double energy = 0.5 * world.body(ball).velocity.squaredNorm() +
                              9.81 * (world.body(ball).X_wb.position.z() - kRadius);
        // A rebound of 1 mm.
        if (energy > 9.81e-3) last = t;
      }
      // When the bounces are lower than that.
      double v = e * std::sqrt(2 * 9.81 * 2);
      double rest = std::sqrt(2 * 2 / 9.81);
      while (0.5 * v * v > 9.81e-3) {
        rest += 2 * v / 9.81;
        v *= e;
      }
      EXPECT_NEAR(last, rest, h + 0.002) << "all rest after " << expected;
    }
  });
}

// The height after each of the first bounces is e^2 of the one before, and its time that of the parabola.
TEST(SimultaneousImpacts, BouncesFollowTheirParabolas)
{
  for_all_steps([](StepperKind stepper, double h) {
    constexpr double e = 0.8;
    WorldDesc desc = desc_without_sleep();
    desc.stepper = stepper;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {e, 0.3, 0, 0});
    add_plane(world);
    const auto ball = add(world, {model::Sphere{kRadius}}, {0, 0, 1 + kRadius});
    double hit = std::sqrt(2 / 9.81);
    double v = e * 9.81 * hit;
    double t = 0;
    for (int bounce = 0; bounce < 5; ++bounce) {
      const double next = hit + 2 * v / 9.81;
      for (; t + h < next; t += h) {
        world.step(h);
        const double since = t + h - hit;
        if (since <= 0) continue;
        EXPECT_NEAR(world.body(ball).X_wb.position.z() - kRadius, v * since - 0.5 * 9.81 * since * since,
                    1e-4);
        EXPECT_NEAR(world.body(ball).velocity.z(), v - 9.81 * since, 1e-3);
      }
      hit = next;
      v *= e;
    }
  });
}

}  // namespace
}  // namespace thrum::sim
