// SPDX-License-Identifier: MIT
#include "thrum/sound/spectrogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "thrum/base/error.h"

namespace thrum::sound {
namespace {

AudioBuffer tones(int rate, double seconds, const std::vector<std::pair<double, double>>& amplitudes)
{
  AudioBuffer sound = make_silence(rate, 1, static_cast<std::size_t>(seconds * rate));
  for (std::size_t i = 0; i < sound.frame_count(); ++i) {
    for (const auto& [frequency, amplitude] : amplitudes) {
      sound.channels[0][i] +=
          amplitude * std::sin(2 * std::numbers::pi * frequency * static_cast<double>(i) / rate);
    }
  }
  return sound;
}

// A tone of 1 Pa has 91 dB (20 uPa), whatever the window, at its own frequency and all the time.
TEST(Spectrogram, LevelOfAToneIsItsSoundPressureLevel)
{
  for (const std::size_t window : {512u, 2048u}) {
    const double frequency = 20 * 48000.0 / static_cast<double>(window);  // on a line of the transform
    const Spectrogram s =
        make_spectrogram(tones(48000, 1, {{frequency, 1}}), {.window = window, .columns = 50});
    const double expected = 20 * std::log10(1 / std::sqrt(2) / 20e-6);
    ASSERT_EQ(s.levels.cols(), 50);
    for (const Eigen::Index column : {5, 25, 44}) {
      Eigen::Index row = 0;
      EXPECT_NEAR(s.levels.col(column).maxCoeff(&row), expected, 0.05);
      EXPECT_NEAR(static_cast<double>(row) * s.frequency_step, frequency, 1e-6);
      EXPECT_LT(s.levels(row + 10, column), expected - 80);
    }
  }
}

TEST(Spectrogram, ShowsWhenASoundBegins)
{
  AudioBuffer sound = tones(48000, 1, {{3000, 1}});
  std::fill_n(sound.channels[0].begin(), 24000, 0.0);
  const Spectrogram s = make_spectrogram(sound, {.window = 512, .columns = 100});
  const auto row = static_cast<Eigen::Index>(3000 / s.frequency_step);
  EXPECT_LT(s.levels(row, 48), -100);
  EXPECT_GT(s.levels(row, 52), 80);
  EXPECT_DOUBLE_EQ(s.duration, 1);
}

TEST(Spectrogram, PeaksAreTheFrequenciesOfTheTones)
{
  for (const int rate : {44100, 96000}) {
    const AudioBuffer sound = tones(rate, 0.5, {{432.1, 0.1}, {1234.5, 1}, {7890.1, 0.01}});
    const std::vector<double> peaks = spectral_peaks(sound, 0, 0.5, 3);
    ASSERT_EQ(peaks.size(), 3u);
    EXPECT_NEAR(peaks[0], 1234.5, 0.1);
    EXPECT_NEAR(peaks[1], 432.1, 0.1);
    EXPECT_NEAR(peaks[2], 7890.1, 0.1);
  }
}

TEST(Spectrogram, CentroidIsTheMeanFrequencyOfThePower)
{
  const AudioBuffer sound = tones(48000, 0.5, {{1000, 1}, {4000, 2}});
  EXPECT_NEAR(spectral_centroid(sound, 0.1, 0.4), (1000 + 4 * 4000) / 5.0, 5);
}

TEST(Spectrogram, RejectsWhatItCannotShow)
{
  EXPECT_THROW(static_cast<void>(make_spectrogram(make_silence(48000, 1, 0))), Error);
  EXPECT_THROW(static_cast<void>(make_spectrogram(tones(48000, 0.1, {}), {.window = 511})), Error);
  EXPECT_THROW(static_cast<void>(spectral_peaks(tones(48000, 0.1, {}), 0.5, 0.6, 1)), Error);
  EXPECT_LT(make_spectrogram(make_silence(48000, 1, 100), {.columns = 3}).levels.maxCoeff(), -300);
}

}  // namespace
}  // namespace thrum::sound
