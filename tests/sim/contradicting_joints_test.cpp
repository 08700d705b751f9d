// SPDX-License-Identifier: MIT
// Chains whose links start at velocities that their joints contradict: two to six links of 1 cm to 1 m, each
// with a velocity of its own of 100 to 900 m/s, thrown at a wall at steps of 1/1000 to 1/30 s. Joints and
// contacts that nothing drives do no work on the whole, and what contradicts them is lost as in an inelastic
// impact: without gravity the energy never grows.
//
// THRUM_CHAIN_CASES=200 sets the number of chains of each test, THRUM_CHAIN_SEED=1 other ones,
// THRUM_CHAIN_CASE=5 runs one of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <tuple>
#include <vector>

#include "tests/sim/thrown_chain.h"
#include "thrum/base/random.h"

namespace thrum::sim {
namespace {

using testing::any_direction;
using testing::any_turn;
using testing::Chain;
using testing::kJointNames;
using testing::kThrown;
using testing::new_chain;
using testing::number_in;
using testing::spread;
using testing::Way;
using testing::way_name;

class ContradictingJoints : public ::testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(
    Ways, ContradictingJoints,
    ::testing::Combine(::testing::Values(StepperKind::constraint, StepperKind::impulse, StepperKind::penalty,
                                         StepperKind::flexible),
                       ::testing::Values(TimeOfImpactMethod::none, TimeOfImpactMethod::continuous,
                                         TimeOfImpactMethod::bisection, TimeOfImpactMethod::conservative,
                                         TimeOfImpactMethod::timewarp)),
    way_name);

Chain thrown_chain(const Way& way, base::Random& random)
{
  Chain chain = new_chain(way, random, 2, 6);
  add_wall_below(chain, random);
  for (std::size_t i = 0; i < chain.count; ++i) {
    add_link(chain, place_in_row(chain, i), kThrown, random);
    if (i == 0) continue;
    const auto kind = static_cast<model::JointKind>(random.index(kJointNames.size()));
    const Quat turn = any_turn(random);
    add_joint_in_row(chain, kind, turn, kind == model::JointKind::distance && random.chance(0.5));
  }
  return chain;
}

TEST_P(ContradictingJoints, NeverGainEnergy)
{
  constexpr int kSteps = 20;
  constexpr double kMaxGain = 1.01;
  const std::uint64_t seed = number_in("THRUM_CHAIN_SEED", 16);
  const std::uint64_t cases = number_in("THRUM_CHAIN_CASES", 10);
  const std::uint64_t only = number_in("THRUM_CHAIN_CASE", cases);
  int failed = 0;
  int regained = 0;
  double worst = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    if (only < cases && i != only) continue;
    base::Random random(seed, i);
    Chain chain = thrown_chain(GetParam(), random);
    const testing::EnergyGain gain = step_and_find_gain(chain, kSteps);
    worst = std::max(worst, gain.most);
    regained += gain.after_loss > 1.05 ? 1 : 0;
    if (gain.most <= kMaxGain) continue;
    if (++failed <= 5)
      ADD_FAILURE() << "case " << i << ": energy x " << gain.most << ", after a loss x " << gain.after_loss
                    << ": " << chain.text.str();
  }
  EXPECT_EQ(failed, 0) << "of " << cases << " chains, energy up to x " << worst;
  RecordProperty("regained", regained);
}

// Boxes over a ground, some of them joined far from where their joints hold them, others between them. What
// brings them together moves them without giving speed, and so does what parts the bodies that it moves into
// each other. So they are not faster than falling makes them; the tip of a link that a heavier one swings can
// be some times as fast.
TEST_P(ContradictingJoints, FarApartAreNotThrown)
{
  constexpr int kSteps = 24;
  constexpr double kStep = 1.0 / 60;
  constexpr double kHeight = 2.5;  // of the highest box [m]
  const double max_speed = 3 * std::sqrt(2 * 9.81 * kHeight);
  const std::uint64_t seed = number_in("THRUM_CHAIN_SEED", 17);
  const std::uint64_t cases =
      number_in("THRUM_CHAIN_CASES", std::get<0>(GetParam()) == StepperKind::penalty ? 1 : 4);
  const std::uint64_t only = number_in("THRUM_CHAIN_CASE", cases);
  int failed = 0;
  double worst = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    if (only < cases && i != only) continue;
    base::Random random(seed, i);
    WorldDesc desc = testing::desc_without_sleep();
    std::tie(desc.stepper, desc.time_of_impact) = GetParam();
    World world(desc);
    testing::add_plane(world);
    std::vector<model::BodyId> bodies;
    for (int k = 0; k < 9; ++k) {
      const Vec3 half = 0.1 * Vec3(random.uniform(0.5, 2), random.uniform(0.5, 2), random.uniform(0.5, 2));
      const Quat turn = any_turn(random);
      const Vec3 place(0.7 * (k % 3), random.uniform(-0.3, 0.3), 0.5 + 0.8 * (k / 3));
      bodies.push_back(testing::add_box(world, half, place, spread(random, 0.3, 3), turn));
    }
    std::ostringstream text;
    for (int k = 0; k < 4; ++k) {
      model::JointDesc joint;
      const std::size_t kind = random.index(kJointNames.size());
      joint.kind = static_cast<model::JointKind>(kind);
      joint.a = bodies[static_cast<std::size_t>(k)];
      joint.b = bodies[static_cast<std::size_t>(k) + 1 + random.index(4)];
      const Quat turn = any_turn(random);
      joint.X_aj = {0.3 * any_direction(random), turn};
      joint.X_bj = {0.3 * any_direction(random), Quat::Identity()};
      world.add_joint(joint);
      text << kJointNames[kind] << ' ';
    }
    double speed = 0;
    for (int k = 0; k < kSteps && std::isfinite(speed); ++k) {
      world.step(kStep);
      for (const model::BodyId body : bodies) {
        const model::BodyState& now = world.body(body);
        const double tip = now.velocity.norm() + 0.2 * now.angular_velocity.norm();
        speed = std::isfinite(tip) ? std::max(speed, tip) : std::numeric_limits<double>::infinity();
      }
    }
    worst = std::max(worst, speed);
    if (speed <= max_speed) continue;
    if (++failed <= 5) ADD_FAILURE() << "case " << i << ": " << speed << " m/s: " << text.str();
  }
  EXPECT_EQ(failed, 0) << "of " << cases << ", up to " << worst << " m/s";
}

}  // namespace
}  // namespace thrum::sim
