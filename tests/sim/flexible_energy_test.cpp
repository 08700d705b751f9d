// SPDX-License-Identifier: MIT
// What bodies, modes and contacts have together never grows: random worlds of bodies close to each other on a
// plate that rings, without and with joints.
//
//   THRUM_FLEXIBLE_CASES=1000 THRUM_FLEXIBLE_SEED=7 tests/sim/test_sim --gtest_filter='FlexibleEnergy*'
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/sim/random_cases.h"
#include "tests/sim/world_fixture.h"
#include "tests/vibration/plate_model.h"
#include "thrum/flexible/elastic_body.h"
#include "thrum/flexible/flexible_report.h"

namespace thrum::sim {
namespace {

using namespace testing;

double total_energy(const World& world)
{
  return world.kinetic_energy() + world.potential_energy() + world.contact_energy() +
         world.vibration_energy();
}

struct Case {
  World world;
  double h = 0;
};

/// Up to five bodies of any kind, whose spheres are apart by up to a centimetre, above a plate or on it.
Case random_case(std::uint64_t seed)
{
  base::Random random(seed);
  WorldDesc desc;
  desc.stepper = StepperKind::flexible;
  desc.flexible.adapt_modes = random.chance(0.5);
  Case made{World(desc), 1 / spread(random, 30, 1000)};
  World& world = made.world;
  world.set_surface(model::kDefaultSurface,
                    {.restitution = random.uniform(0, 1), .friction = random.uniform(0, 1)});
  const vibration::PlateSize size{.h = spread(random, 0.003, 0.05),
                                  .modes = 10 + static_cast<int>(random.uniform(0, 40))};
  const model::BodyId ground = add_plane(world);
  world.set_elastic(ground, {size.young / (1 - size.poisson * size.poisson), vibration::plate_model(size)});
  const int count = 2 + static_cast<int>(random.uniform(0, 4));
  Vec3 place(random.uniform(0.4, 0.9), random.uniform(0.3, 0.6), 0);
  double last = 0;
  for (int i = 0; i < count; ++i) {
    const double r = random.uniform(0.03, 0.08);
    const model::Shape shape =
        one_of_four(static_cast<int>(random.uniform(0, 4)),
                    {r * Vec3(random.uniform(0.2, 1), random.uniform(0.2, 1), random.uniform(0.2, 1)) / 1.74},
                    {r}, {0.5 * r, 0.5 * r}, {0.7 * r, 0.7 * r});
    // Each close to the one before, beside it or above.
    if (i == 0) {
      place.z() = r + random.uniform(0, 0.05);
    } else {
      Vec3 away = any_direction(random);
      away.z() = std::abs(away.z());
      place += (last + r + random.uniform(0, 0.01)) * away;
    }
    last = r;
    const model::BodyId body = add(world, shape, place, spread(random, 0.05, 5),
                                   Quat(Eigen::AngleAxisd(random.uniform(0, 3), any_direction(random))));
    world.set_velocity(body, random.uniform(0, 2) * any_direction(random),
                       random.uniform(0, 10) * any_direction(random));
  }
  return made;
}

// Joints of any kind between bodies that follow each other, at a place between them.
void add_joints(Case& made, std::uint64_t seed)
{
  base::Random random(seed, 1);
  World& world = made.world;
  const std::vector<model::BodyId> bodies = world.bodies();  // the first is the plate
  for (std::size_t i = 2; i < bodies.size(); ++i) {
    if (i > 2 && random.chance(0.25)) continue;
    model::JointDesc joint;
    joint.kind = static_cast<model::JointKind>(random.index(5));
    joint.a = bodies[i - 1];
    joint.b = bodies[i];
    const Pose& X_wa = world.body(joint.a).X_wb;
    const Pose& X_wb = world.body(joint.b).X_wb;
    const bool is_rod = joint.kind == model::JointKind::distance;
    const Pose X_wj = {0.5 * (X_wa.position + X_wb.position),
                       Quat(Eigen::AngleAxisd(random.uniform(0, 3), any_direction(random)))};
    joint.X_aj = is_rod ? Pose{} : X_wa.inverse() * X_wj;
    joint.X_bj = is_rod ? Pose{} : X_wb.inverse() * X_wj;
    if (is_rod) joint.length = (X_wb.position - X_wa.position).norm();
    joint.collide_connected = random.chance(0.5);
    world.add_joint(joint);
  }
}

/// Joints become springs where their bodies begin to touch, which brings up to 2e-8 of the energy in 60 of
/// these.
constexpr double kMaxJointGain = 1e-7;

void expect_no_growth(bool with_joints)
{
  const double allowed = with_joints ? kMaxJointGain : 1e-8;
  const std::uint64_t cases = number_in("THRUM_FLEXIBLE_CASES", 60);
  const std::uint64_t seed = number_in("THRUM_FLEXIBLE_SEED", 1);
  double most = 0;
  int grew = 0;
  for (std::uint64_t k = 0; k < cases; ++k) {
    Case made = random_case(1000003 * seed + k);
    if (with_joints) add_joints(made, 1000003 * seed + k);
    const double start = total_energy(made.world);
    double before = start;
    double gain = 0;
    for (int i = 0; i < static_cast<int>(std::lround(0.6 / made.h)); ++i) {
      made.world.step(made.h);
      const double now = total_energy(made.world);
      gain = std::max(gain, (now - before) / start);
      before = now;
    }
    EXPECT_LT(gain, allowed) << "seed " << 1000003 * seed + k << ", h " << made.h;
    most = std::max(most, gain);
    grew += gain > allowed ? 1 : 0;
  }
  ::testing::Test::RecordProperty("grew", grew);
  if (grew > 0)
    std::printf("energy grew in %d of %d worlds, by at most %.2g in a step\n", grew, static_cast<int>(cases),
                most);
}

TEST(FlexibleEnergy, NeverGrowsWhereBodiesAreClose)
{
  expect_no_growth(false);
}

TEST(FlexibleEnergy, NeverGrowsWhereBodiesAreJoined)
{
  expect_no_growth(true);
}

}  // namespace
}  // namespace thrum::sim
