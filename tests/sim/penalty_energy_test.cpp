// SPDX-License-Identifier: MIT
// Springs of the penalty stepper whose stiffness changes between slices hold no more energy than they held.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tests/sim/parameter_names.h"
#include "tests/sim/random_cases.h"
#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

/// Rounding of sums of energy, as a share of the energy of motion.
constexpr double kRounding = 1e-9;

double total_energy(const World& world)
{
  return world.kinetic_energy() + world.potential_energy() + world.contact_energy();
}

WorldDesc penalty_desc()
{
  WorldDesc desc = desc_without_sleep();
  desc.stepper = StepperKind::penalty;
  desc.gravity.setZero();
  desc.penalty.damping_ratio = 0;
  desc.penalty.friction_damping_ratio = 0;
  return desc;
}

struct PressedBox {
  World world;
  model::BodyId box;

  explicit PressedBox(const WorldDesc& desc) : world(desc)
  {
    world.set_surface(model::kDefaultSurface, {1, 10, 0, 0});
    add_plane(world);
    box = add_box(world, {0.2, 0.2, 0.1}, {0, 0, 0.1}, 2);
    world.set_velocity(box, {0.1, 0, -1}, Vec3::Zero());
  }
};

// The same state goes on with springs of a ninth of the stiffness, along the normal and across it. The box
// is moved in where it was found deeper than its springs were pressed: with their forces, these would hold
// nine times what they held.
TEST(PenaltyEnergy, SpringsThatBecomeSofterHoldNoMore)
{
  constexpr double kMoveIn = 0.05;
  constexpr double kSofter = 9;
  WorldDesc desc = penalty_desc();
  desc.penalty.stiffness = 1e4;
  WorldDesc soft_normal = desc;
  soft_normal.penalty.stiffness = *desc.penalty.stiffness / kSofter;
  soft_normal.penalty.friction_stiffness *= kSofter;
  WorldDesc soft_friction = desc;
  soft_friction.penalty.friction_stiffness /= kSofter;
  // Four springs of 10 kN/m under 2 kg are pressed most after 11 ms, then they push the box away again.
  for (const double seconds : {0.004, 0.010, 0.016}) {
    for (const bool is_normal : {true, false}) {
      PressedBox stiff(desc);
      for (int i = 0; i < 10; ++i) stiff.world.step(0.1 * seconds);
      const double before = total_energy(stiff.world);
      ASSERT_GT(stiff.world.contact_energy(), 0.1 * before);
      model::SceneState state = stiff.world.save();
      state.bodies.back().X_wb.position.z() -= kMoveIn;
      PressedBox soft(is_normal ? soft_normal : soft_friction);
      soft.world.restore(state);
      double most = 0;
      for (int i = 0; i < 100; ++i) {
        soft.world.step(0.002);
        most = std::max(most, total_energy(soft.world));
      }
      EXPECT_LE(most, before * (1 + kRounding)) << seconds << " s, along the normal: " << is_normal;
    }
  }
}

// Bodies that turn while they bounce off a wall, so that the default stiffness changes from slice to slice:
// what springs give back they have taken. Seeds that were not used when this was written: THRUM_SPRING_SEED.
TEST(PenaltyEnergy, BodiesThatTurnOnTheirSpringsGainNothing)
{
  const std::uint64_t seed = number_in("THRUM_SPRING_SEED", 93);
  const std::uint64_t cases = number_in("THRUM_SPRING_CASES", 300);
  int gained = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    base::Random random(seed, i);
    WorldDesc desc = penalty_desc();
    desc.penalty.damping_ratio.reset();
    desc.penalty.friction_damping_ratio = 1;
    World world(desc);
    world.set_surface(model::kDefaultSurface,
                      {random.uniform(0.8, 1), random.chance(0.3) ? 0 : random.uniform(), 0, 0});
    add_plane(world);
    const double size = spread(random, 0.01, 0.3);
    const double speed = spread(random, 2, 50);
    const double h = 1 / spread(random, 30, 1000);
    const model::Shape shape = one_of_four(
        static_cast<int>(random.index(4)), model::Box{size * Vec3(0.5, 0.1, 0.1)}, model::Sphere{0.5 * size},
        model::Capsule{0.15 * size, 0.35 * size}, model::Cylinder{0.2 * size, 0.5 * size});
    const Quat turned = Quat(random.normal(), random.normal(), random.normal(), random.normal()).normalized();
    const double gap = random.uniform() * h * speed;
    const model::BodyId body =
        add(world, shape, {0, 0, 0.62 * size + gap}, spread(random, 0.01, 100), turned);
    world.set_velocity(body, {random.uniform(-1, 1) * speed, random.uniform(-1, 1) * speed, -speed},
                       2 * spread(random, 0.1, 2) * speed / size * any_direction(random));
    const double start = total_energy(world);
    double most = start;
    for (int k = 0; k < 20; ++k) {
      world.step(h);
      most = std::max(most, total_energy(world));
    }
    if (most <= start * (1 + kRounding)) continue;
    if (++gained <= 5)
      ADD_FAILURE() << "case " << i << ": gained " << most / start - 1 << " of its energy, size " << size
                    << " m, " << speed << " m/s, h 1/" << 1 / h;
  }
  EXPECT_EQ(gained, 0) << "of " << cases;
}

struct NeedleCase {
  double size;     ///< [m]
  double width;    ///< share of the size
  double speed;    ///< [m/s]
  double step;     ///< [s]
  double turn;     ///< in a step [rad]
  double way;      ///< to the plate, share of that of a step
  double sideway;  ///< share of the speed
};

/// Needles and plates so fast that they answer friction otherwise in each substep.
NeedleCase any_needle(base::Random& random)
{
  NeedleCase needle{};
  needle.size = spread(random, 0.01, 0.3);
  needle.width = spread(random, 0.008, 0.1);
  needle.speed = spread(random, 20, 1000);
  needle.step = 1 / spread(random, 30, 240);
  needle.turn = spread(random, 0.05, 100);
  needle.way = random.uniform();
  needle.sideway = random.uniform(-1, 1);
  return needle;
}

// The largest energy of a needle thrown at a plate that does not move, as a share of that which it had.
double energy_of_thrown_needle(const NeedleCase& needle, TimeOfImpactMethod method, base::Random& random)
{
  WorldDesc desc = penalty_desc();
  desc.penalty.damping_ratio.reset();
  desc.penalty.friction_damping_ratio = 1;
  desc.time_of_impact = method;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {1, 2, 0, 0});
  const double wide = 10 * needle.speed * needle.step + needle.size;
  BodyDesc plate;
  plate.shape = world.add_shape({model::Box{{wide, wide, 0.02}}});
  plate.motion = model::Motion::fixed;
  plate.X_ws.position = {0, 0, -0.02};
  world.add_body(plate);
  const double half = 0.5 * needle.size;
  const double thin = half * needle.width;
  const std::array<model::Shape, 4> shapes{{{model::Box{{half, thin, thin}}},
                                            {model::Box{{half, half, thin}}},
                                            {model::Cylinder{thin, half}},
                                            {model::Capsule{thin, half - thin}}}};
  const model::Shape& shape = shapes[random.index(4)];
  const Quat turned = Quat(random.normal(), random.normal(), random.normal(), random.normal()).normalized();
  const double height = 0.8 * needle.size + needle.way * needle.speed * needle.step;
  const model::BodyId body = add(world, shape, {0, 0, height}, spread(random, 0.01, 100), turned);
  world.set_velocity(body, {needle.sideway * needle.speed, 0, -needle.speed},
                     needle.turn / needle.step * any_direction(random));
  const double start = total_energy(world);
  double most = start;
  for (int k = 0; k < 4; ++k) {
    world.step(needle.step);
    const double energy = total_energy(world);
    most = std::isfinite(energy) ? std::max(most, energy) : std::numeric_limits<double>::infinity();
  }
  return most / start;
}

// A needle that lands on its end is turned by the friction there, and answers it up to 1e4 times as much
// while it does. What springs and friction give back they have taken, however far it turns in a substep.
TEST(PenaltyEnergy, NeedlesThatFrictionTurnsGainNothing)
{
  const std::uint64_t seed = number_in("THRUM_SPRING_SEED", 94);
  const std::uint64_t cases = number_in("THRUM_NEEDLE_CASES", 300);
  for (const TimeOfImpactMethod method : {TimeOfImpactMethod::continuous, TimeOfImpactMethod::bisection,
                                          TimeOfImpactMethod::conservative, TimeOfImpactMethod::timewarp}) {
    int gained = 0;
    for (std::uint64_t i = 0; i < cases; ++i) {
      base::Random random(seed, i);
      const NeedleCase needle = any_needle(random);
      const double share = energy_of_thrown_needle(needle, method, random);
      if (share <= 1 + kRounding) continue;
      if (++gained <= 3)
        ADD_FAILURE() << method_name(method) << ", case " << i << ": " << share << " times its energy, size "
                      << needle.size << " m, " << needle.speed << " m/s, h 1/" << 1 / needle.step;
    }
    EXPECT_EQ(gained, 0) << "of " << cases << ", " << method_name(method);
  }
}

}  // namespace
}  // namespace thrum::sim
