// SPDX-License-Identifier: MIT
// The motion of each body as keys, as few as possible without a visible difference, in 16-bit integers: the
// form in which a page stores a run.
//
// Between two keys a page interpolates linearly: positions, and rotations along the chord. A frame is left
// out when that stays within `tolerance` of every point of the body; a body at rest needs two keys however
// long it rests.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/sim/recording.h"

namespace thrum::media {

/// All bodies one after the other.
struct ViewerTracks {
  std::vector<std::uint32_t> counts;     ///< keys of each body
  std::vector<std::uint16_t> gaps;       ///< frames since the previous key; 0 for the first of a body
  std::vector<float> boxes;              ///< of each body's positions: minimum x, y, z, then sizes [m]
  std::vector<std::uint16_t> positions;  ///< x, y, z of each key: 0 at the minimum, 65535 at the maximum
  std::vector<std::int16_t> rotations;   ///< x, y, z, w of each key, times 32767
};

/// `tolerance` is a length [m].
[[nodiscard]] ViewerTracks viewer_tracks(const sim::Recording& recording, double tolerance);

/// The region of interest: the bounding box of the moving bodies over the whole run, without the few that fly
/// far away. When nothing moves, of all bodies that have a size.
[[nodiscard]] Box3 motion_box(const sim::Recording& recording);

}  // namespace thrum::media
