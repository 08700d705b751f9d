// SPDX-License-Identifier: MIT
#include "thrum/sound/spectrogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "thrum/base/error.h"
#include "thrum/sound/transform.h"

namespace thrum::sound {

namespace {

constexpr double kSilence = -400;  ///< level of nothing [dB]

/// Sums of cosines; the coefficients alternate in sign.
using Window = std::array<double, 4>;
constexpr Window kHann{0.5, 0.5, 0, 0};
/// Side lobes 92 dB down, so that they are not taken for tones [Harris 1978].
constexpr Window kBlackmanHarris{0.35875, 0.48829, 0.14128, 0.01168};

double window_value(const Window& window, double angle)
{
  return window[0] - window[1] * std::cos(angle) + window[2] * std::cos(2 * angle) -
         window[3] * std::cos(3 * angle);
}

/// Mean over the channels of |X|^2 of `count` samples from `begin` on, under a window whose sum is 2, so
/// that a tone of amplitude A has |X| = A at its frequency. Outside of the sound is silence.
std::vector<double> power_spectrum(const AudioBuffer& sound, std::ptrdiff_t begin, std::size_t count,
                                   FourierTransform& transform, const Window& window)
{
  std::vector<double> power(transform.size() / 2 + 1, 0.0);
  std::vector<double> piece(count);
  for (const auto& channel : sound.channels) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::ptrdiff_t place = begin + static_cast<std::ptrdiff_t>(i);
      const bool inside = place >= 0 && place < std::ssize(channel);
      const double angle = 2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(count);
      piece[i] = inside ? channel[static_cast<std::size_t>(place)] * 2 * window_value(window, angle) /
                              (window[0] * static_cast<double>(count))
                        : 0;
    }
    const auto spectrum = transform.spectrum(piece);
    for (std::size_t k = 0; k < power.size(); ++k) {
      power[k] += std::norm(spectrum[k]) / static_cast<double>(sound.channels.size());
    }
  }
  return power;
}

struct Stretch {
  std::vector<double> power;
  double frequency_step = 0;
};

/// The spectrum of a stretch of time, its lines four times as close as it resolves.
Stretch stretch_spectrum(const AudioBuffer& sound, double begin, double end)
{
  const double last = static_cast<double>(sound.frame_count());
  const double from = std::clamp(std::round(begin * sound.sample_rate), 0.0, last);
  const double to = std::clamp(std::round(end * sound.sample_rate), 0.0, last);
  if (!(to - from >= 16)) {
    throw Error(fmt::format("From {} to {} s there are fewer than 16 samples of the sound.", begin, end));
  }
  const auto count = static_cast<std::size_t>(to - from);
  std::size_t size = 64;
  while (size < 4 * count) size *= 2;
  FourierTransform transform(size);
  return {power_spectrum(sound, static_cast<std::ptrdiff_t>(from), count, transform, kBlackmanHarris),
          sound.sample_rate / static_cast<double>(size)};
}

}  // namespace

Spectrogram make_spectrogram(const AudioBuffer& sound, const SpectrogramDesc& desc)
{
  if (sound.frame_count() == 0) throw Error("A sound without samples has no spectrogram.");
  if (desc.window < 16 || desc.window % 2 != 0 || desc.columns == 0 || !(desc.reference > 0)) {
    throw Error(
        fmt::format("A spectrogram needs an even window of 16 samples or more, a column and a positive "
                    "reference; there are {}, {} and {} Pa.",
                    desc.window, desc.columns, desc.reference));
  }
  Spectrogram result;
  result.duration = sound.duration();
  result.frequency_step = sound.sample_rate / static_cast<double>(desc.window);
  result.levels.resize(static_cast<Eigen::Index>(desc.window / 2 + 1),
                       static_cast<Eigen::Index>(desc.columns));
  FourierTransform transform(desc.window);
  for (std::size_t column = 0; column < desc.columns; ++column) {
    const double middle = (static_cast<double>(column) + 0.5) / static_cast<double>(desc.columns) *
                          static_cast<double>(sound.frame_count());
    const auto begin = static_cast<std::ptrdiff_t>(middle) - static_cast<std::ptrdiff_t>(desc.window / 2);
    const auto power = power_spectrum(sound, begin, desc.window, transform, kHann);
    for (std::size_t k = 0; k < power.size(); ++k) {
      const double mean_square = 0.5 * power[k];  // of a tone of that amplitude
      result.levels(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(column)) =
          mean_square > 0
              ? std::max(kSilence, 10 * std::log10(mean_square / (desc.reference * desc.reference)))
              : kSilence;
    }
  }
  return result;
}

std::vector<double> spectral_peaks(const AudioBuffer& sound, double begin, double end, std::size_t count)
{
  const auto [power, step] = stretch_spectrum(sound, begin, end);
  std::vector<std::pair<double, double>> peaks;  // power, frequency
  for (std::size_t k = 1; k + 1 < power.size(); ++k) {
    if (!(power[k] > power[k - 1] && power[k] >= power[k + 1] && power[k - 1] > 0 && power[k + 1] > 0))
      continue;
    const double a = std::log(power[k - 1]);
    const double b = std::log(power[k]);
    const double c = std::log(power[k + 1]);
    const double bend = a - 2 * b + c;
    const double offset = bend < 0 ? 0.5 * (a - c) / bend : 0;
    peaks.emplace_back(power[k], (static_cast<double>(k) + offset) * step);
  }
  std::sort(peaks.begin(), peaks.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<double> frequencies;
  for (std::size_t i = 0; i < std::min(count, peaks.size()); ++i) frequencies.push_back(peaks[i].second);
  return frequencies;
}

double spectral_centroid(const AudioBuffer& sound, double begin, double end)
{
  const auto [power, step] = stretch_spectrum(sound, begin, end);
  double sum = 0;
  double moment = 0;
  for (std::size_t k = 0; k < power.size(); ++k) {
    sum += power[k];
    moment += power[k] * static_cast<double>(k) * step;
  }
  return sum > 0 ? moment / sum : 0;
}

}  // namespace thrum::sound
