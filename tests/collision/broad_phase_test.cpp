// SPDX-License-Identifier: MIT
#include "thrum/collision/broad_phase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "thrum/base/error.h"

namespace thrum::collision {
namespace {

Box3 box_at(const Vec3& centre, double half)
{
  return {centre - Vec3::Constant(half), centre + Vec3::Constant(half)};
}

// Every pair whose true boxes overlap must be found, whatever moved before and however sizes differ.
TEST(BroadPhase, FindsAllOverlappingPairsOfBruteForce)
{
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-20, 20);
  std::uniform_real_distribution<double> logarithm(-3, 1.5);
  constexpr int count = 300;
  BroadPhase broad_phase;
  std::vector<Vec3> centre;
  std::vector<double> half;
  for (int i = 0; i < count; ++i) {
    broad_phase.add(i, i % 5 == 0, false);
    centre.emplace_back(place(random), place(random), place(random));
    half.push_back(std::exp(logarithm(random)));
  }
  for (int step = 0; step < 20; ++step) {
    for (int i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (i % 5 != 0) centre[k] += 0.1 * Vec3(place(random), place(random), place(random));
      broad_phase.update(i, box_at(centre[k], half[k]));
    }
    const auto pairs = broad_phase.find_pairs();
    EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end()));
    EXPECT_EQ(std::adjacent_find(pairs.begin(), pairs.end()), pairs.end());
    for (int i = 0; i < count; ++i) {
      for (int j = i + 1; j < count; ++j) {
        const auto a = static_cast<std::size_t>(i);
        const auto b = static_cast<std::size_t>(j);
        const bool both_fixed = i % 5 == 0 && j % 5 == 0;
        const bool found = std::binary_search(pairs.begin(), pairs.end(), BodyPair{i, j});
        if (both_fixed) {
          EXPECT_FALSE(found);
        } else if (box_at(centre[a], half[a]).intersects(box_at(centre[b], half[b]))) {
          EXPECT_TRUE(found) << i << " " << j;
        }
      }
    }
  }
}

TEST(BroadPhase, UnboundedBodyPairsWithEveryMovingBody)
{
  BroadPhase broad_phase;
  broad_phase.add(0, true, true);
  broad_phase.add(1, true, false);
  broad_phase.add(2, false, false);
  for (int i = 0; i < 3; ++i) broad_phase.update(i, box_at({100.0 * i, 0, 0}, 1));
  const auto pairs = broad_phase.find_pairs();
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0], (BodyPair{0, 2}));
}

TEST(BroadPhase, RejectsTooManyOverlappingPairs)
{
  BroadPhase broad_phase;
  for (int i = 0; i < 10000; ++i) {
    broad_phase.add(i, false, false);
    broad_phase.update(i, box_at(Vec3::Zero(), 0.5));
  }
  EXPECT_THROW(static_cast<void>(broad_phase.find_pairs()), Error);
}

TEST(BroadPhase, QueriesABox)
{
  BroadPhase broad_phase;
  for (int i = 0; i < 10; ++i) {
    broad_phase.add(i, i % 2 == 0, false);
    broad_phase.update(i, box_at({3.0 * i, 0, 0}, 1));
  }
  std::vector<model::BodyIndex> found;
  broad_phase.overlapping(box_at({6, 0, 0}, 0.5), found);
  EXPECT_EQ(found, (std::vector<model::BodyIndex>{2}));
}

}  // namespace
}  // namespace thrum::collision
