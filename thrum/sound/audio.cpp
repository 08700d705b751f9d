// SPDX-License-Identifier: MIT
#include "thrum/sound/audio.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/base/error.h"

namespace thrum::sound {

AudioBuffer make_silence(int sample_rate, std::size_t channels, std::size_t frames)
{
  AudioBuffer silence{sample_rate, std::vector<std::vector<double>>(channels)};
  for (std::vector<double>& channel : silence.channels) channel.resize(frames);
  return silence;
}

void append(AudioBuffer& buffer, const AudioBuffer& block)
{
  if (buffer.sample_rate != block.sample_rate || buffer.channels.size() != block.channels.size()) {
    throw Error(
        fmt::format("A block of {} channels at {} Hz cannot be appended to sound of {} channels at {} Hz.",
                    block.channels.size(), block.sample_rate, buffer.channels.size(), buffer.sample_rate));
  }
  for (std::size_t c = 0; c < block.channels.size(); ++c) {
    buffer.channels[c].insert(buffer.channels[c].end(), block.channels[c].begin(), block.channels[c].end());
  }
}

void fade_out(AudioBuffer& buffer)
{
  const double length = kFadeOut * buffer.sample_rate;
  const auto samples = static_cast<std::size_t>(std::ceil(length));
  for (auto& channel : buffer.channels) {
    for (std::size_t k = 0; k < std::min(samples, channel.size()); ++k) {
      const double left = static_cast<double>(k) / length;
      channel[channel.size() - 1 - k] *= 0.5 - 0.5 * std::cos(std::numbers::pi * left);
    }
  }
}

double peak(const AudioBuffer& buffer)
{
  double largest = 0;
  for (const auto& channel : buffer.channels) {
    for (const double sample : channel) largest = std::max(largest, std::abs(sample));
  }
  return largest;
}

double rms(const AudioBuffer& buffer, double begin, double end)
{
  const double length = static_cast<double>(buffer.frame_count());
  const auto index = [&](double time) {
    return static_cast<std::size_t>(std::clamp(std::ceil(time * buffer.sample_rate), 0.0, length));
  };
  const std::size_t first = index(begin);
  const std::size_t last = index(end);
  if (last <= first || buffer.channels.empty()) return 0;
  double sum = 0;
  for (const auto& channel : buffer.channels) {
    for (std::size_t i = first; i < last; ++i) sum += channel[i] * channel[i];
  }
  return std::sqrt(sum / (static_cast<double>(last - first) * static_cast<double>(buffer.channels.size())));
}

}  // namespace thrum::sound
