// SPDX-License-Identifier: MIT
// Where the sound of each body comes from while it emits: as fine as it was recorded, for the page of a run.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/media/sound_sources.h"
#include "thrum/sim/recording.h"

namespace thrum::media {

/// All bodies one after the other. Between two frames a page goes along the cubic of sound::PoseTrack.
struct SourceTracks {
  std::vector<std::uint32_t> counts;  ///< places of each body: 0 where it is silent, 1 where it stays
  std::vector<std::uint32_t> frames;  ///< of the recording, of each place
  std::vector<float> positions;       ///< x, y, z of each [m]
};

/// Of the bodies of `sources`, the frames around their blocks; other frames are left out.
[[nodiscard]] SourceTracks source_tracks(const SoundSources& sources, const sim::Recording& recording);

}  // namespace thrum::media
