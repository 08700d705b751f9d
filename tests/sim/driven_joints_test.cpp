// SPDX-License-Identifier: MIT
// Joints that brake, that have limits, that close a ring or whose bodies may touch each other, at speeds that
// they contradict: two to six links of 1 cm to 1 m, each with a velocity of its own of 100 to 900 m/s, thrown
// at a wall at steps of 1/1000 to 1/30 s. A brake (a motor with the speed 0), a limit and a contact do no
// work on the whole: without gravity the energy never grows.
//
// THRUM_CHAIN_CASES=200 sets the number of chains of each test, THRUM_CHAIN_CASE=5 the first of them,
// THRUM_CHAIN_SEED=1 other ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <vector>

#include "tests/sim/thrown_chain.h"
#include "thrum/base/random.h"

namespace thrum::sim {
namespace {

using testing::any_turn;
using testing::Chain;
using testing::kJointNames;
using testing::kThrown;
using testing::new_chain;
using testing::number_in;
using testing::spread;
using testing::Way;
using testing::way_name;

enum class ChainKind : std::uint8_t { braked, limited, ring, touching };

class DrivenJoints : public ::testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(
    Ways, DrivenJoints,
    ::testing::Combine(::testing::Values(StepperKind::constraint, StepperKind::impulse, StepperKind::penalty,
                                         StepperKind::flexible),
                       ::testing::Values(TimeOfImpactMethod::none, TimeOfImpactMethod::continuous,
                                         TimeOfImpactMethod::bisection, TimeOfImpactMethod::conservative,
                                         TimeOfImpactMethod::timewarp)),
    way_name);

model::JointKind any_kind(ChainKind chain, base::Random& random)
{
  using model::JointKind;
  if (chain == ChainKind::braked) return random.chance(0.5) ? JointKind::hinge : JointKind::slider;
  if (chain == ChainKind::limited)
    return std::array{JointKind::hinge, JointKind::slider, JointKind::distance}[random.index(3)];
  return static_cast<JointKind>(random.index(kJointNames.size()));
}

// Limits that the bodies keep as they stand.
void set_limits(model::JointDesc& joint, double s, base::Random& random)
{
  joint.limited = true;
  const double range = joint.kind == model::JointKind::hinge ? random.uniform(0, 2) : random.uniform(0, s);
  joint.limits = {-random.uniform() * range, random.uniform() * range};
  if (joint.kind == model::JointKind::distance)
    joint.limits = {random.uniform(0, 1) * joint.length, random.uniform(1, 2) * joint.length};
}

void add_joint_between(Chain& chain, ChainKind kind, std::size_t i, std::size_t k, base::Random& random)
{
  World& world = *chain.world;
  const double s = chain.size;
  model::JointDesc joint;
  joint.kind = any_kind(kind, random);
  joint.a = chain.bodies[i];
  joint.b = chain.bodies[k];
  const Pose& X_wa = world.body(joint.a).X_wb;
  const Pose& X_wb = world.body(joint.b).X_wb;
  const bool is_rod = joint.kind == model::JointKind::distance;
  const Pose X_wj = {0.5 * (X_wa.position + X_wb.position), any_turn(random)};
  joint.X_aj = is_rod ? Pose{} : X_wa.inverse() * X_wj;
  joint.X_bj = is_rod ? Pose{} : X_wb.inverse() * X_wj;
  if (is_rod) joint.length = (X_wb.position - X_wa.position).norm();
  if (kind == ChainKind::limited) set_limits(joint, s, random);
  if (kind == ChainKind::braked) {
    joint.motor.enabled = true;
    joint.motor.max_force = spread(random, 1e-2, 1e8);
  }
  joint.collide_connected = kind == ChainKind::touching;
  world.add_joint(joint);
  chain.text << ", " << kJointNames[static_cast<std::size_t>(joint.kind)];
  if (joint.motor.enabled) chain.text << " (" << joint.motor.max_force << ")";
}

// In a row, or round a circle.
Vec3 place_of(const Chain& chain, ChainKind kind, std::size_t i)
{
  if (kind != ChainKind::ring) return place_in_row(chain, i);
  const auto n = static_cast<double>(chain.count);
  const double angle = 2 * std::numbers::pi * static_cast<double>(i) / n;
  const double radius = 0.5 * chain.size / std::sin(std::numbers::pi / n);
  return radius * Vec3(std::cos(angle), 0, std::sin(angle));
}

Chain thrown_chain(const Way& way, ChainKind kind, base::Random& random)
{
  Chain chain = new_chain(way, random, kind == ChainKind::ring ? 3 : 2, 6);
  add_wall_below(chain, random);
  for (std::size_t i = 0; i < chain.count; ++i) {
    add_link(chain, place_of(chain, kind, i), kThrown, random);
    if (i > 0) add_joint_between(chain, kind, i - 1, i, random);
  }
  if (kind == ChainKind::ring) add_joint_between(chain, kind, chain.count - 1, 0, random);
  return chain;
}

// Chains that got up to 1e18 times their energy with one of the steppers.
std::vector<std::uint64_t> usual_cases(ChainKind kind)
{
  switch (kind) {
    case ChainKind::braked:
      return {6, 21, 22};
    case ChainKind::limited:
      return {21, 22, 40};
    case ChainKind::ring:
      return {0, 20, 21};
    case ChainKind::touching:
      break;
  }
  return {21, 22, 23};
}

std::vector<std::uint64_t> cases_of(ChainKind kind)
{
  std::vector<std::uint64_t> cases = usual_cases(kind);
  if (std::getenv("THRUM_CHAIN_CASES") == nullptr && std::getenv("THRUM_CHAIN_SEED") == nullptr) return cases;
  cases.resize(number_in("THRUM_CHAIN_CASES", cases.size()));
  std::iota(cases.begin(), cases.end(), number_in("THRUM_CHAIN_CASE", 0));
  return cases;
}

void expect_no_gain(const Way& way, ChainKind kind)
{
  constexpr int kSteps = 20;
  constexpr double kMaxGain = 1.01;
  const std::uint64_t seed = number_in("THRUM_CHAIN_SEED", 160);
  const std::vector<std::uint64_t> cases = cases_of(kind);
  int failed = 0;
  double worst = 0;
  for (const std::uint64_t i : cases) {
    base::Random random(seed, i);
    Chain chain = thrown_chain(way, kind, random);
    const testing::EnergyGain gain = step_and_find_gain(chain, kSteps);
    worst = std::max(worst, gain.most);
    if (gain.most <= kMaxGain) continue;
    if (++failed <= 5)
      ADD_FAILURE() << "case " << i << ": energy x " << gain.most << " in step " << gain.step << ": "
                    << chain.text.str();
  }
  EXPECT_EQ(failed, 0) << "of " << cases.size() << " chains, energy up to x " << worst;
}

TEST_P(DrivenJoints, BrakesGiveNoEnergy)
{
  expect_no_gain(GetParam(), ChainKind::braked);
}

TEST_P(DrivenJoints, LimitsGiveNoEnergy)
{
  expect_no_gain(GetParam(), ChainKind::limited);
}

TEST_P(DrivenJoints, RingsGainNoEnergy)
{
  expect_no_gain(GetParam(), ChainKind::ring);
}

TEST_P(DrivenJoints, LinksThatTouchGainNoEnergy)
{
  expect_no_gain(GetParam(), ChainKind::touching);
}

}  // namespace
}  // namespace thrum::sim
