// SPDX-License-Identifier: MIT
#include "thrum/media/image.h"

#include <gtest/gtest.h>

#include "tests/base/scratch_folder.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/media/bitmap_font.h"

namespace thrum::media {
namespace {

TEST(Image, RoundTripsThroughAPng)
{
  const base::ScratchFolder folder;
  Image image(37, 11);
  for (int y = 0; y < 11; ++y) {
    for (int x = 0; x < 37; ++x) {
      image.at(x, y) = {static_cast<std::uint8_t>(7 * x), static_cast<std::uint8_t>(20 * y), 128};
    }
  }
  write_png(folder / "a.png", image);
  const Image read = read_png(folder / "a.png");
  EXPECT_EQ(read.width, 37);
  EXPECT_EQ(read.height, 11);
  EXPECT_EQ(read.pixels, image.pixels);
}

TEST(Image, ReportsErrors)
{
  const base::ScratchFolder folder;
  base::write_file(folder / "a.png", "not a picture");
  EXPECT_THROW(static_cast<void>(read_png(folder / "a.png")), Error);
  EXPECT_THROW(write_png(folder / "no/a.png", Image(2, 2)), Error);
  EXPECT_THROW(write_png(folder / "b.png", Image()), Error);
  EXPECT_THROW(Image(0, 5), Error);
}

TEST(Srgb, RoundTrips)
{
  for (int i = 0; i <= 255; ++i) {
    const float c = static_cast<float>(i) / 255.0f;
    EXPECT_NEAR(srgb_from_linear(linear_from_srgb(c)), c, 1e-6f);
  }
}

TEST(BitmapFont, DrawsInsideItsBoxAndEveryCharacterDiffers)
{
  std::vector<std::vector<Pixel>> seen;
  for (char c = ' '; c <= '~'; ++c) {
    Image image(20, 20);
    const std::string_view text(&c, 1);
    draw_text(image, 3, 2, text, {0, 0, 0}, 2);
    for (int y = 0; y < 20; ++y) {
      for (int x = 0; x < 20; ++x) {
        const bool inside = x >= 3 && x < 3 + text_width(text) && y >= 2 && y < 2 + text_height();
        EXPECT_TRUE(inside || image.at(x, y) == (Pixel{255, 255, 255}));
      }
    }
    for (const auto& other : seen) EXPECT_NE(other, image.pixels) << c;
    seen.push_back(image.pixels);
  }
}

TEST(Image, PastesAndClips)
{
  Image sheet(4, 3, {0, 0, 0});
  const Image picture(2, 2, {9, 9, 9});
  paste(sheet, picture, 1, 1);
  paste(sheet, picture, 3, -1);
  paste(sheet, picture, 10, 10);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 4; ++x) {
      const bool inside = (x >= 1 && x <= 2 && y >= 1) || (x == 3 && y == 0);
      EXPECT_EQ(sheet.at(x, y)[0], inside ? 9 : 0) << x << " " << y;
    }
  }
}

}  // namespace
}  // namespace thrum::media
