// SPDX-License-Identifier: MIT
#include "thrum/media/image.h"

#include <fmt/format.h>
#include <stb_image.h>
#include <stb_image_write.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::media {
namespace {
constexpr int kMaxImageSide = 32768;
}

Image::Image(int w, int h, Pixel fill) : width(w), height(h)
{
  if (w < 1 || h < 1 || w > kMaxImageSide || h > kMaxImageSide) {
    throw Error(fmt::format("An image of {} x {} pixels is not possible; width and height must be 1 to {}.",
                            w, h, kMaxImageSide));
  }
  pixels.assign(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), fill);
}

float srgb_from_linear(float c)
{
  return c <= 0.0031308f ? 12.92f * c : 1.055f * std::pow(c, 1 / 2.4f) - 0.055f;
}
float linear_from_srgb(float c)
{
  return c <= 0.04045f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f);
}

Colour srgb_from_linear(const Colour& c)
{
  return {srgb_from_linear(c.x()), srgb_from_linear(c.y()), srgb_from_linear(c.z())};
}

Colour linear_from_srgb(const Colour& c)
{
  return {linear_from_srgb(c.x()), linear_from_srgb(c.y()), linear_from_srgb(c.z())};
}

void blend(Image& image, int x, int y, const Colour& colour, float opacity)
{
  if (!image.contains(x, y)) return;
  Pixel& pixel = image.at(x, y);
  pixel = to_pixel((1 - opacity) * to_colour(pixel) + opacity * colour);
}

void paste(Image& sheet, const Image& picture, int left, int top)
{
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      if (sheet.contains(left + x, top + y)) sheet.at(left + x, top + y) = picture.at(x, y);
    }
  }
}

void write_png(const std::filesystem::path& path, const Image& image)
{
  if (image.pixels.empty()) throw Error(fmt::format("Cannot write {}: the image is empty.", path.string()));
  base::AtomicFile file(path);
  const auto put = [](void* context, void* data, int size) {
    static_cast<base::AtomicFile*>(context)->write(std::span(static_cast<const std::byte*>(data), at(size)));
  };
  if (stbi_write_png_to_func(put, &file, image.width, image.height, 3, image.pixels.data(),
                             3 * image.width) == 0) {
    throw Error(fmt::format("Cannot write {}: PNG compression failed.", path.string()));
  }
  file.commit();
}

Image read_png(const std::filesystem::path& path)
{
  const std::vector<std::byte> bytes = base::read_file(path);
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> data(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()),
                            &width, &height, &channels, 3),
      stbi_image_free);
  if (!data) throw Error(fmt::format("Cannot read {}: {}.", path.string(), stbi_failure_reason()));
  Image image(width, height);
  std::memcpy(image.pixels.data(), data.get(), image.pixels.size() * sizeof(Pixel));
  return image;
}

}  // namespace thrum::media
