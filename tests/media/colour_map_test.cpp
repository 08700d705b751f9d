// SPDX-License-Identifier: MIT
#include "thrum/media/colour_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace thrum::media {
namespace {

RC_GTEST_PROP(Oklab, RoundTrips, ())
{
  const auto level = [] {
    return static_cast<float>(*rc::gen::inRange(0, 256)) / 255.0f;
  };
  const Colour colour(level(), level(), level());
  RC_ASSERT((colour_from_oklab(oklab_from_colour(colour)) - colour).norm() < 0.02f);
}

TEST(ColourMap, SequentialLightnessRisesInEvenSteps)
{
  const int n = 32;
  double least = INFINITY, most = 0;
  for (int i = 0; i < n; ++i) {
    const Vec3 a = oklab_from_colour(colour_of(ColourMap::sequential, i / double(n)));
    const Vec3 b = oklab_from_colour(colour_of(ColourMap::sequential, (i + 1) / double(n)));
    EXPECT_GT(b.x(), a.x());
    least = std::min(least, (b - a).norm());
    most = std::max(most, (b - a).norm());
  }
  EXPECT_LT(most, 2 * least);
}

TEST(ColourMap, DivergingIsLightestInTheMiddleAndEvenOnBothSides)
{
  const double middle = oklab_from_colour(colour_of(ColourMap::diverging, 0.5)).x();
  for (int i = 1; i <= 10; ++i) {
    const double below = oklab_from_colour(colour_of(ColourMap::diverging, 0.5 - i / 20.0)).x();
    const double above = oklab_from_colour(colour_of(ColourMap::diverging, 0.5 + i / 20.0)).x();
    EXPECT_NEAR(below, above, 0.01);
    EXPECT_LT(below, middle - 0.04 * i);
  }
  const Colour low = colour_of(ColourMap::diverging, 0), high = colour_of(ColourMap::diverging, 1);
  EXPECT_GT(low.z(), low.x());
  EXPECT_GT(high.x(), high.z());
}

TEST(ColourMap, ShowsNanInGrey)
{
  EXPECT_EQ(colour_of(ColourMap::sequential, NAN), missing_colour());
  EXPECT_EQ(colour_of(ColourMap::diverging, INFINITY), missing_colour());
  EXPECT_EQ(colour_of(ColourMap::sequential, 7), colour_of(ColourMap::sequential, 1));
}

TEST(ValueRange, ContainsTheFiniteValuesAndIsNeverEmpty)
{
  const std::vector<double> values{3, NAN, -1, INFINITY};
  EXPECT_EQ(range_of(values).low, -1);
  EXPECT_EQ(range_of(values).high, 3);
  EXPECT_EQ(range_of(values, ColourMap::diverging).low, -3);
  const std::vector<double> same{2, 2};
  EXPECT_LT(range_of(same).low, range_of(same).high);
  EXPECT_LT(range_of({}).low, range_of({}).high);
}

RC_GTEST_PROP(RoundStep, IsOneTwoOrFiveTimesAPowerOfTenNearTheRequestedCount, ())
{
  const double width = *rc::gen::inRange(1, 100000) * std::pow(10.0, *rc::gen::inRange(-12, 6));
  const double step = round_step({0, width}, 10);
  RC_ASSERT(width / step > 4 && width / step < 21);
  const double mantissa = step / std::pow(10.0, std::floor(std::log10(step * 1.000001)));
  RC_ASSERT(std::abs(mantissa - 1) < 1e-6 || std::abs(mantissa - 2) < 1e-6 || std::abs(mantissa - 5) < 1e-6);
}

// A line covers its own width in pixels, whatever the unit.
TEST(IsoLine, CoversItsWidth)
{
  for (const double unit : {1e-6, 1.0, 1e6}) {
    double covered = 0;
    for (int i = -50; i < 50; ++i) covered += iso_line_coverage((i + 0.3) * unit, 1000 * unit, unit, 2.0);
    EXPECT_NEAR(covered, 2, 1e-9);
  }
  EXPECT_EQ(iso_line_coverage(1, 1, 0.5), 0);
}

}  // namespace
}  // namespace thrum::media
