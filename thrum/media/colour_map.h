// SPDX-License-Identifier: MIT
// Colours for numbers.
//
// Both maps are built in OKLab, a space in which equal distances look equally different [Ottosson, "A
// perceptual colour space for image processing", 2020]: equal steps of the number are equal steps for the
// eye, lightness rises (or falls from the middle) evenly, and they are distinguishable in greyscale and with
// red-green colour blindness.
#pragma once

#include <span>
#include <string>

#include "thrum/media/image.h"

namespace thrum::media {

enum class ColourMap {
  sequential,  ///< dark violet over blue and green to light yellow: amounts, distances from a source
  diverging,   ///< blue below zero, near white at zero, red above: signed distances, differences
};

/// The colour at t in [0, 1]; t is clamped, and a number that is not finite is grey.
[[nodiscard]] Colour colour_of(ColourMap map, double t);

/// For undefined values, such as unreachable points.
[[nodiscard]] Colour missing_colour();

/// The values shown by the first and the last colour.
struct ValueRange {
  double low = 0;
  double high = 1;

  /// Where `value` lies in the range, 0 at `low`, 1 at `high`; not clamped.
  [[nodiscard]] double fraction(double value) const { return (value - low) / (high - low); }
};

/// From the smallest to the largest finite value, never empty; a diverging map gets a range symmetric about
/// zero.
[[nodiscard]] ValueRange range_of(std::span<const double> values, ColourMap map = ColourMap::sequential);

/// A step of 1, 2 or 5 times a power of ten that cuts the range into about `count` parts.
[[nodiscard]] double round_step(const ValueRange& range, int count);

/// A multiple of a round step with as many digits as the step needs, without rounding errors.
[[nodiscard]] std::string tick_text(double value, double step);

/// How much of a pixel a line at every multiple of `spacing` covers, 0 to 1. `change` is by how much the
/// value changes across one pixel, `width` the width of the line [pixel].
[[nodiscard]] double iso_line_coverage(double value, double spacing, double change, double width = 1.2);

/// Displayed colour of OKLab coordinates, with as much chroma as the display can show; and the reverse.
[[nodiscard]] Colour colour_from_oklab(const Vec3& lab);
[[nodiscard]] Vec3 oklab_from_colour(const Colour& colour);

}  // namespace thrum::media
