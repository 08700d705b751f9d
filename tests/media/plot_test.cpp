// SPDX-License-Identifier: MIT
#include "thrum/media/plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/media/attenuation_picture.h"

namespace thrum::media {
namespace {

const Colour kRed(1, 0, 0);

bool is_red(const Pixel& p)
{
  return p[0] > 200 && p[1] < 60 && p[2] < 60;
}

/// The middle of all red pixels.
Eigen::Vector2d red_centre(const Image& image)
{
  Eigen::Vector2d sum(0, 0);
  double count = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (!is_red(image.at(x, y))) continue;
      sum += Eigen::Vector2d(x, y);
      ++count;
    }
  }
  return sum / count;
}

Eigen::Vector2d place_of(double x, double y, AxisScale scale, const ValueRange& range)
{
  const PlotSeries dot{.x = {x}, .y = {y}, .colour = kRed, .dot_radius = 4};
  const std::vector<PlotSeries> series{dot};
  return red_centre(draw_plot(series, {.x = {"x", scale, range}, .y = {"y", scale, range}}));
}

// On a logarithmic axis equal ratios are equal lengths, on a linear one equal differences; larger values are
// higher.
TEST(DrawPlot, PutsDotsAtTheirCoordinates)
{
  const ValueRange decades{0.01, 100};
  const Eigen::Vector2d a = place_of(0.1, 0.1, AxisScale::logarithmic, decades);
  const Eigen::Vector2d b = place_of(1, 1, AxisScale::logarithmic, decades);
  const Eigen::Vector2d c = place_of(10, 10, AxisScale::logarithmic, decades);
  EXPECT_NEAR((b - a).x(), (c - b).x(), 1);
  EXPECT_NEAR((b - a).y(), (c - b).y(), 1);
  EXPECT_GT(b.x(), a.x());
  EXPECT_LT(b.y(), a.y());
  const ValueRange straight{0, 4};
  const Eigen::Vector2d d = place_of(1, 1, AxisScale::linear, straight);
  const Eigen::Vector2d e = place_of(2, 3, AxisScale::linear, straight);
  const Eigen::Vector2d f = place_of(3, 2, AxisScale::linear, straight);
  EXPECT_NEAR(2 * (e - d).x(), (f - d).x(), 1.5);
  EXPECT_NEAR((e - d).y(), 2 * (f - d).y(), 1.5);
}

// A power law is a straight line on logarithmic axes.
TEST(DrawPlot, DrawsAPowerLawStraight)
{
  PlotSeries law{.colour = kRed, .dot_radius = 0, .line_width = 3};
  for (double x = 0.1; x < 101; x *= 1.1) {
    law.x.push_back(x);
    law.y.push_back(3 * std::pow(x, -0.5));
  }
  const ValueRange range{0.1, 100};
  const std::vector<PlotSeries> series{law};
  const Image image = draw_plot(
      series, {.x = {"x", AxisScale::logarithmic, range}, .y = {"y", AxisScale::logarithmic, range}});
  const Eigen::Vector2d p = place_of(0.3, 3 * std::pow(0.3, -0.5), AxisScale::logarithmic, range);
  const Eigen::Vector2d q = place_of(30, 3 * std::pow(30, -0.5), AxisScale::logarithmic, range);
  for (const double t : {0.0, 0.2, 0.5, 0.8, 1.0}) {
    const Eigen::Vector2d at = p + t * (q - p);
    bool found = false;
    for (int dy = -1; dy <= 1; ++dy)
      found = found || is_red(image.at(static_cast<int>(std::lround(at.x())),
                                       static_cast<int>(std::lround(at.y())) + dy));
    EXPECT_TRUE(found) << t;
  }
}

// Values that cannot be drawn do not change the picture.
TEST(DrawPlot, SkipsValuesThatCannotBeDrawn)
{
  const PlotAxis axis{"x", AxisScale::logarithmic, ValueRange{0.1, 10}};
  const std::vector<PlotSeries> none{{.colour = kRed}};
  const std::vector<PlotSeries> odd{
      {.x = {0, -1, NAN, 1e300, 1}, .y = {1, 1, 1, 1, 1e-300}, .colour = kRed, .line_width = 0}};
  EXPECT_EQ(draw_plot(odd, {.x = axis, .y = axis}).pixels, draw_plot(none, {.x = axis, .y = axis}).pixels);
}

TEST(DrawPlot, KeepsLinesInsideTheFrame)
{
  const PlotAxis axis{"x", AxisScale::linear, ValueRange{0, 1}};
  const std::vector<PlotSeries> line{
      {.x = {-1e6, 1e6}, .y = {-1e6, 1e6}, .colour = kRed, .dot_radius = 0, .line_width = 3}};
  const Image image = draw_plot(line, {.width = 400, .height = 300, .x = axis, .y = axis});
  const Eigen::Vector2d centre = red_centre(image);
  EXPECT_GT(centre.x(), 0);
  for (int x = 0; x < image.width; ++x) {
    EXPECT_FALSE(is_red(image.at(x, 0)));
    EXPECT_FALSE(is_red(image.at(x, image.height - 1)));
  }
}

TEST(PlotTicks, AreRound)
{
  const std::vector<PlotTick> decades = plot_ticks({0.05, 200}, AxisScale::logarithmic);
  std::vector<std::string> texts;
  for (const PlotTick& tick : decades) {
    EXPECT_GE(tick.value, 0.05);
    EXPECT_LE(tick.value, 200);
    if (!tick.text.empty()) texts.push_back(tick.text);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"0.1", "1", "10", "100"}));
  // Within a decade there are labels between.
  texts.clear();
  for (const PlotTick& tick : plot_ticks({0.9, 8}, AxisScale::logarithmic)) {
    if (!tick.text.empty()) texts.push_back(tick.text);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"1", "2", "5"}));
  for (const PlotTick& tick : plot_ticks({-0.3, 0.9}, AxisScale::linear))
    EXPECT_NEAR(std::strtod(tick.text.c_str(), nullptr), tick.value, 1e-9);
}

TEST(PlotRange, ContainsAllDrawableValues)
{
  const std::vector<PlotSeries> series{{.x = {1, 100, -3, NAN}, .y = {0, 0, 0, 0}}};
  const ValueRange range = plot_range(series, true, AxisScale::logarithmic);
  EXPECT_LT(range.low, 1);
  EXPECT_GT(range.low, 0.5);
  EXPECT_GT(range.high, 100);
  EXPECT_LT(range.high, 200);
  const ValueRange flat = plot_range(series, false, AxisScale::linear);
  EXPECT_LT(flat.low, flat.high);
}

TEST(AttenuationPicture, ShowsCurvesByTheirFormulas)
{
  const vibration::AttenuationSettings simple{.C = 0.4, .beta = 1};
  const vibration::AttenuationSettings full{.full = true, .alpha = 0.048, .beta = 0.8, .r0 = 0.033};
  const vibration::AttenuationSettings lossless{.full = true, .alpha = 0, .beta = 0.8, .r0 = 0.033};
  EXPECT_EQ(curve_text(simple), "0.4 r^-1");
  EXPECT_EQ(curve_text(full), "exp(-0.048 (r - 0.033)) (r / 0.033)^-0.8");
  EXPECT_EQ(curve_text(lossless), "(r / 0.033)^-0.8");
  std::vector<vibration::AttenuationSample> samples;
  for (double r = 0.1; r < 5; r *= 1.3) samples.push_back({.distance = r, .ratio = 0.3 / r});
  const std::vector<NamedCurve> curves{{"simple", simple}, {"full", full}};
  const Image with = attenuation_picture(samples, curves);
  const Image without = attenuation_picture(samples, {});
  const auto count = [](const Image& image, const Colour& colour) {
    return std::count(image.pixels.begin(), image.pixels.end(), to_pixel(colour));
  };
  EXPECT_GT(count(with, plot_colour(1)), 400);
  EXPECT_GT(count(with, plot_colour(2)), 400);
  EXPECT_EQ(count(without, plot_colour(1)), 0);
}

TEST(DrawPlot, RejectsInvalidInput)
{
  const std::vector<PlotSeries> uneven{{.name = "a", .x = {1, 2}, .y = {1}}};
  EXPECT_THROW(static_cast<void>(draw_plot(uneven)), Error);
  const std::vector<PlotSeries> fine{{.x = {1, 2}, .y = {1, 2}}};
  EXPECT_THROW(static_cast<void>(draw_plot(fine, {.x = {"x", AxisScale::logarithmic, ValueRange{0, 1}}})),
               Error);
  EXPECT_THROW(static_cast<void>(draw_plot(fine, {.y = {"y", AxisScale::linear, ValueRange{1, 1}}})), Error);
  EXPECT_THROW(static_cast<void>(draw_plot(fine, {.width = 20, .height = 20})), Error);
  EXPECT_NE(plot_colour(0), plot_colour(1));
  EXPECT_EQ(plot_colour(0), plot_colour(7));
}

}  // namespace
}  // namespace thrum::media
