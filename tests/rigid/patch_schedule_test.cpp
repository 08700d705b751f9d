// SPDX-License-Identifier: MIT
// Passes on several threads give what one in order gives.
#include "thrum/rigid/patch_schedule.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "thrum/model/ids.h"

namespace thrum::rigid {
namespace {

constexpr std::size_t kBodies = 120;

class PatchScheduleTest : public testing::Test {
 protected:
  void SetUp() override
  {
    base::set_thread_count(4);
    base::rest_when_crowded(false);
    if (base::thread_count() == 1) GTEST_SKIP() << "built without threads";
  }
  void TearDown() override
  {
    base::rest_when_crowded(true);
    base::set_thread_count(0);
  }
};

Vec3 place_of(std::int32_t body)
{
  return {std::sin(1.0 * body), 0.01 * body, std::cos(7.0 * body)};
}

// Patches between bodies whose numbers are near each other; every fifth on one that does not yield.
std::vector<ScheduledPatch> random_patches(std::mt19937& random, std::size_t count, int reach)
{
  std::vector<ScheduledPatch> patches(count);
  for (ScheduledPatch& patch : patches) {
    const auto a = static_cast<std::int32_t>(random() % kBodies);
    const auto b = static_cast<std::int32_t>((at(a) + 1 + random() % at(reach)) % kBodies);
    patch.movers = {a, random() % 5 == 0 ? model::kNone : b};
    patch.place = patch.movers[1] != model::kNone && random() % 2 == 0 ? b : a;
    if (random() % 2 == 0) std::swap(patch.movers[0], patch.movers[1]);
  }
  return patches;
}

// What a visit leaves in its bodies depends on the order of all visits before.
void visit(const std::vector<ScheduledPatch>& patches, std::size_t i, std::vector<double>& values)
{
  double sum = 1e-3 * static_cast<double>(i);
  for (const std::int32_t body : patches[i].movers) {
    if (body != model::kNone) sum += values[at(body)];
  }
  double k = 1;
  for (const std::int32_t body : patches[i].movers) {
    if (body != model::kNone) values[at(body)] = std::sin(k++ * sum) + 0.5 * values[at(body)];
  }
}

TEST_F(PatchScheduleTest, PassesHaveTheBitsOfOneThread)
{
  int divided = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const std::vector<ScheduledPatch> patches = random_patches(random, 150 + 20 * seed, 1 + int(seed % 7));
    for (const int threads : {2, 3, 4}) {
      PatchSchedule schedule;
      schedule.build(patches, kBodies, threads, place_of);
      divided += schedule.threads() > 1 ? 1 : 0;
      std::vector<double> values(kBodies, 0.1);
      std::vector<double> expected = values;
      for (int pass = 0; pass < 6; ++pass) {
        const bool backward = pass % 3 != 0;
        schedule.run(backward, [&](std::size_t i, std::size_t) { visit(patches, i, values); });
        PatchSchedule::run_in_order(0, patches.size(), backward,
                                    [&](std::size_t i, std::size_t) { visit(patches, i, expected); });
        ASSERT_EQ(values, expected) << seed << " " << threads << " " << pass;
      }
    }
  }
  EXPECT_GT(divided, 30);
}

// A member that does not come is replaced by the caller: other threads keep the cores busy.
TEST_F(PatchScheduleTest, PassesHaveTheSameBitsOnBusyCores)
{
  std::atomic<bool> stop = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 6; ++i) {
    others.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
      }
    });
  }
  std::mt19937 random(5);
  const std::vector<ScheduledPatch> patches = random_patches(random, 400, 3);
  PatchSchedule schedule;
  schedule.build(patches, kBodies, 2, place_of);
  ASSERT_EQ(schedule.threads(), 2);
  std::vector<double> values(kBodies, 0.1);
  std::vector<double> expected = values;
  for (int pass = 0; pass < 20; ++pass) {
    // Longer than threads wait for work: the next pass begins while they sleep.
    if (pass % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    schedule.run(pass % 2 == 0, [&](std::size_t i, std::size_t) { visit(patches, i, values); });
    PatchSchedule::run_in_order(0, patches.size(), pass % 2 == 0,
                                [&](std::size_t i, std::size_t) { visit(patches, i, expected); });
  }
  stop = true;
  for (std::thread& other : others) other.join();
  EXPECT_EQ(values, expected);
}

// A chain in its order leaves nothing to do at the same time: it is not divided.
TEST_F(PatchScheduleTest, WhatDependsOnItselfThroughoutIsLeftToOneThread)
{
  std::vector<ScheduledPatch> chain;
  for (std::int32_t i = 0; i + 1 < 400; ++i) chain.push_back({{i, i + 1}, i});
  PatchSchedule schedule;
  schedule.build(chain, 400, 2, [](std::int32_t body) { return Vec3(0, 0, body); });
  EXPECT_EQ(schedule.threads(), 1);
  // The same patches, every second one first, do not wait for each other.
  std::vector<ScheduledPatch> zebra;
  for (std::int32_t first : {0, 1}) {
    for (std::int32_t i = first; i + 1 < 400; i += 2) zebra.push_back({{i, i + 1}, i});
  }
  schedule.build(zebra, 400, 2, [](std::int32_t body) { return Vec3(0, 0, body); });
  EXPECT_EQ(schedule.threads(), 2);
  int of_first = 0;
  for (std::size_t i = 0; i < zebra.size(); ++i) of_first += schedule.thread_of(i) == 0 ? 1 : 0;
  EXPECT_NEAR(of_first, 200, 5);
}

std::vector<std::array<std::int32_t, 2>> movers_of(const std::vector<ScheduledPatch>& patches)
{
  std::vector<std::array<std::int32_t, 2>> movers;
  for (const ScheduledPatch& patch : patches) movers.push_back(patch.movers);
  return movers;
}

TEST(VisitOrder, GivesTheBitsOfTheOrderOfThePatches)
{
  PatchSchedule schedule;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    const std::vector<ScheduledPatch> patches = random_patches(random, 20 * seed, 1 + int(seed % 7));
    schedule.build(movers_of(patches), kBodies);
    std::vector<double> values(kBodies, 0.1);
    std::vector<double> expected = values;
    for (int pass = 0; pass < 6; ++pass) {
      const bool backward = pass % 3 != 0;
      std::size_t visits = 0;
      schedule.run(backward, [&](std::size_t i, std::size_t) {
        visit(patches, i, values);
        ++visits;
      });
      PatchSchedule::run_in_order(0, patches.size(), backward,
                                  [&](std::size_t i, std::size_t) { visit(patches, i, expected); });
      ASSERT_EQ(values, expected) << seed << " " << pass;
      ASSERT_EQ(visits, patches.size());
    }
  }
}

// Rows of bricks in running bond: in the order of the patches each shares a brick with the one before.
TEST(VisitOrder, KeepsVisitsOfOneBrickApart)
{
  constexpr std::int32_t kRows = 10;
  constexpr std::int32_t kBricks = 20;
  std::vector<std::array<std::int32_t, 2>> movers;
  for (std::int32_t row = 0; row + 1 < kRows; ++row) {
    for (std::int32_t i = 0; i < kBricks; ++i) {
      const std::int32_t brick = row * kBricks + i;
      movers.push_back({brick, brick + kBricks});
      if (i + 1 < kBricks) movers.push_back({brick + 1, brick + kBricks});
    }
  }
  const auto count_dependent = [&](const std::vector<std::int32_t>& order) {
    int dependent = 0;
    for (std::size_t k = 1; k < order.size(); ++k) {
      const auto& before = movers[at(order[k - 1])];
      for (const std::int32_t body : movers[at(order[k])]) {
        if (body == before[0] || body == before[1]) ++dependent;
      }
    }
    return dependent;
  };
  std::vector<std::int32_t> as_found(movers.size());
  std::iota(as_found.begin(), as_found.end(), 0);
  VisitOrder order;
  order.build(movers, at(kRows * kBricks));
  const std::vector<std::int32_t> found(order.patches().begin(), order.patches().end());
  EXPECT_GT(count_dependent(as_found), 300);
  // In the first row there is nothing yet to come between.
  EXPECT_LT(count_dependent(found), 10);
}

}  // namespace
}  // namespace thrum::rigid
