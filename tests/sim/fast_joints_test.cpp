// SPDX-License-Identifier: MIT
// Joints at speeds that they cannot follow: chains of two to four bodies of 1 cm to 1 m that fly at 1 to
// 1000 m/s in a closed room, at steps of 1/1000 to 1/30 s. What is predicted is that states stay finite, that
// no joint comes apart by more than the room is long, and that it does not get worse once bodies are slow.
//
// THRUM_ROOM_CASES=200 sets the number of cases of each test, THRUM_ROOM_SEED=1 other cases,
// THRUM_ROOM_CASE=5 runs one of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/sim/thrown_chain.h"
#include "thrum/base/random.h"

namespace thrum::sim {
namespace {

using testing::Chain;
using testing::kJointNames;
using testing::new_chain;
using testing::number_in;
using testing::Way;
using testing::way_name;

class FastJoints : public ::testing::TestWithParam<Way> {};

INSTANTIATE_TEST_SUITE_P(Ways, FastJoints,
                         ::testing::Values(Way{StepperKind::constraint, TimeOfImpactMethod::continuous},
                                           Way{StepperKind::impulse, TimeOfImpactMethod::continuous},
                                           Way{StepperKind::penalty, TimeOfImpactMethod::continuous},
                                           Way{StepperKind::flexible, TimeOfImpactMethod::continuous},
                                           Way{StepperKind::constraint, TimeOfImpactMethod::bisection},
                                           Way{StepperKind::constraint, TimeOfImpactMethod::conservative},
                                           Way{StepperKind::constraint, TimeOfImpactMethod::timewarp}),
                         way_name);

constexpr testing::LinkSpeeds kFlying{1, 1000, false};

void add_walls(World& world, const Vec3& half, double thickness)
{
  BodyDesc wall;
  wall.motion = model::Motion::fixed;
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-1.0, 1.0}) {
      Vec3 extent = half + Vec3::Constant(thickness);
      extent[axis] = 0.5 * thickness;
      wall.shape = world.add_shape({model::Box{extent}});
      wall.X_ws.position = side * (half[axis] + 0.5 * thickness) * Vec3::Unit(axis);
      world.add_body(wall);
    }
  }
}

Chain random_chain(const Way& way, base::Random& random)
{
  Chain chain = new_chain(way, random, 2, 4);
  const double s = chain.size;
  const Vec3 half(s * static_cast<double>(chain.count) * random.uniform(0.6, 2), s * random.uniform(0.6, 3),
                  s * random.uniform(0.6, 3));
  add_walls(*chain.world, half, s * random.uniform(0.1, 1));
  for (std::size_t i = 0; i < chain.count; ++i) {
    add_link(chain, place_in_row(chain, i), kFlying, random);
    if (i == 0) continue;
    const auto kind = static_cast<model::JointKind>(random.index(kJointNames.size()));
    add_joint_in_row(chain, kind, testing::any_turn(random));
  }
  return chain;
}

/// How far the joints are from what they hold, as a share of the size of a link; infinite when it is not a
/// number.
double joint_error(const Chain& chain)
{
  double most = 0;
  for (const model::JointDesc& joint : chain.joints) {
    const Pose a = chain.world->body(joint.a).X_wb * joint.X_aj;
    const Pose b = chain.world->body(joint.b).X_wb * joint.X_bj;
    Vec3 apart = a.direction_to_local(b.position - a.position);
    if (joint.kind == model::JointKind::slider) apart.z() = 0;
    if (!apart.allFinite()) return std::numeric_limits<double>::infinity();
    most = std::max(most, apart.norm() / chain.size);
  }
  return most;
}

TEST_P(FastJoints, StayFiniteAndBounded)
{
  constexpr int kSteps = 4;
  constexpr double kMaxApart = 16;  // four links in a room of up to twice their length each way [links]
  constexpr double kJoined = 0.02;  // [links]
  const std::uint64_t seed = number_in("THRUM_ROOM_SEED", 1616);
  const std::uint64_t cases = number_in("THRUM_ROOM_CASES", 10);
  const std::uint64_t only = number_in("THRUM_ROOM_CASE", cases);
  int failed = 0;
  int gained = 0;
  int apart = 0;
  double worst = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    if (only < cases && i != only) continue;
    base::Random random(seed, i);
    Chain chain = random_chain(GetParam(), random);
    const double start = chain.world->kinetic_energy();
    double gain = 0;
    double error = 0;
    for (int k = 0; k < kSteps; ++k) {
      chain.world->step(chain.h);
      error = std::max(error, joint_error(chain));
      const double now = chain.world->kinetic_energy() / start;
      gain = std::isfinite(now) ? std::max(gain, now) : std::numeric_limits<double>::infinity();
    }
    double rest = error;
    if (std::isfinite(error) && std::isfinite(gain)) {
      for (const model::BodyId body : chain.bodies)
        chain.world->set_velocity(body, Vec3::Zero(), Vec3::Zero());
      for (int k = 0; k < 60; ++k) chain.world->step(1.0 / 240);
      rest = joint_error(chain);
    }
    worst = std::max(worst, error);
    gained += gain > 1.05 ? 1 : 0;
    apart += rest > kJoined ? 1 : 0;
    if (std::isfinite(gain) && error <= kMaxApart && rest <= std::max(error, kJoined)) continue;
    if (++failed <= 5)
      ADD_FAILURE() << "case " << i << ": energy x " << gain << ", joints apart by " << error
                    << " links, at rest by " << rest << ": " << chain.text.str();
  }
  EXPECT_EQ(failed, 0) << "of " << cases << ", joints apart by up to " << worst << " links";
  RecordProperty("gained", gained);
  RecordProperty("apart_at_rest", apart);
}

}  // namespace
}  // namespace thrum::sim
