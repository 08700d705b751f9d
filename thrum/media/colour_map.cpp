// SPDX-License-Identifier: MIT
#include "thrum/media/colour_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace thrum::media {
namespace {

constexpr std::size_t kTableSize = 257;      ///< odd: the middle of the diverging map is one entry
constexpr double kStepTolerance = 1.000001;  ///< a step slightly below 0.1 by rounding is still 0.1 [1]
constexpr double kDegree = std::numbers::pi / 180;
using Table = std::array<Colour, kTableSize>;

/// OKLab to linear light; components may leave [0, 1] when the display cannot show the colour.
Vec3 linear_from_oklab(const Vec3& lab)
{
  const double l = lab.x() + 0.3963377774 * lab.y() + 0.2158037573 * lab.z();
  const double m = lab.x() - 0.1055613458 * lab.y() - 0.0638541728 * lab.z();
  const double s = lab.x() - 0.0894841775 * lab.y() - 1.2914855480 * lab.z();
  const double l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
  return {4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3,
          -1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3,
          -0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3};
}

Vec3 from_polar(double lightness, double chroma, double hue)
{
  return {lightness, chroma * std::cos(hue), chroma * std::sin(hue)};
}

/// Lightness rises evenly while the hue turns at a constant rate from violet to yellow.
Table make_sequential()
{
  Table table;
  for (std::size_t i = 0; i < kTableSize; ++i) {
    const double t = static_cast<double>(i) / (kTableSize - 1);
    // Less chroma in the middle: the gamut of displays is smallest in blue-green.
    const double chroma = 0.145 - 0.045 * std::sin(std::numbers::pi * t);
    table[i] = colour_from_oklab(from_polar(0.27 + 0.64 * t, chroma, (305 - 200 * t) * kDegree));
  }
  return table;
}

/// Lightness and chroma change evenly with the distance from the middle.
Table make_diverging()
{
  Table table;
  for (std::size_t i = 0; i < kTableSize; ++i) {
    const double t = 2 * static_cast<double>(i) / (kTableSize - 1) - 1;
    const double hue = t < 0 ? 255 : 35;
    table[i] = colour_from_oklab(from_polar(0.965 - 0.53 * std::abs(t), 0.165 * std::abs(t), hue * kDegree));
  }
  return table;
}

}  // namespace

Colour colour_from_oklab(const Vec3& lab)
{
  // Reduce the chroma, keeping lightness and hue, until the display can show it.
  constexpr int kHalvings = 20;
  const auto shown = [](const Vec3& c) {
    return c.minCoeff() >= 0 && c.maxCoeff() <= 1;
  };
  double keep = 1;
  if (!shown(linear_from_oklab(lab))) {
    double low = 0, high = 1;
    for (int i = 0; i < kHalvings; ++i) {
      keep = (low + high) / 2;
      (shown(linear_from_oklab({lab.x(), keep * lab.y(), keep * lab.z()})) ? low : high) = keep;
    }
    keep = low;
  }
  const Vec3 linear = linear_from_oklab({lab.x(), keep * lab.y(), keep * lab.z()});
  return srgb_from_linear(Colour(linear.cwiseMax(0).cwiseMin(1).cast<float>()));
}

Vec3 oklab_from_colour(const Colour& colour)
{
  const Vec3 c = linear_from_srgb(colour).cast<double>();
  const double l = std::cbrt(0.4122214708 * c.x() + 0.5363325363 * c.y() + 0.0514459929 * c.z());
  const double m = std::cbrt(0.2119034982 * c.x() + 0.6806995451 * c.y() + 0.1073969566 * c.z());
  const double s = std::cbrt(0.0883024619 * c.x() + 0.2817188376 * c.y() + 0.6299787005 * c.z());
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Colour missing_colour()
{
  return {0.62f, 0.62f, 0.62f};
}

Colour colour_of(ColourMap map, double t)
{
  static const Table sequential = make_sequential();
  static const Table diverging = make_diverging();
  if (!std::isfinite(t)) return missing_colour();
  const Table& table = map == ColourMap::sequential ? sequential : diverging;
  const double at = std::clamp(t, 0.0, 1.0) * (kTableSize - 1);
  const auto i = std::min(static_cast<std::size_t>(at), kTableSize - 2);
  const auto f = static_cast<float>(at - static_cast<double>(i));
  return (1 - f) * table[i] + f * table[i + 1];
}

ValueRange range_of(std::span<const double> values, ColourMap map)
{
  ValueRange range{INFINITY, -INFINITY};
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    range.low = std::min(range.low, v);
    range.high = std::max(range.high, v);
  }
  if (range.low > range.high) return {0, 1};
  if (map == ColourMap::diverging) {
    range.high = std::max(std::abs(range.low), std::abs(range.high));
    range.low = -range.high;
  }
  // A single value still gets a range around it.
  if (range.low == range.high) {
    const double half = range.low == 0 ? 1 : std::abs(range.low) / 2;
    return {range.low - half, range.high + half};
  }
  return range;
}

double round_step(const ValueRange& range, int count)
{
  const double rough = (range.high - range.low) / std::max(count, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double mantissa = rough / power;
  return power * (mantissa < 1.5 ? 1 : mantissa < 3.5 ? 2 : mantissa < 7.5 ? 5 : 10);
}

std::string tick_text(double value, double step)
{
  if (std::abs(value) < step / 2) return "0";
  const int digits = std::max(0, -static_cast<int>(std::floor(std::log10(step * kStepTolerance))));
  if (digits > 4 || std::abs(value) >= 1e6) return fmt::format("{:.3g}", value);
  return fmt::format("{:.{}f}", value, digits);
}

double iso_line_coverage(double value, double spacing, double change, double width)
{
  if (!(spacing > 0) || !(change > 0) || !std::isfinite(value)) return 0;
  // Lines closer than three pixels fade out instead of flickering.
  const double pixels_between = spacing / change;
  const double fade = std::clamp((pixels_between - 3) / 3, 0.0, 1.0);
  const double pixels_off = std::abs(value / spacing - std::round(value / spacing)) * pixels_between;
  return fade * std::clamp(width / 2 + 0.5 - pixels_off, 0.0, 1.0);
}

}  // namespace thrum::media
