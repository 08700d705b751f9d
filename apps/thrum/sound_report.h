// SPDX-License-Identifier: MIT
// What the commands that make sound print and draw about it.
#pragma once

#include <string>
#include <vector>

#include "apps/thrum/command.h"
#include "thrum/sound/audio.h"

namespace thrum::app {

/// Pictures to write; empty: none.
struct SoundPictures {
  std::string spectrogram;
  std::string waveform;
};

/// --spectrogram and --waveform.
void add_sound_pictures(CLI::App& command, SoundPictures& pictures);

/// Call before any work: throws Error for a file that cannot be written.
void check_sound_pictures(const SoundPictures& pictures);
/// `lines` are frequencies to mark in the spectrogram [Hz].
void write_sound_pictures(const SoundPictures& pictures, const sound::AudioBuffer& sound,
                          const std::string& title, const std::vector<double>& lines);

/// "loudness -20.3 LUFS, peak -1.0 dBFS" of a file with this full scale [Pa].
[[nodiscard]] std::string loudness_text(const sound::AudioBuffer& sound, double full_scale);

}  // namespace thrum::app
