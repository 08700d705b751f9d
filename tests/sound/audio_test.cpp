// SPDX-License-Identifier: MIT
#include "thrum/sound/audio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "thrum/base/error.h"

namespace thrum::sound {
namespace {

TEST(AudioBuffer, RmsOfASineIsItsAmplitudeOverRootTwo)
{
  AudioBuffer buffer = make_silence(8000, 2, 8000);
  for (std::size_t i = 0; i < 8000; ++i) {
    const double phase = 2 * std::numbers::pi * 100 * static_cast<double>(i) / 8000;
    buffer.channels[0][i] = buffer.channels[1][i] = 3 * std::sin(phase);
  }
  EXPECT_NEAR(rms(buffer, 0.1, 0.6), 3 / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(peak(buffer), 3, 1e-12);
  EXPECT_EQ(rms(buffer, 0.5, 0.5), 0);
  EXPECT_EQ(rms(buffer, 2, 3), 0);
  EXPECT_EQ(buffer.duration(), 1);
}

TEST(AudioBuffer, BlocksOfAnotherFormatAreRejected)
{
  AudioBuffer buffer = make_silence(48000, 1, 10);
  append(buffer, make_silence(48000, 1, 5));
  EXPECT_EQ(buffer.frame_count(), 15U);
  EXPECT_THROW(append(buffer, make_silence(44100, 1, 5)), Error);
  EXPECT_THROW(append(buffer, make_silence(48000, 2, 5)), Error);
}

}  // namespace
}  // namespace thrum::sound
