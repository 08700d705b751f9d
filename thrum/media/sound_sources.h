// SPDX-License-Identifier: MIT
// What each body of a run emits, before the way to a listener: the file `sources.npz` of a run, from which
// its page makes the sound that is heard at the camera.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/sound/propagation.h"

namespace thrum::media {

/// Amplitudes in blocks of equal length; blocks that are missing are silent.
struct SoundSources {
  int sample_rate = 0;          ///< [Hz]
  std::int64_t frames = 0;      ///< samples of the whole
  std::int64_t block_size = 0;  ///< samples of a block
  double full_scale = 1;        ///< of the file of the sound [Pa]
  double spacing = 0;           ///< between both microphones at the camera [m]
  bool is_cut = false;     ///< it ended while bodies still sounded, so that it fades out where it is heard
  bool at_camera = false;  ///< the listener of the run is where its camera is
  bool absorption = true;  ///< by the air, on the way
  std::optional<sound::Ground> ground = {};
  std::vector<Vec3> centres = {};          ///< by body: where it emits, in the axes of its shape [m]
  std::vector<std::int32_t> bodies = {};   ///< by block: who emits it
  std::vector<std::int32_t> numbers = {};  ///< by block: its place, counted from the first sample in blocks
  std::vector<float> samples = {};         ///< block after block [Pa m]
};

/// Gathers blocks while a run is synthesised.
class SourceCollector {
 public:
  /// Adds the block of a body; one of zeros is left out. Too many samples for a page discard all.
  void add(std::size_t body, std::size_t number, std::span<const double> amplitudes);
  /// With what was gathered, without blocks that are far below the loudest; none when there was too much.
  [[nodiscard]] std::optional<SoundSources> finish(SoundSources description);

 private:
  SoundSources gathered_;
  bool is_too_large_ = false;
};

void write_sound_sources(const std::filesystem::path& file, const SoundSources& sources);
/// Throws InputError or Error for a file that is not one of these, or holds what cannot be played.
[[nodiscard]] SoundSources read_sound_sources(const std::filesystem::path& file);

}  // namespace thrum::media
