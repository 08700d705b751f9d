// SPDX-License-Identifier: MIT
// Large stacks with the impulse stepper at several steps. Small ones do not show what a level of the contact
// graph passes to the next.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

class ImpulseStacks : public ::testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static double step() { return 1.0 / GetParam(); }
  [[nodiscard]] static World make_world()
  {
    WorldDesc desc = desc_without_sleep();
    desc.stepper = StepperKind::impulse;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {0, 0.6, 0, 0});
    add_plane(world);
    return world;
  }
  // The largest way of a body in `seconds` [m].
  static double drift(World& world, double seconds)
  {
    const std::vector<model::BodyState> start = world.state().bodies;
    run(world, seconds, step());
    double largest = 0;
    for (std::size_t i = 0; i < start.size(); ++i)
      largest = std::max(largest, (world.state().bodies[i].X_wb.position - start[i].X_wb.position).norm());
    return largest;
  }
};
INSTANTIATE_TEST_SUITE_P(Steps, ImpulseStacks, ::testing::Values(25, 30, 60, 144, 333),
                         [](const auto& rate) { return "At" + std::to_string(rate.param); });

// Boxes are moved by up to `aside` along x and y, at random [m].
void add_pyramid(World& world, int rows, double aside)
{
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-aside, aside);
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < rows - row; ++i) {
      const double x = 1.1 * (i + 0.5 * row) + uniform(random);
      add_box(world, Vec3::Constant(0.5), {x, uniform(random), 0.5 + row}, 1000);
    }
  }
}

TEST_P(ImpulseStacks, APyramidOfTwoHundredBoxesStands)
{
  for (const double aside : {0.0, 0.02}) {
    World world = make_world();
    add_pyramid(world, 20, aside);
    EXPECT_LT(drift(world, 2), 3e-4) << "boxes moved aside by up to " << aside << " m";
  }
}

// Running bond with half bricks at the ends of every other row, so that none hangs over.
TEST_P(ImpulseStacks, AWallOfAThousandBricksStands)
{
  constexpr int kColumns = 40;
  constexpr double kPitch = 0.41;
  World world = make_world();
  for (int row = 0; row < 25; ++row) {
    const bool is_shifted = row % 2 == 1;
    const double z = 0.1 + 0.2 * row;
    for (int i = 0; i < (is_shifted ? kColumns - 1 : kColumns); ++i)
      add_box(world, {0.2, 0.1, 0.1}, {kPitch * (i + (is_shifted ? 0.5 : 0.0)), 0, z}, 16);
    if (!is_shifted) continue;
    for (const double x : {-0.25 * kPitch, (kColumns - 0.75) * kPitch})
      add_box(world, {0.0975, 0.1, 0.1}, {x, 0, z}, 8);
  }
  EXPECT_LT(drift(world, 1), 5e-4);
}

}  // namespace
}  // namespace thrum::sim
