// SPDX-License-Identifier: MIT
#include "thrum/rigid/support_graph.h"

#include <gtest/gtest.h>

#include "tests/rigid/pile.h"

namespace thrum::rigid {
namespace {

using namespace testing;

std::vector<std::int32_t> levels_of(const Pile& pile)
{
  return build_support_graph(pile.model, pile.state, kStep).level;
}

TEST(SupportGraph, LevelIsTheLongestPathToTheGround)
{
  // A plank (4) on a stack of two (1, 2) and on a single box (3).
  Pile pile(4);
  pile.touch(0, 1);
  pile.touch(0, 3);
  pile.touch(1, 2);
  pile.touch(2, 4);
  pile.touch(3, 4);
  EXPECT_EQ(levels_of(pile), (std::vector<std::int32_t>{0, 1, 2, 1, 3}));
}

TEST(SupportGraph, CollapsesACycleIntoOneLevel)
{
  // 2 and 3 hang in each other like links of a chain, on 1 and under 4.
  Pile pile(4);
  pile.touch(0, 1);
  pile.touch(1, 2);
  pile.touch(2, 3, Vec3::UnitZ());
  pile.touch(2, 3, -Vec3::UnitZ());
  pile.touch(3, 4);
  EXPECT_EQ(levels_of(pile), (std::vector<std::int32_t>{0, 1, 2, 2, 3}));
}

TEST(SupportGraph, IgnoresLateralAndDistantContacts)
{
  Pile pile(3);
  pile.touch(0, 1);
  pile.touch(1, 2, Vec3::UnitX());
  pile.touch(1, 3, Vec3::UnitZ(), -0.1);  // a gap of 0.1 m does not close in a step
  EXPECT_EQ(levels_of(pile), (std::vector<std::int32_t>{0, 1, 1, 1}));
}

// Moved with its velocity, a body is above what it runs into from the side.
TEST(SupportGraph, PredictedLevelsFollowTheVelocity)
{
  Pile pile(2);
  pile.touch(0, 1);
  pile.touch(0, 2);
  pile.touch(1, 2, Vec3::UnitX(), -0.01);
  const auto levels = [&] {
    return build_support_graph(pile.model, pile.state, kStep, ContactLevels::predicted).level;
  };
  EXPECT_EQ(levels(), (std::vector<std::int32_t>{0, 1, 1}));
  pile.state.bodies[2].velocity = {-1, 0, 0};  // 17 mm in a step
  EXPECT_EQ(levels(), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(levels_of(pile), (std::vector<std::int32_t>{0, 1, 1}));
  // Both against each other: one group.
  pile.state.bodies[1].velocity = {1, 0, 0};
  EXPECT_EQ(levels(), (std::vector<std::int32_t>{0, 1, 1}));
}

TEST(SupportGraph, HandlesAVeryLongStack)
{
  Pile pile(20000);
  for (int i = 0; i < 20000; ++i) pile.touch(i, i + 1);
  EXPECT_EQ(levels_of(pile).back(), 20000);
}

}  // namespace
}  // namespace thrum::rigid
