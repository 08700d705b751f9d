// SPDX-License-Identifier: MIT
#include "thrum/media/attenuation_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace thrum::media {

namespace {

constexpr int kCurvePoints = 200;
/// Maximum of a linear axis of ratios; lower when all ratios are smaller.
constexpr double kMaxRatio = 1.5;

}  // namespace

std::string curve_text(const vibration::AttenuationSettings& s)
{
  if (!s.full) return fmt::format("{:.3g} r^-{:.2g}", s.C, s.beta);
  const std::string power = fmt::format("(r / {:.3g})^-{:.2g}", s.r0, s.beta);
  return s.alpha > 0 ? fmt::format("exp(-{:.3g} (r - {:.3g})) {}", s.alpha, s.r0, power) : power;
}

Image attenuation_picture(std::span<const vibration::AttenuationSample> samples,
                          std::span<const NamedCurve> curves, const AttenuationPictureDesc& desc)
{
  PlotSeries dots{.name = "measured", .opacity = 0.4f};
  for (const vibration::AttenuationSample& sample : samples) {
    dots.x.push_back(sample.distance);
    dots.y.push_back(sample.ratio);
  }
  const bool straight = desc.scale == AxisScale::linear;
  ValueRange x_range = plot_range(std::span(&dots, 1), true, desc.scale);
  ValueRange y_range = plot_range(std::span(&dots, 1), false, desc.scale);
  if (straight) {
    x_range.low = 0;
    y_range = {0, std::min(y_range.high, kMaxRatio)};
  }
  // Curves are drawn wherever they cross the picture, but they do not enlarge its range.
  std::vector<PlotSeries> series{dots};
  const double nearest = straight ? x_range.high / kCurvePoints : x_range.low;
  for (const NamedCurve& curve : curves) {
    PlotSeries line{.name = curve.name, .dot_radius = 0, .line_width = 3};
    for (int k = 0; k <= kCurvePoints; ++k) {
      const double t = static_cast<double>(k) / kCurvePoints;
      const double r = nearest * std::pow(x_range.high / nearest, t);
      line.x.push_back(r);
      line.y.push_back(vibration::attenuation(curve.settings, r));
    }
    series.push_back(std::move(line));
  }
  return draw_plot(series, {.width = desc.width,
                            .height = desc.height,
                            .title = desc.title,
                            .x = {"distance from the impact [m]", desc.scale, x_range},
                            .y = {"motion there / motion of the struck point", desc.scale, y_range}});
}

}  // namespace thrum::media
