// SPDX-License-Identifier: MIT
// Sound pressure as samples: the plain data between synthesis, listeners and audio files.
//
// One vector per channel (planar), all of one length, in pascals at the listener. Full scale of a file is a
// choice of the writer; nothing here clips or normalises.
#pragma once

#include <cstddef>
#include <vector>

namespace thrum::sound {

/// Sound pressure of a listener, or a block of it.
struct AudioBuffer {
  int sample_rate = 48000;                    ///< [Hz]
  std::vector<std::vector<double>> channels;  ///< by channel, then by sample; equal lengths [Pa]

  [[nodiscard]] std::size_t frame_count() const { return channels.empty() ? 0 : channels.front().size(); }
  [[nodiscard]] double duration() const  ///< [s]
  {
    return static_cast<double>(frame_count()) / sample_rate;
  }
};

/// Silence of `frames` samples in each of `channels` channels.
[[nodiscard]] AudioBuffer make_silence(int sample_rate, std::size_t channels, std::size_t frames);
/// Appends a block of the same rate and number of channels. Throws Error when they differ.
void append(AudioBuffer& buffer, const AudioBuffer& block);

/// Over which sound that is cut off fades out [s].
constexpr double kFadeOut = 5e-3;
/// Lowers the last kFadeOut seconds by half a cosine, to 0 at the last sample: without it the end clicks.
void fade_out(AudioBuffer& buffer);

/// Largest |sample| of all channels [Pa].
[[nodiscard]] double peak(const AudioBuffer& buffer);
/// Root mean square over all channels between two times [s], cut to the buffer; 0 for an empty range [Pa].
[[nodiscard]] double rms(const AudioBuffer& buffer, double begin, double end);

}  // namespace thrum::sound
