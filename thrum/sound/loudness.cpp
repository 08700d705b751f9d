// SPDX-License-Identifier: MIT
#include "thrum/sound/loudness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "thrum/base/error.h"

namespace thrum::sound {

namespace {

constexpr double kOffset = -0.691;         ///< so that 997 Hz at full scale is -3.01 LUFS
constexpr double kAbsoluteGate = -70;      ///< [LUFS]
constexpr double kRelativeGate = -10;      ///< [LU]
constexpr double kBlock = 0.4;             ///< [s]
constexpr std::size_t kStepsPerBlock = 4;  ///< blocks overlap by three quarters

/// Mean squares of the weighted channel over steps of a quarter of a block.
std::vector<double> step_powers(std::span<const double> channel, int sample_rate, std::size_t step,
                                std::size_t steps, double full_scale)
{
  const std::array<Biquad, 2> stages = k_weighting(sample_rate);
  std::array<std::array<double, 2>, 2> state{};  // transposed direct form
  std::vector<double> powers(steps, 0.0);
  for (std::size_t i = 0; i < step * steps; ++i) {
    double x = i < channel.size() ? channel[i] / full_scale : 0;
    for (std::size_t s = 0; s < 2; ++s) {
      const Biquad& f = stages[s];
      const double y = f.b0 * x + state[s][0];
      state[s][0] = f.b1 * x - f.a1 * y + state[s][1];
      state[s][1] = f.b2 * x - f.a2 * y;
      x = y;
    }
    powers[i / step] += x * x / static_cast<double>(step);
  }
  return powers;
}

double loudness_of(double power)
{
  return power > 0 ? kOffset + 10 * std::log10(power) : -std::numeric_limits<double>::infinity();
}

/// The mean of the powers of blocks above a gate [LUFS]; 0 when there is none.
double gated_mean(std::span<const double> powers, double gate)
{
  double sum = 0;
  std::size_t count = 0;
  for (const double power : powers) {
    if (!(loudness_of(power) > gate)) continue;
    sum += power;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

}  // namespace

// The standard prints coefficients for 48 kHz. These analogue prototypes give them, and the same response at
// every other rate: a high shelf of 4 dB at 1682 Hz, and a high pass at 38 Hz.
std::array<Biquad, 2> k_weighting(double sample_rate)
{
  const auto bilinear = [&](double frequency) {
    return std::tan(std::numbers::pi * frequency / sample_rate);
  };
  Biquad shelf;
  {
    constexpr double kQ = 0.7071752369554196;
    const double K = bilinear(1681.974450955533);
    const double high = std::pow(10, 3.999843853973347 / 20);
    const double band = std::pow(high, 0.4996667741545416);
    const double a0 = 1 + K / kQ + K * K;
    shelf = {(high + band * K / kQ + K * K) / a0, 2 * (K * K - high) / a0,
             (high - band * K / kQ + K * K) / a0, 2 * (K * K - 1) / a0, (1 - K / kQ + K * K) / a0};
  }
  constexpr double kQ = 0.5003270373238773;
  constexpr double kFrequency = 38.13547087602444;
  const double K = bilinear(kFrequency);
  const double a0 = 1 + K / kQ + K * K;
  // The standard's numerator is 1, -2, 1: a gain of a0 at high frequencies, kept as it is at 48 kHz.
  const double K48 = std::tan(std::numbers::pi * kFrequency / 48000);
  const double b = (1 + K48 / kQ + K48 * K48) / a0;
  const Biquad high_pass{b, -2 * b, b, 2 * (K * K - 1) / a0, (1 - K / kQ + K * K) / a0};
  return {shelf, high_pass};
}

LoudnessReport measure_loudness(const AudioBuffer& sound, const LoudnessDesc& desc)
{
  if (!desc.weights.empty() && desc.weights.size() != sound.channels.size()) {
    throw Error(
        fmt::format("There are {} weights for {} channels.", desc.weights.size(), sound.channels.size()));
  }
  if (!(desc.full_scale > 0))
    throw Error(fmt::format("Full scale is {} Pa; it must be positive.", desc.full_scale));
  const auto step = static_cast<std::size_t>(std::lround(kBlock / kStepsPerBlock * sound.sample_rate));
  const std::size_t steps = std::max(kStepsPerBlock, sound.frame_count() / step);
  std::vector<double> sums(steps, 0.0);
  for (std::size_t c = 0; c < sound.channels.size(); ++c) {
    const double weight = desc.weights.empty() ? 1 : desc.weights[c];
    if (weight == 0) continue;
    const auto powers = step_powers(sound.channels[c], sound.sample_rate, step, steps, desc.full_scale);
    for (std::size_t s = 0; s < steps; ++s) sums[s] += weight * powers[s];
  }
  std::vector<double> blocks;
  for (std::size_t s = 0; s + kStepsPerBlock <= steps; ++s) {
    double sum = 0;
    for (std::size_t k = 0; k < kStepsPerBlock; ++k) sum += sums[s + k];
    blocks.push_back(sum / kStepsPerBlock);
  }
  const double ungated = gated_mean(blocks, kAbsoluteGate);
  const double gate = std::max(kAbsoluteGate, loudness_of(ungated) + kRelativeGate);
  LoudnessReport report;
  report.integrated = loudness_of(gated_mean(blocks, gate));
  report.max_momentary = loudness_of(*std::max_element(blocks.begin(), blocks.end()));
  report.peak = 20 * std::log10(peak(sound) / desc.full_scale);
  return report;
}

// Measured relative to the peak, so that sound below the absolute gate is brought up as well.
// Blocks that pass the absolute gate at one gain may not pass it at another, so that the loudness does not
// simply follow the gain: it is measured again at what was found.
double normalising_gain(const AudioBuffer& sound, const NormaliseDesc& desc)
{
  constexpr int kMaxRounds = 8;
  constexpr double kCloseEnough = 0.01;  // [LU]
  const double largest = peak(sound);
  if (!(largest > 0)) return 1;
  double level = desc.max_peak;  // of the peak [dBFS]
  for (int round = 0; round < kMaxRounds; ++round) {
    LoudnessDesc at_level = desc.loudness;
    at_level.full_scale = largest * std::pow(10, -level / 20);
    const double loudness = measure_loudness(sound, at_level).integrated;
    if (!std::isfinite(loudness) || std::abs(loudness - desc.target) < kCloseEnough) break;
    const double next = std::min(level + desc.target - loudness, desc.max_peak);
    if (next == level) break;
    level = next;
  }
  return desc.loudness.full_scale / largest * std::pow(10, level / 20);
}

double normalise(AudioBuffer& sound, const NormaliseDesc& desc)
{
  const double gain = normalising_gain(sound, desc);
  for (auto& channel : sound.channels) {
    for (double& sample : channel) sample *= gain;
  }
  return gain;
}

}  // namespace thrum::sound
