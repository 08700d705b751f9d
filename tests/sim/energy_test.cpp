// SPDX-License-Identifier: MIT
// The energy of closed scenes without motors never grows: random piles, all steppers, restitution from 0
// to 1.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

/// What a step may add, as a share of the energy that the pile begins with: height that bodies at rest lost
/// by sinking in and that pushing the overlap out gives back.
constexpr double kGivenBack = 1e-4;
/// What all steps together may add above the lowest that the energy has been.
constexpr double kGivenBackInAll = 2e-4;

// Boxes, balls, capsules and cylinders of different sizes that fall onto a plane and each other.
void build_pile(World& world, unsigned seed)
{
  add_plane(world);
  std::mt19937 random(seed);
  const auto part = [&] {
    return static_cast<double>(random()) / 4294967296.0;
  };
  constexpr int kBodies = 12;
  for (int i = 0; i < kBodies; ++i) {
    Vec4 q;
    for (int k = 0; k < 4; ++k) q[k] = part() - 0.5;
    Vec3 size;
    for (int k = 0; k < 3; ++k) size[k] = 0.2 + 0.2 * part();
    const double x = part();
    const double y = part();
    add(world, one_of_four(i, {size}, {size.x()}, {0.15, size.x()}, {0.2, size.x()}), {x, y, 1.0 + i},
        0.5 + part(), Quat(q[0], q[1], q[2], q[3]).normalized());
  }
}

using Case = std::tuple<StepperKind, double, double>;  ///< stepper, restitution, friction

class EnergyOfPiles : public ::testing::TestWithParam<Case> {};

TEST_P(EnergyOfPiles, NeverGrows)
{
  const auto [stepper, restitution, friction] = GetParam();
  // The penalty stepper takes some fifty substeps where the others take one.
  const unsigned seeds = stepper == StepperKind::penalty ? 1 : 3;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    WorldDesc desc = desc_without_sleep();
    desc.stepper = stepper;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {restitution, friction, 0, 0});
    build_pile(world, seed);
    const double start = world.kinetic_energy() + world.potential_energy();
    double last = start;
    double lowest = start;
    for (int i = 0; i < 240; ++i) {
      world.step(kStep);
      const double now = world.kinetic_energy() + world.potential_energy() + world.contact_energy();
      ASSERT_LE(now, last + kGivenBack * start) << "seed " << seed << " step " << i;
      ASSERT_LE(now, lowest + kGivenBackInAll * start) << "seed " << seed << " step " << i;
      last = now;
      lowest = std::min(lowest, now);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EnergyOfPiles,
                         ::testing::Combine(::testing::Values(StepperKind::constraint, StepperKind::impulse,
                                                              StepperKind::penalty, StepperKind::flexible),
                                            ::testing::Values(0.0, 0.25, 0.5, 0.75, 1.0),
                                            ::testing::Values(0.0, 0.5)));

}  // namespace
}  // namespace thrum::sim
