// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "benchmarks/harness.h"

namespace thrum::bench {
namespace {

TEST(BenchHarness, TheRatioSaysHowManyTimesBetter)
{
  EXPECT_EQ(ratio({.figure = 2, .baseline = "simple", .baseline_value = 8}), 4);
  EXPECT_EQ(ratio({.figure = 2, .better = Better::higher, .baseline = "simple", .baseline_value = 8}), 0.25);
  EXPECT_EQ(ratio({.figure = 2}), std::nullopt);
}

TEST(BenchHarness, NothingBesideNothingHasNoRatio)
{
  const Row row{
      .name = "lost bodies", .figure = 0, .unit = "bodies", .baseline = "simple", .baseline_value = 0};
  EXPECT_EQ(ratio(row), std::nullopt);
  Report report("test");
  testing::internal::CaptureStdout();
  report.row(row);
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_EQ(printed.find("nan"), std::string::npos) << printed;
  EXPECT_NE(printed.find(" - "), std::string::npos) << printed;
}

}  // namespace
}  // namespace thrum::bench
