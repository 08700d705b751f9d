// SPDX-License-Identifier: MIT
// Loudness by ITU-R BS.1770-4, and sound brought to a loudness.
//
// Each channel is weighted by a filter that stands for the head and the ear (K); the mean squares of blocks
// of 400 ms, every 100 ms, are averaged over those blocks that are louder than -70 LUFS and within 10 LU of
// the average of these. A sine of 997 Hz at full scale in one channel is -3.01 LUFS.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "thrum/sound/audio.h"

namespace thrum::sound {

struct LoudnessDesc {
  double full_scale = 1;             ///< pressure of full scale [Pa]
  std::vector<double> weights = {};  ///< of the channels; empty: 1 each. 1.41 for surround, 0 for none
};

struct LoudnessReport {
  double integrated = 0;     ///< [LUFS]; minus infinity for silence
  double max_momentary = 0;  ///< loudest block of 400 ms [LUFS]
  double peak = 0;           ///< largest |sample| relative to full scale [dBFS]
};

/// Sound shorter than 400 ms is filled up with silence. Throws Error for weights of another number than the
/// channels.
[[nodiscard]] LoudnessReport measure_loudness(const AudioBuffer& sound, const LoudnessDesc& desc = {});

struct NormaliseDesc {
  double target = -18;   ///< integrated loudness [LUFS]
  double max_peak = -1;  ///< no sample becomes louder, even if the target is then missed [dBFS]
  LoudnessDesc loudness = {};
};

/// The factor that brings the sound to the target; 1 for silence.
[[nodiscard]] double normalising_gain(const AudioBuffer& sound, const NormaliseDesc& desc = {});
/// Applies that factor and returns it.
double normalise(AudioBuffer& sound, const NormaliseDesc& desc = {});

/// One stage of the weighting: y[n] = b0 x[n] + b1 x[n-1] + b2 x[n-2] - a1 y[n-1] - a2 y[n-2].
struct Biquad {
  double b0 = 1, b1 = 0, b2 = 0, a1 = 0, a2 = 0;
};
/// The two stages of the K weighting at a sample rate [Hz]; at 48 kHz those that the standard prints.
[[nodiscard]] std::array<Biquad, 2> k_weighting(double sample_rate);

}  // namespace thrum::sound
