// SPDX-License-Identifier: MIT
#include "thrum/media/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/parallel.h"
#include "thrum/media/bitmap_font.h"
#include "thrum/media/render.h"

namespace thrum::media {
namespace {

constexpr int kIsoLines = 15;  ///< approximate number when no spacing is given
constexpr int kTicks = 6;
const Colour kInk(0.20f, 0.21f, 0.23f);
const Colour kPaper(0.955f, 0.957f, 0.96f);

std::string caption(const PictureDesc& desc)
{
  return desc.unit.empty() ? desc.title : fmt::format("{} [{}]", desc.title, desc.unit);
}

/// A dot of the font is two pixels in a picture of default size.
int font_scale(const Image& image)
{
  return std::max(1, image.height / 270);
}

/// The text cut at spaces into lines that fit; a word that is longer than a line gets its own line.
std::vector<std::string> wrapped(const std::string& text, int room, int scale)
{
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!lines.empty() && text_width(lines.back() + " " + word, scale) <= room) {
      lines.back() += " " + word;
    } else if (!word.empty()) {
      lines.push_back(word);
    }
    at = end + 1;
  }
  return lines;
}

}  // namespace

void draw_legend(Image& image, ColourMap map, const ValueRange& range, const std::string& title)
{
  const int scale = font_scale(image);
  const int bar_width = 8 * scale;
  const int bar_height = image.height * 6 / 10;
  const int left = image.width - bar_width - 40 * scale;
  const int top = (image.height - bar_height) / 2;
  for (int y = -1; y <= bar_height; ++y) {
    const double t = 1 - (y + 0.5) / bar_height;
    for (int x = -1; x <= bar_width; ++x) {
      const bool frame = y < 0 || y == bar_height || x < 0 || x == bar_width;
      blend(image, left + x, top + y, frame ? kInk : colour_of(map, t), frame ? 0.5f : 1.0f);
    }
  }
  // Round numbers beside it.
  const double step = round_step(range, kTicks);
  const double slack = step / 1000;
  for (double k = std::ceil((range.low - slack) / step); k * step <= range.high + slack; k += 1) {
    const int y = top + static_cast<int>(std::lround((1 - range.fraction(k * step)) * (bar_height - 1)));
    for (int x = 0; x < 3 * scale; ++x) blend(image, left + bar_width + 1 + x, y, kInk, 0.8f);
    draw_text(image, left + bar_width + 5 * scale, y - text_height(scale) / 2, tick_text(k * step, step),
              kInk, scale);
  }
  // The title above it, wrapped to the width beside the picture.
  const int centre = left + (image.width - left) / 2 - 2 * scale;
  const int room = 2 * (image.width - centre) - 4 * scale;
  const std::vector<std::string> lines = wrapped(title, room, scale);
  int y = top - static_cast<int>(lines.size()) * (text_height(scale) + 4 * scale) - 4 * scale;
  for (const std::string& line : lines) {
    draw_text(image, centre - text_width(line, scale) / 2, y, line, kInk, scale);
    y += text_height(scale) + 4 * scale;
  }
}

Image picture_of_mesh(const mesh::TriangleMesh& mesh, std::span<const double> scalar, const PictureDesc& desc)
{
  const bool coloured = !scalar.empty();
  const ColourMap map = desc.map.value_or(ColourMap::sequential);
  const ValueRange range = desc.range.value_or(range_of(scalar, map));
  RenderBody body{.mesh = &mesh, .scalar = scalar, .map = map, .range = range};
  if (coloured && (desc.iso_lines || desc.iso_spacing > 0)) {
    body.iso_spacing = desc.iso_spacing > 0 ? desc.iso_spacing : round_step(range, kIsoLines);
  }
  RenderScene scene;
  scene.bodies.push_back(body);
  scene.ground = desc.ground;
  // Room for the legend at the right is left free on both sides, so that the mesh stays in the middle.
  const bool legend = coloured && desc.legend;
  const double aspect = static_cast<double>(desc.width) / desc.height * (legend ? 0.84 : 1.0);
  Image image = render(scene, frame_box(mesh::bounding_box(mesh), aspect, desc.from),
                       {.width = desc.width, .height = desc.height, .background = kPaper});
  if (legend) draw_legend(image, map, range, caption(desc));
  return image;
}

Image picture_of_mesh(const mesh::TriangleMesh& mesh, const PictureDesc& desc)
{
  return picture_of_mesh(mesh, std::span<const double>(), desc);
}

SlicePlane slice_of_box(const Box3& box, int axis, double margin)
{
  if (axis < 0 || axis > 2)
    throw Error(fmt::format("The axis of a slice is {}; it must be 0, 1 or 2.", axis));
  const Vec3 half = (0.5 + margin) * box.sizes();
  const int right = axis == 0 ? 1 : 0;
  const int up = axis == 2 ? 1 : 2;
  return {box.center(), half[right] * Vec3::Unit(right), half[up] * Vec3::Unit(up)};
}

Image picture_of_slice(const std::function<double(const Vec3&)>& function, const SlicePlane& plane,
                       const PictureDesc& desc)
{
  // The rectangle is fitted into the picture with square pixels; the rest of the picture shows the
  // surroundings.
  const double room = desc.legend ? 0.84 : 1.0;
  const double pixel =
      std::max(2 * plane.half_right.norm() / (desc.width * room), 2 * plane.half_up.norm() / desc.height);
  const Vec3 right = plane.half_right.normalized() * pixel;
  const Vec3 up = plane.half_up.normalized() * pixel;
  const int shown = desc.legend ? static_cast<int>(desc.width * room) : desc.width;
  Image image(desc.width, desc.height, to_pixel(kPaper));
  const auto at = [&](int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(shown) + static_cast<std::size_t>(x);
  };
  std::vector<double> values(static_cast<std::size_t>(shown) * static_cast<std::size_t>(desc.height));
  base::parallel_for(static_cast<std::size_t>(desc.height), [&](std::size_t row) {
    const int y = static_cast<int>(row);
    for (int x = 0; x < shown; ++x) {
      const Vec3 p = plane.centre + (x + 0.5 - shown / 2.0) * right - (y + 0.5 - desc.height / 2.0) * up;
      values[at(x, y)] = function(p);
    }
  });

  const ColourMap map = desc.map.value_or(ColourMap::diverging);
  const ValueRange range = desc.range.value_or(range_of(values, map));
  const double spacing = desc.iso_spacing > 0 ? desc.iso_spacing : round_step(range, 2 * kIsoLines);
  for (int y = 0; y < desc.height; ++y) {
    for (int x = 0; x < shown; ++x) {
      const double v = values[at(x, y)];
      const double dx = values[at(std::min(x + 1, shown - 1), y)] - values[at(std::max(x - 1, 0), y)];
      const double dy = values[at(x, std::min(y + 1, desc.height - 1))] - values[at(x, std::max(y - 1, 0))];
      const double change = std::hypot(dx, dy) / 2;
      image.at(x, y) = to_pixel(colour_of(map, range.fraction(v)));
      blend(image, x, y, kInk, 0.35f * static_cast<float>(iso_line_coverage(v, spacing, change, 1.0)));
      // The zero line: twice as wide, nearly black.
      const double off = change > 0 ? std::abs(v) / change : INFINITY;
      blend(image, x, y, kInk * 0.5f, static_cast<float>(std::clamp(1.75 - off, 0.0, 1.0)));
    }
  }
  if (desc.legend) draw_legend(image, map, range, caption(desc));
  return image;
}

}  // namespace thrum::media
