// SPDX-License-Identifier: MIT
#include "thrum/sound/loudness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "thrum/base/error.h"

namespace thrum::sound {
namespace {

/// A sine of `decibel` relative to full scale in the first of `channels` channels.
AudioBuffer sine(int rate, double seconds, double frequency, double decibel, std::size_t channels = 1)
{
  AudioBuffer sound = make_silence(rate, channels, static_cast<std::size_t>(seconds * rate));
  for (std::size_t i = 0; i < sound.frame_count(); ++i) {
    sound.channels[0][i] = std::pow(10, decibel / 20) *
                           std::sin(2 * std::numbers::pi * frequency * static_cast<double>(i) / rate);
  }
  return sound;
}

void add(AudioBuffer& sound, const AudioBuffer& more)
{
  append(sound, more);
}

// The standard's own check.
TEST(Loudness, SineOf997HertzAtFullScaleIsMinus3At44To192Kilohertz)
{
  for (const int rate : {44100, 48000, 88200, 96000, 192000}) {
    EXPECT_NEAR(measure_loudness(sine(rate, 3, 997, 0)).integrated, -3.01, 0.01) << rate;
    EXPECT_NEAR(measure_loudness(sine(rate, 3, 997, -20)).integrated, -23.01, 0.01) << rate;
  }
  AudioBuffer both = sine(48000, 3, 997, -23, 2);
  both.channels[1] = both.channels[0];
  EXPECT_NEAR(measure_loudness(both).integrated, -23, 0.02);  // EBU 3341, signal 1
}

// ITU-R BS.1770-4, tables 1 and 2.
TEST(Loudness, FiltersAt48KilohertzAreThoseOfTheStandard)
{
  const auto [shelf, high_pass] = k_weighting(48000);
  EXPECT_NEAR(shelf.b0, 1.53512485958697, 1e-10);
  EXPECT_NEAR(shelf.b1, -2.69169618940638, 1e-10);
  EXPECT_NEAR(shelf.b2, 1.19839281085285, 1e-10);
  EXPECT_NEAR(shelf.a1, -1.69065929318241, 1e-10);
  EXPECT_NEAR(shelf.a2, 0.73248077421585, 1e-10);
  EXPECT_NEAR(high_pass.a1, -1.99004745483398, 1e-10);
  EXPECT_NEAR(high_pass.a2, 0.99007225036621, 1e-10);
}

TEST(Loudness, WeightingIsTheSameAtEveryRate)
{
  const auto response = [](double rate, double frequency) {
    const std::complex<double> z = std::polar(1.0, -2 * std::numbers::pi * frequency / rate);
    std::complex<double> product = 1;
    for (const Biquad& f : k_weighting(rate)) {
      product *= (f.b0 + f.b1 * z + f.b2 * z * z) / (1.0 + f.a1 * z + f.a2 * z * z);
    }
    return 20 * std::log10(std::abs(product));
  };
  for (const double rate : {44100.0, 96000.0, 192000.0}) {
    for (const double f : {30.0, 100.0, 1000.0, 3000.0, 8000.0}) {
      EXPECT_NEAR(response(rate, f), response(48000, f), 0.1) << rate << ", " << f;
    }
  }
}

// EBU Tech 3341, signals 3 and 4: quiet parts do not count.
TEST(Loudness, GatesLeaveOutQuietParts)
{
  AudioBuffer three = sine(48000, 10, 997, -36, 2);
  add(three, sine(48000, 60, 997, -23, 2));
  add(three, sine(48000, 10, 997, -36, 2));
  three.channels[1] = three.channels[0];
  EXPECT_NEAR(measure_loudness(three).integrated, -23, 0.1);
  AudioBuffer four = sine(48000, 10, 997, -72, 2);
  add(four, three);
  add(four, sine(48000, 10, 997, -72, 2));
  four.channels[1] = four.channels[0];
  EXPECT_NEAR(measure_loudness(four).integrated, -23, 0.1);
}

TEST(Loudness, WeightsAndFullScale)
{
  const AudioBuffer sound = sine(48000, 2, 997, 0, 2);
  EXPECT_NEAR(measure_loudness(sound, {.full_scale = 10}).integrated, -23.01, 0.01);
  EXPECT_NEAR(measure_loudness(sound, {.weights = {1.41, 1}}).integrated, -3.01 + 10 * std::log10(1.41),
              0.01);
  EXPECT_FALSE(std::isfinite(measure_loudness(sound, {.weights = {0, 1}}).integrated));
  EXPECT_NEAR(measure_loudness(sound).peak, 0, 0.01);
  EXPECT_THROW(static_cast<void>(measure_loudness(sound, {.weights = {1}})), Error);
  EXPECT_THROW(static_cast<void>(measure_loudness(sound, {.full_scale = 0})), Error);
}

TEST(Loudness, ShortSoundAndSilence)
{
  // A quarter of a block: 6 dB less than the whole block would have.
  EXPECT_NEAR(measure_loudness(sine(48000, 0.1, 997, 0)).integrated, -3.01 - 6.02, 0.1);
  const AudioBuffer silence = make_silence(48000, 2, 48000);
  EXPECT_FALSE(std::isfinite(measure_loudness(silence).integrated));
  EXPECT_EQ(normalising_gain(silence), 1);
  EXPECT_EQ(normalising_gain(make_silence(48000, 1, 0)), 1);
}

// A tone that dies away over ten seconds: the absolute gate leaves out more of it the softer it is made, so
// that the loudness of the whole does not follow the gain.
TEST(Loudness, NormalisingReachesTheTargetWhateverTheGateLeavesOut)
{
  for (const double decibels_per_second : {4.0, 8.0, 16.0}) {
    AudioBuffer sound = make_silence(48000, 1, 48000 * 10);
    std::vector<double>& samples = sound.channels[0];
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double t = static_cast<double>(i) / 48000;
      samples[i] = std::pow(10, -decibels_per_second * t / 20) * std::sin(2 * std::numbers::pi * 1000 * t);
    }
    const double reached = normalising_gain(sound, {.target = -50});
    EXPECT_NEAR(measure_loudness(sound, {.full_scale = 1 / reached}).integrated, -50, 0.1)
        << decibels_per_second;
  }
}

TEST(Loudness, NormalisingReachesTheTargetOrThePeak)
{
  AudioBuffer quiet = sine(48000, 2, 997, -50);
  EXPECT_NEAR(20 * std::log10(normalise(quiet, {.target = -20})), 33.01, 0.02);
  EXPECT_NEAR(measure_loudness(quiet).integrated, -20, 0.02);
  AudioBuffer click = make_silence(48000, 1, 48000);
  click.channels[0][100] = 0.01;
  normalise(click, {.target = -18, .max_peak = -1});
  EXPECT_NEAR(20 * std::log10(peak(click)), -1, 1e-9);
}

}  // namespace
}  // namespace thrum::sound
