// SPDX-License-Identifier: MIT
#include "thrum/media/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/media/bitmap_font.h"

namespace thrum::media {
namespace {

constexpr int kTargetTicks = 7;
constexpr double kAxisMargin = 0.04;  ///< margin at each end of an axis, as a fraction of its length
constexpr double kFewDecades = 1.5;   ///< below this the 2 and the 5 of a decade are labelled too
constexpr double kManyDecades = 8.5;  ///< above this not every decade is labelled
const Colour kInk(0.20f, 0.21f, 0.23f);
const Colour kGrid(0.80f, 0.81f, 0.83f);
const Colour kPaper(1.0f, 1.0f, 1.0f);

/// The coordinate of a value along an axis: itself, or its decimal logarithm. Not finite where it cannot be
/// drawn.
double axis_coordinate(double value, AxisScale scale)
{
  if (scale == AxisScale::linear) return value;
  return value > 0 ? std::log10(value) : NAN;
}

ValueRange axis_coordinate(const ValueRange& range, AxisScale scale)
{
  return {axis_coordinate(range.low, scale), axis_coordinate(range.high, scale)};
}

/// The position of the axes in the picture.
struct Frame {
  int left = 0, right = 0, top = 0, bottom = 0;  ///< [pixel]
  ValueRange x = {}, y = {};                     ///< along the axes
  AxisScale x_scale = AxisScale::linear, y_scale = AxisScale::linear;

  [[nodiscard]] double column(double value) const
  {
    return left + x.fraction(axis_coordinate(value, x_scale)) * (right - left);
  }
  [[nodiscard]] double row(double value) const
  {
    return bottom - y.fraction(axis_coordinate(value, y_scale)) * (bottom - top);
  }
};

/// Every pixel within `half` of the segment from a to b, antialiased by one pixel and clipped at the frame. A
/// dot is a segment without length.
void draw_stroke(Image& image, const Frame& frame, const Eigen::Vector2d& a, const Eigen::Vector2d& b,
                 double half, const Colour& colour, float opacity)
{
  const Eigen::Vector2d low = a.cwiseMin(b), high = a.cwiseMax(b);
  const int x0 = static_cast<int>(std::floor(std::max<double>(low.x() - half - 1, frame.left)));
  const int x1 = static_cast<int>(std::ceil(std::min<double>(high.x() + half + 1, frame.right)));
  const int y0 = static_cast<int>(std::floor(std::max<double>(low.y() - half - 1, frame.top)));
  const int y1 = static_cast<int>(std::ceil(std::min<double>(high.y() + half + 1, frame.bottom)));
  const Eigen::Vector2d d = b - a;
  for (int y = y0; y <= y1; ++y) {
    for (int x = x0; x <= x1; ++x) {
      const Eigen::Vector2d p(x, y);
      const double t = d.squaredNorm() > 0 ? std::clamp((p - a).dot(d) / d.squaredNorm(), 0.0, 1.0) : 0.0;
      const double cover = std::clamp(half + 0.5 - (p - a - t * d).norm(), 0.0, 1.0);
      if (cover > 0) blend(image, x, y, colour, opacity * static_cast<float>(cover));
    }
  }
}

/// A line between two points of the picture that may lie far outside it: only the part near the frame is
/// drawn.
void draw_line(Image& image, const Frame& frame, const Eigen::Vector2d& a, const Eigen::Vector2d& b,
               double half, const Colour& colour, float opacity)
{
  const Eigen::Vector2d low(frame.left - half - 2, frame.top - half - 2);
  const Eigen::Vector2d high(frame.right + half + 2, frame.bottom + half + 2);
  // Clip the line against each side of the frame.
  double from = 0, to = 1;
  const Eigen::Vector2d d = b - a;
  for (int k = 0; k < 2; ++k) {
    if (d[k] == 0) {
      if (a[k] < low[k] || a[k] > high[k]) return;
      continue;
    }
    const double t0 = (low[k] - a[k]) / d[k], t1 = (high[k] - a[k]) / d[k];
    from = std::max(from, std::min(t0, t1));
    to = std::min(to, std::max(t0, t1));
  }
  if (from < to) draw_stroke(image, frame, a + from * d, a + to * d, half, colour, opacity);
}

void draw_series(Image& image, const Frame& frame, const PlotSeries& series, const Colour& colour)
{
  Eigen::Vector2d before(NAN, NAN);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const Eigen::Vector2d here(frame.column(series.x[i]), frame.row(series.y[i]));
    if (series.line_width > 0 && here.allFinite() && before.allFinite())
      draw_line(image, frame, before, here, series.line_width / 2, colour, series.opacity);
    before = here;
  }
  if (!(series.dot_radius > 0)) return;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const Eigen::Vector2d here(frame.column(series.x[i]), frame.row(series.y[i]));
    const bool inside = here.allFinite() && here.x() >= frame.left && here.x() <= frame.right &&
                        here.y() >= frame.top && here.y() <= frame.bottom;
    if (inside) draw_stroke(image, frame, here, here, series.dot_radius, colour, series.opacity);
  }
}

/// Text that reads upwards, with its left end at (x, bottom).
void draw_text_upwards(Image& image, int x, int bottom, const std::string& text, int scale)
{
  Image line(std::max(1, text_width(text, scale)), text_height(scale), {0, 0, 0});
  draw_text(line, 0, 0, text, Colour(1, 1, 1), scale);
  for (int v = 0; v < line.height; ++v) {
    for (int u = 0; u < line.width; ++u) {
      if (line.at(u, v)[0] > 0) blend(image, x + v, bottom - u, kInk, 1);
    }
  }
}

void draw_axes(Image& image, const Frame& frame, const PlotDesc& desc, std::span<const PlotTick> x_ticks,
               std::span<const PlotTick> y_ticks, int scale)
{
  const auto vertical = [&](int x, const Colour& colour) {
    for (int y = frame.top; y <= frame.bottom; ++y) blend(image, x, y, colour, 1);
  };
  const auto horizontal = [&](int y, const Colour& colour) {
    for (int x = frame.left; x <= frame.right; ++x) blend(image, x, y, colour, 1);
  };
  const int gap = 4 * scale;
  const Colour faint = 0.35f * kGrid + 0.65f * kPaper;
  // Minor ticks first, so that the major ones are drawn over them.
  for (const bool main : {false, true}) {
    for (const PlotTick& tick : x_ticks) {
      if (tick.text.empty() == main) continue;
      const int x = static_cast<int>(std::lround(frame.column(tick.value)));
      vertical(x, main ? kGrid : faint);
      draw_text(image, x - text_width(tick.text, scale) / 2, frame.bottom + gap, tick.text, kInk, scale);
    }
    for (const PlotTick& tick : y_ticks) {
      if (tick.text.empty() == main) continue;
      const int y = static_cast<int>(std::lround(frame.row(tick.value)));
      horizontal(y, main ? kGrid : faint);
      draw_text(image, frame.left - gap - text_width(tick.text, scale), y - text_height(scale) / 2, tick.text,
                kInk, scale);
    }
  }
  vertical(frame.left, kInk);
  vertical(frame.right, kInk);
  horizontal(frame.top, kInk);
  horizontal(frame.bottom, kInk);
  const int middle = (frame.left + frame.right) / 2;
  draw_text(image, middle - text_width(desc.x.label, scale) / 2, frame.bottom + 2 * gap + text_height(scale),
            desc.x.label, kInk, scale);
  draw_text_upwards(image, gap, (frame.top + frame.bottom + text_width(desc.y.label, scale)) / 2,
                    desc.y.label, scale);
  draw_text(image, middle - text_width(desc.title, scale) / 2, gap, desc.title, kInk, scale);
}

/// Names with a sample of each in one line below the title, or in several when they do not fit.
int legend_rows(std::span<const PlotSeries> series, int room, int scale, std::vector<Eigen::Vector2i>* places)
{
  int x = 0, row = 0;
  bool any = false;
  for (const PlotSeries& s : series) {
    if (s.name.empty()) {
      if (places != nullptr) places->emplace_back(-1, -1);
      continue;
    }
    const int width = text_width(s.name, scale) + 18 * scale;
    if (x > 0 && x + width > room) {
      x = 0;
      ++row;
    }
    if (places != nullptr) places->emplace_back(x, row);
    x += width + 6 * scale;
    any = true;
  }
  return any ? row + 1 : 0;
}

void check(std::span<const PlotSeries> series, const PlotAxis& axis, const ValueRange& range)
{
  for (const PlotSeries& s : series) {
    if (s.x.size() != s.y.size())
      throw Error(fmt::format("A plot needs equal numbers of x and y values; '{}' has {} and {}.", s.name,
                              s.x.size(), s.y.size()));
  }
  if (axis.scale == AxisScale::logarithmic && !(range.low > 0))
    throw Error(fmt::format("A logarithmic axis starts at {:g}; it must start above 0.", range.low));
  if (!(range.high > range.low) || !std::isfinite(range.high) || !std::isfinite(range.low))
    throw Error(
        fmt::format("An axis goes from {:g} to {:g}; the second must be larger.", range.low, range.high));
}

}  // namespace

Colour plot_colour(std::size_t number)
{
  static const std::array<Colour, 7> colours = {Colour(0.00f, 0.45f, 0.70f), Colour(0.84f, 0.37f, 0.00f),
                                                Colour(0.00f, 0.62f, 0.45f), Colour(0.80f, 0.47f, 0.65f),
                                                Colour(0.90f, 0.62f, 0.00f), Colour(0.34f, 0.71f, 0.91f),
                                                Colour(0.25f, 0.25f, 0.27f)};
  return colours[number % colours.size()];
}

std::vector<PlotTick> plot_ticks(const ValueRange& range, AxisScale scale)
{
  std::vector<PlotTick> ticks;
  if (scale == AxisScale::linear) {
    const double step = round_step(range, kTargetTicks);
    const double slack = step / 1000;
    for (double k = std::ceil((range.low - slack) / step); k * step <= range.high + slack; k += 1)
      ticks.push_back({k * step, tick_text(k * step, step)});
    return ticks;
  }
  const double decades = std::log10(range.high / range.low);
  const int every = decades > kManyDecades ? static_cast<int>(std::ceil(decades / kManyDecades)) : 1;
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  const int last = static_cast<int>(std::ceil(std::log10(range.high)));
  for (int power = first; power <= last; ++power) {
    for (int digit = 1; digit < 10; ++digit) {
      const double value = digit * std::pow(10.0, power);
      if (value < range.low || value > range.high) continue;
      const bool main = digit == 1 ? power % every == 0 : decades < kFewDecades && (digit == 2 || digit == 5);
      ticks.push_back({value, main ? fmt::format("{:g}", value) : std::string()});
    }
  }
  return ticks;
}

ValueRange plot_range(std::span<const PlotSeries> series, bool x_axis, AxisScale scale)
{
  std::vector<double> values;
  for (const PlotSeries& s : series) {
    for (const double value : x_axis ? s.x : s.y) values.push_back(axis_coordinate(value, scale));
  }
  const ValueRange tight = range_of(values);
  const double room = kAxisMargin * (tight.high - tight.low);
  const ValueRange wide{tight.low - room, tight.high + room};
  if (scale == AxisScale::linear) return wide;
  return {std::pow(10.0, wide.low), std::pow(10.0, wide.high)};
}

Image draw_plot(std::span<const PlotSeries> series, const PlotDesc& desc)
{
  const ValueRange x_range = desc.x.range ? *desc.x.range : plot_range(series, true, desc.x.scale);
  const ValueRange y_range = desc.y.range ? *desc.y.range : plot_range(series, false, desc.y.scale);
  check(series, desc.x, x_range);
  check(series, desc.y, y_range);
  const std::vector<PlotTick> x_ticks = plot_ticks(x_range, desc.x.scale);
  const std::vector<PlotTick> y_ticks = plot_ticks(y_range, desc.y.scale);

  // Space for the labels around the frame.
  const int scale = std::max(1, desc.height / 270);
  const int line = text_height(scale) + 6 * scale;
  int widest = 0;
  for (const PlotTick& tick : y_ticks) widest = std::max(widest, text_width(tick.text, scale));
  Frame frame{.left = widest + 3 * line / 2 + 4 * scale,
              .right = desc.width - 16 * scale,
              .bottom = desc.height - 5 * line / 2,
              .x = axis_coordinate(x_range, desc.x.scale),
              .y = axis_coordinate(y_range, desc.y.scale),
              .x_scale = desc.x.scale,
              .y_scale = desc.y.scale};
  std::vector<Eigen::Vector2i> places;
  const int rows = legend_rows(series, frame.right - frame.left, scale, &places);
  const int legend_top = 4 * scale + (desc.title.empty() ? 0 : line);
  frame.top = legend_top + rows * line + 4 * scale;
  if (frame.right - frame.left < 2 * line || frame.bottom - frame.top < 2 * line)
    throw Error(
        fmt::format("A picture of {} x {} pixels is too small for this plot.", desc.width, desc.height));

  Image image(desc.width, desc.height, to_pixel(kPaper));
  draw_axes(image, frame, desc, x_ticks, y_ticks, scale);
  const Frame page{.left = 0, .right = desc.width - 1, .top = 0, .bottom = desc.height - 1};
  for (std::size_t i = 0; i < series.size(); ++i) {
    const PlotSeries& s = series[i];
    const Colour colour = s.colour.value_or(plot_colour(i));
    draw_series(image, frame, s, colour);
    if (s.name.empty()) continue;
    const int x = frame.left + places[i].x();
    const int y = legend_top + places[i].y() * line + text_height(scale) / 2;
    if (s.line_width > 0) draw_stroke(image, page, {x, y}, {x + 12 * scale, y}, s.line_width / 2, colour, 1);
    if (s.dot_radius > 0)
      draw_stroke(image, page, {x + 6 * scale, y}, {x + 6 * scale, y}, std::max(s.dot_radius, 1.5 * scale),
                  colour, 1);
    draw_text(image, x + 16 * scale, y - text_height(scale) / 2, s.name, kInk, scale);
  }
  return image;
}

}  // namespace thrum::media
