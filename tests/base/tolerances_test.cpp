// SPDX-License-Identifier: MIT
#include "thrum/base/tolerances.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>

namespace thrum::base {
namespace {

TEST(Tolerances, HaveAUniqueNameAUnitAMeaningAndLieInTheirRange)
{
  std::set<std::string_view> names;
  for (const Tolerance& t : kTolerances) {
    EXPECT_TRUE(names.insert(t.name).second) << t.name;
    EXPECT_FALSE(t.unit.empty());
    EXPECT_EQ(t.meaning.back(), '.') << t.name;
    EXPECT_LE(t.min_value, t.value) << t.name;
    EXPECT_LE(t.value, t.max_value) << t.name;
  }
}

// A comparison relative to a scale must not change when the units do.
RC_GTEST_PROP(NearlyEqual, DoesNotDependOnTheUnits, ())
{
  const double a = *rc::gen::inRange(-1000, 1000) * 1e-3;
  const double gap = *rc::gen::inRange(-40, 40) * kEpsilon * 4;
  const double unit = std::ldexp(1.0, *rc::gen::inRange(-200, 200));
  RC_ASSERT(nearly_equal(a, a + gap, 1) == nearly_equal(a * unit, (a + gap) * unit, unit));
}

TEST(NearlyEqual, IsFalseForNotANumber)
{
  const double nan = std::nan("");
  EXPECT_FALSE(nearly_equal(nan, nan, 1));
  EXPECT_FALSE(nearly_zero(nan, 1));
  EXPECT_TRUE(nearly_zero(1e-16, 1));
  EXPECT_FALSE(nearly_zero(1e-16, 1e-3));
}

TEST(RelativeDifference, IsMeasuredAgainstTheLargest)
{
  EXPECT_DOUBLE_EQ(relative_difference(1, 2), 0.5);
  EXPECT_DOUBLE_EQ(relative_difference(0, 1e-9, 1), 1e-9);
  EXPECT_EQ(relative_difference(0, 0), 0);
}

}  // namespace
}  // namespace thrum::base
