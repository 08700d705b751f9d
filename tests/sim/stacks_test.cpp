// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

double drift_of_tower(const WorldDesc& desc, int count, double top_mass, double seconds)
{
  World world(desc);
  add_plane(world);
  std::vector<model::BodyId> boxes;
  for (int i = 0; i < count; ++i) {
    boxes.push_back(add_box(world, Vec3::Constant(0.5), {0, 0, 0.5 + i}, i + 1 == count ? top_mass : 1.0));
  }
  run(world, seconds);
  double drift = 0;
  for (int i = 0; i < count; ++i) {
    drift = std::max(
        drift, (world.body(boxes[static_cast<std::size_t>(i)]).X_wb.position - Vec3(0, 0, 0.5 + i)).norm());
  }
  return drift;
}

TEST(Stack, ATowerOfTwentyStands)
{
  EXPECT_LT(drift_of_tower(desc_without_sleep(), 20, 1, 3), 0.001);
}

TEST(Stack, AThousandKilogramsStandOnTenBoxesOfOne)
{
  EXPECT_LT(drift_of_tower(desc_without_sleep(), 11, 1000, 3), 0.001);
}

// The effect of shock propagation: without it the same tower of heavy on light does not hold.
TEST(Stack, WithoutShockPropagationHeavyOnLightSinks)
{
  WorldDesc desc = desc_without_sleep();
  desc.constraint.order = rigid::SweepOrder::unsorted;
  EXPECT_GT(drift_of_tower(desc, 11, 1000, 2), 0.02);
}

TEST(Stack, ABoxConeAndBothFrictionBoundsHoldASmallPile)
{
  for (const auto cone : {rigid::FrictionCone::cone, rigid::FrictionCone::box}) {
    WorldDesc desc = desc_without_sleep();
    desc.constraint.friction = cone;
    EXPECT_LT(drift_of_tower(desc, 5, 1, 1), 0.001);
  }
}

TEST(Stack, APileAtRestFallsAsleepAndWakesWhenStruck)
{
  World world;
  add_plane(world);
  const model::BodyId low = add_box(world, Vec3::Constant(0.5), {0, 0, 0.5});
  const model::BodyId high = add_box(world, Vec3::Constant(0.5), {0, 0, 1.5});
  run(world, 1.5);
  EXPECT_TRUE(world.body(low).asleep);
  EXPECT_TRUE(world.body(high).asleep);
  const model::BodyId ball = add(world, {model::Sphere{0.2}}, {0, 0, 2.5});
  world.set_velocity(ball, {0, 0, -2}, Vec3::Zero());
  run(world, 0.5);
  EXPECT_FALSE(world.body(high).asleep);
  EXPECT_FALSE(world.body(low).asleep);
}

}  // namespace
}  // namespace thrum::sim
