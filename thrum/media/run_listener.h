// SPDX-License-Identifier: MIT
// Where the listener of a run is at every moment, and the bodies that it is inside of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "thrum/scene/scene_file.h"
#include "thrum/sim/recording.h"
#include "thrum/sound/pose_track.h"

namespace thrum::media {

/// Where the shape of a body was, from the frames of the recording.
[[nodiscard]] sound::PoseTrack body_track(const sim::Recording& recording, std::size_t body);

/// Where the listener stands, along its path, or on its body; by default where the camera is. Throws Error
/// for a body that does not exist.
[[nodiscard]] sound::PoseTrack listener_track(const scene::ListenerEntry& listener,
                                              const sim::Recording& recording);

/// A moment at which a point is inside of a body.
struct InsideMoment {
  double time = 0;      ///< the first [s]
  double distance = 0;  ///< from there to the centre, the shortest of all such moments [m]
};

/// Whether one of `places` (in the axes of the listener) is inside the surface of a body at a frame, by its
/// winding number; `centre` is in the axes of its shape [m].
[[nodiscard]] std::optional<InsideMoment> find_inside(const sim::Recording& recording, std::size_t body,
                                                      const sound::PoseTrack& of_body,
                                                      const sound::PoseTrack& of_listener,
                                                      const std::vector<Vec3>& places, const Vec3& centre);

}  // namespace thrum::media
