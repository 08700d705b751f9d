// SPDX-License-Identifier: MIT
// Level over time and frequency: short-time Fourier transforms under Hann windows.
#pragma once

#include <cstddef>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/sound/audio.h"

namespace thrum::sound {

struct SpectrogramDesc {
  std::size_t window = 2048;  ///< samples of a transform, even
  std::size_t columns = 800;  ///< transforms, evenly spread over the sound
  double reference = 20e-6;   ///< root-mean-square pressure of 0 dB [Pa]
};

/// A pure tone of root-mean-square pressure p has the level 20 log10(p / reference) at its frequency.
struct Spectrogram {
  double duration = 0;        ///< of the sound [s]
  double frequency_step = 0;  ///< between rows; row 0 is at 0 Hz [Hz]
  MatX levels;                ///< window / 2 + 1 rows by columns [dB]
};

/// The mean power of all channels. Throws Error for sound without samples or an odd window.
[[nodiscard]] Spectrogram make_spectrogram(const AudioBuffer& sound, const SpectrogramDesc& desc = {});

/// Frequencies [Hz] of the `count` strongest peaks of the spectrum over a stretch of time [s], strongest
/// first; between lines of the transform by a parabola through the levels.
[[nodiscard]] std::vector<double> spectral_peaks(const AudioBuffer& sound, double begin, double end,
                                                 std::size_t count);

/// The mean frequency of the power over a stretch of time [Hz]; 0 for silence.
[[nodiscard]] double spectral_centroid(const AudioBuffer& sound, double begin, double end);

}  // namespace thrum::sound
