// SPDX-License-Identifier: MIT
#include "thrum/media/sound_picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "thrum/base/error.h"

namespace thrum::media {
namespace {

sound::AudioBuffer tone(double frequency, double seconds)
{
  sound::AudioBuffer sound = sound::make_silence(48000, 1, static_cast<std::size_t>(seconds * 48000));
  for (std::size_t i = 0; i < sound.frame_count(); ++i) {
    sound.channels[0][i] = std::sin(2 * std::numbers::pi * frequency * static_cast<double>(i) / 48000);
  }
  return sound;
}

int brightness(const Pixel& pixel)
{
  return pixel[0] + pixel[1] + pixel[2];
}

/// The brightest row of a column between the borders of the frame.
int brightest_row(const Image& image, int x)
{
  int best = 50;
  for (int y = 50; y < image.height - 70; ++y) {
    if (brightness(image.at(x, y)) > brightness(image.at(x, best))) best = y;
  }
  return best;
}

// Ten times the frequency is a fixed number of rows higher on a logarithmic axis, whatever the frequency.
TEST(SpectrogramPicture, TonesLieOnALogarithmicAxis)
{
  const auto row = [](double frequency) {
    return brightest_row(spectrogram_picture(make_spectrogram(tone(frequency, 0.5), {.window = 8192})), 500);
  };
  const int decade = row(300) - row(3000);
  EXPECT_NEAR(row(1200) - row(12000), decade, 3);
  EXPECT_NEAR(row(300) - row(600), decade * std::log10(2), 3);
  EXPECT_GT(decade, 100);
}

TEST(SpectrogramPicture, MarkedFrequenciesAreOnTheirTone)
{
  const auto levels = make_spectrogram(tone(2000, 0.5));
  const Image plain = spectrogram_picture(levels);
  const Image marked = spectrogram_picture(levels, {.lines = {2000, 9000, 1e6}});
  std::vector<int> rows;
  for (int y = 40; y < plain.height - 65; ++y) {
    for (int x = 300; x < 320; ++x) {
      if (plain.at(x, y) == marked.at(x, y)) continue;
      if (rows.empty() || rows.back() != y) rows.push_back(y);
    }
  }
  ASSERT_EQ(rows.size(), 2u);  // the third is outside
  EXPECT_NEAR(rows[1], brightest_row(plain, 500), 3);
  // Of more than wanted, the louder ones: that of the tone.
  const Image one = spectrogram_picture(levels, {.lines = {9000, 1e6, 2000, 300}, .max_lines = 1});
  for (int y = 40; y < plain.height - 65; ++y) {
    for (int x = 300; x < 320; ++x) EXPECT_EQ(one.at(x, y), y == rows[1] ? marked.at(x, y) : plain.at(x, y));
  }
}

TEST(SpectrogramPicture, SilenceIsDarkAndNothingIsRejected)
{
  auto sound = tone(2000, 1);
  std::fill_n(sound.channels[0].begin(), 24000, 0.0);
  const Image image = spectrogram_picture(make_spectrogram(sound));
  const int y = brightest_row(image, 900);
  EXPECT_LT(brightness(image.at(200, y)), 200);
  EXPECT_GT(brightness(image.at(900, y)), 500);
  EXPECT_THROW(static_cast<void>(spectrogram_picture(make_spectrogram(sound), {.min_frequency = 30000})),
               Error);
  EXPECT_THROW(static_cast<void>(spectrogram_picture(make_spectrogram(sound), {.width = 100})), Error);
  EXPECT_THROW(static_cast<void>(waveform_picture({})), Error);
}

TEST(WaveformPicture, ShowsWhereTheSoundIs)
{
  auto sound = tone(5000, 1);
  std::fill_n(sound.channels[0].begin(), 24000, 0.0);
  sound.channels.push_back(std::vector<double>(48000, 0.0));
  const Image image = waveform_picture(sound, {.channel_names = {"left", "right"}});
  const auto inked = [&](int x, int top, int bottom) {
    int count = 0;
    for (int y = top; y < bottom; ++y) count += brightness(image.at(x, y)) < 500 ? 1 : 0;
    return count;
  };
  EXPECT_LT(inked(300, 42, 270), 3);     // silent half
  EXPECT_GT(inked(1000, 42, 270), 150);  // full amplitude
  EXPECT_LT(inked(1000, 282, 510), 3);   // silent channel
}

}  // namespace
}  // namespace thrum::media
