// SPDX-License-Identifier: MIT
// Colours as displayed, in floating point and in 8 bits.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace thrum::base {

/// Red, green and blue as displayed (sRGB), each in [0, 1].
using Colour = Eigen::Vector3f;
/// The same, each in [0, 255].
using Pixel = std::array<std::uint8_t, 3>;

[[nodiscard]] inline Pixel to_pixel(const Colour& colour)
{
  const auto level = [](float c) {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(c, 0.0f, 1.0f)));
  };
  return {level(colour.x()), level(colour.y()), level(colour.z())};
}

[[nodiscard]] inline Colour to_colour(const Pixel& p)
{
  return Colour(p[0], p[1], p[2]) / 255.0f;
}

}  // namespace thrum::base

namespace thrum {
using base::Colour;
}  // namespace thrum
