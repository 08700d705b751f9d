// SPDX-License-Identifier: MIT
// A picture of 8-bit sRGB pixels, row by row from the top, and PNG files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "thrum/base/colour.h"
#include "thrum/base/vec.h"

namespace thrum::media {

using base::Pixel;
using base::to_colour;
using base::to_pixel;

struct Image {
  Image() = default;
  Image(int width, int height, Pixel fill = {255, 255, 255});

  int width = 0;   ///< [pixel]
  int height = 0;  ///< [pixel]
  std::vector<Pixel> pixels;

  [[nodiscard]] Pixel& at(int x, int y) { return pixels[index(x, y)]; }
  [[nodiscard]] const Pixel& at(int x, int y) const { return pixels[index(x, y)]; }
  [[nodiscard]] bool contains(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }

 private:
  [[nodiscard]] std::size_t index(int x, int y) const
  {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
  }
};

/// Between light energy and displayed value, IEC 61966-2-1.
[[nodiscard]] float srgb_from_linear(float linear);
[[nodiscard]] float linear_from_srgb(float srgb);
[[nodiscard]] Colour srgb_from_linear(const Colour& linear);
[[nodiscard]] Colour linear_from_srgb(const Colour& srgb);

/// Blends `colour` over the pixel: 0 keeps it, 1 replaces it. Does nothing outside the image.
void blend(Image& image, int x, int y, const Colour& colour, float opacity);

/// Copies `picture` into `sheet` with its top left corner at (left, top); parts outside are clipped.
void paste(Image& sheet, const Image& picture, int left, int top);

/// Written under a temporary name and renamed. Throws Error, with the reason, when that fails.
void write_png(const std::filesystem::path& path, const Image& image);

/// Throws Error when the file is missing or not a PNG.
[[nodiscard]] Image read_png(const std::filesystem::path& path);

}  // namespace thrum::media
