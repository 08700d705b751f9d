// SPDX-License-Identifier: MIT
// What the page of a run plays, in the form in which it has it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "thrum/media/sound_sources.h"
#include "thrum/sim/recording.h"
#include "thrum/sound/audio.h"

namespace thrum::media {

/// The filters of the air at some distances; a page goes linearly between two of them.
struct AirTable {
  std::vector<double> distances;  ///< ascending, from 0 on [m]
  std::vector<std::size_t> used;  ///< number of the last tap of each that is not 0
  std::vector<float> taps;        ///< of each in turn, from the middle outwards
};
[[nodiscard]] AirTable air_table(int sample_rate);

/// The part of a body in a sound.
[[nodiscard]] nlohmann::json stem_of(std::size_t body, const sound::AudioBuffer& stem);

/// What bodies emit, and where they are meanwhile.
[[nodiscard]] nlohmann::json sources_of(const SoundSources& sources, const sim::Recording& recording);

}  // namespace thrum::media
