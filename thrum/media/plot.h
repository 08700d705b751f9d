// SPDX-License-Identifier: MIT
// Plots of numbers: dots and lines over two axes, linear or logarithmic, with ticks, labels and a legend.
//
//   const PlotSeries measured{.name = "measured", .x = distance, .y = ratio};                // dots
//   const PlotSeries fit{.name = "fit", .x = r, .y = s, .dot_radius = 0, .line_width = 3};  // a line
//   PlotDesc desc{.title = "Attenuation", .x = {"distance [m]"}, .y = {"s", AxisScale::logarithmic}};
//   write_png("fit.png", draw_plot(std::vector{measured, fit}, desc));
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "thrum/media/colour_map.h"
#include "thrum/media/image.h"

namespace thrum::media {

enum class AxisScale { linear, logarithmic };

struct PlotAxis {
  std::string label = {};  ///< with its unit in brackets
  AxisScale scale = AxisScale::linear;
  std::optional<ValueRange> range = std::nullopt;  ///< default: all drawn values with a margin
};

/// Pairs of numbers in one colour. Values that are not finite, or not above 0 on a logarithmic axis, are
/// skipped; a line breaks there.
struct PlotSeries {
  std::string name = {};  ///< in the legend; empty: not listed
  std::vector<double> x = {};
  std::vector<double> y = {};
  std::optional<Colour> colour = std::nullopt;  ///< default: the next of plot_colour()
  double dot_radius = 3;                        ///< 0: no dots [pixel]
  double line_width = 0;                        ///< 0: no line [pixel]
  float opacity = 1;
};

struct PlotDesc {
  int width = 960;   ///< [pixel]
  int height = 640;  ///< [pixel]
  std::string title = {};
  PlotAxis x = {};
  PlotAxis y = {};
};

/// Colours that are distinguishable in print and with red-green colour blindness [Okabe and Ito], repeated
/// cyclically.
[[nodiscard]] Colour plot_colour(std::size_t number);

/// Position and label; the label of minor ticks is empty.
struct PlotTick {
  double value = 0;
  std::string text = {};
};

/// Round numbers in the range: multiples of a round step, or powers of ten with their multiples between.
[[nodiscard]] std::vector<PlotTick> plot_ticks(const ValueRange& range, AxisScale scale);

/// The range that shows every drawable value, with a margin on both sides; never empty.
[[nodiscard]] ValueRange plot_range(std::span<const PlotSeries> series, bool x_axis, AxisScale scale);

/// Later series are drawn over earlier ones. Throws Error when a series has different numbers of x and y
/// values, when a range is not ascending, or when a logarithmic one does not start above 0.
[[nodiscard]] Image draw_plot(std::span<const PlotSeries> series, const PlotDesc& desc = {});

}  // namespace thrum::media
