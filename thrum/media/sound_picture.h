// SPDX-License-Identifier: MIT
// Sound made visible: a spectrogram with the lines of the modes, and the waveform.
//
//   const auto levels = sound::make_spectrogram(audio);
//   write_png("hit.png", spectrogram_picture(levels, {.title = "mug", .lines = frequencies}));
//   write_png("wave.png", waveform_picture(audio));
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "thrum/media/image.h"
#include "thrum/media/plot.h"
#include "thrum/sound/audio.h"
#include "thrum/sound/spectrogram.h"

namespace thrum::media {

struct SpectrogramPictureDesc {
  int width = 1200;  ///< [pixel]
  int height = 700;  ///< [pixel]
  std::string title = {};
  AxisScale scale = AxisScale::logarithmic;  ///< of the frequencies
  double min_frequency = 80;                 ///< [Hz]
  double max_frequency = 20000;              ///< at most half the sample rate [Hz]
  double range = 80;                         ///< shown below the loudest level [dB]
  std::optional<double> top_level = {};      ///< of the colours; default: the loudest level [dB]
  std::vector<double> lines = {};            ///< frequencies to mark, such as those of the modes [Hz]
  std::size_t max_lines = 60;                ///< of more, the loudest are marked
};

/// Time to the right, frequency upwards, level by colour; marked frequencies are dotted lines. Throws Error
/// for a range that is empty.
[[nodiscard]] Image spectrogram_picture(const sound::Spectrogram& spectrogram,
                                        const SpectrogramPictureDesc& desc = {});

struct WaveformPictureDesc {
  int width = 1200;  ///< [pixel]
  int height = 240;  ///< of each channel [pixel]
  std::string title = {};
  std::vector<std::string> channel_names = {};
};

/// All channels below each other on one scale: the range of the samples of each column. Throws Error for
/// sound without samples.
[[nodiscard]] Image waveform_picture(const sound::AudioBuffer& sound, const WaveformPictureDesc& desc = {});

}  // namespace thrum::media
