// SPDX-License-Identifier: MIT
#include "thrum/base/timing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace thrum::base {
namespace {

TEST(StageTimes, NestsCountsAndAddsUp)
{
  StageTimes times;
  for (int i = 0; i < 3; ++i) {
    const auto step = times.stage("step");
    {
      const auto pairs = times.stage("find pairs");
      times.add("boxes", 0.25, 10);
    }
    const auto solve = times.stage("solve");
  }
  const auto rows = times.rows();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].path, "step");
  EXPECT_EQ(rows[0].count, 3u);
  EXPECT_EQ(rows[1].path, "step/find pairs");
  EXPECT_EQ(rows[2].path, "step/find pairs/boxes");
  EXPECT_EQ(rows[2].depth, 2);
  EXPECT_EQ(rows[2].count, 30u);
  EXPECT_DOUBLE_EQ(rows[2].total, 0.75);
  EXPECT_EQ(rows[3].path, "step/solve");
  // A nested stage cannot take longer than the one around it.
  EXPECT_GE(rows[0].total, rows[1].total + rows[3].total - 1e-9);
  times.clear();
  EXPECT_TRUE(times.rows().empty());
}

TEST(StageTimes, TableNamesEveryStage)
{
  StageTimes times;
  times.add("slow", 3, 1);
  times.add("quick", 1, 5);
  const std::string table = times.table();
  EXPECT_NE(table.find("slow"), std::string::npos);
  EXPECT_NE(table.find("75.0%"), std::string::npos);
  EXPECT_NE(table.find("25.0%"), std::string::npos);
}

// Sleeping passes wall time, but uses no CPU time.
TEST(Clocks, WallTimePassesWhileSleepingAndCpuTimeDoesNot)
{
  const Stopwatch watch;
  const double cpu = thread_cpu_clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_GE(watch.seconds(), 0.03);
  EXPECT_LT(thread_cpu_clock() - cpu, 0.02);
  EXPECT_GT(process_cpu_clock(), 0);
}

}  // namespace
}  // namespace thrum::base
