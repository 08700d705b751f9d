// SPDX-License-Identifier: MIT
// The sound of a recorded run, from its recording and its contacts alone.
//
//   const RunSound sound = write_run_sound("runs/dinner", recording);     // sound.wav, sound.csv
//
// Modes that are not in the cache are computed. Everything is streamed in blocks: the contacts are read, the
// modes run and the paths to the listener are filled as time goes on.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "thrum/base/progress.h"
#include "thrum/media/radiation_report.h"
#include "thrum/sim/recording.h"
#include "thrum/sound/audio.h"

namespace thrum::media {

struct RunSoundDesc {
  std::vector<std::string> settings = {};  ///< changes as of --set (scene/sound_notes.h)
  std::filesystem::path output = {};       ///< .wav or .flac; default: sound.wav in the folder
  std::vector<std::string> mute = {};      ///< bodies that are not heard, by name
  base::ProgressDesc preparation = {.style = base::ProgressStyle::quiet};  ///< of modes
  std::function<void(double fraction)> on_progress = {};
  /// Of each of RunSound::warnings, in their order: those that are known before the synthesis, before it.
  std::function<void(const std::string& warning)> on_warning = {};
};

struct RunSound {
  sound::AudioBuffer sound;                  ///< [Pa]
  std::vector<std::filesystem::path> files;  ///< written
  std::vector<std::string> warnings;
  std::size_t sounding_bodies = 0;  ///< that are heard, whether struck or under a load that changes
  std::size_t modes = 0;            ///< of all of them
  std::size_t diffuse_modes = 0;    ///< that stand for those beyond
  std::size_t impacts = 0;
  double full_scale = 0;     ///< pressure that is 1.0 in the file [Pa]
  double peak = 0;           ///< [Pa]
  double modes_seconds = 0;  ///< to find or read modes
  double synthesis_seconds = 0;
  RadiationReport radiation = {};             ///< of the bodies that are heard
  std::vector<double> mode_frequencies = {};  ///< of `modes`, ascending, equal ones once [Hz]
};

/// Whether the run in this folder recorded what sound needs.
[[nodiscard]] bool has_recorded_contacts(const std::filesystem::path& folder,
                                         const sim::Recording& recording);

/// Whether an output is the sound of the run itself, its sound.wav, by whatever path; an empty one is.
[[nodiscard]] bool is_sound_of_run(const std::filesystem::path& folder, const std::filesystem::path& output);

/// The files of the stems of these bodies: their names, without slashes, and with a number where two would
/// have the same.
[[nodiscard]] std::vector<std::string> stem_names(const sim::RecordingHeader& header);

/// Throws Error, with what to do, when the run recorded no contacts.
[[nodiscard]] RunSound write_run_sound(const std::filesystem::path& folder, const sim::Recording& recording,
                                       const RunSoundDesc& desc = {});

}  // namespace thrum::media
