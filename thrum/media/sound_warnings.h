// SPDX-License-Identifier: MIT
// What of the sound of a run will not be right, as far as it is known before the synthesis.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "thrum/scene/sound_notes.h"
#include "thrum/sound/listener.h"
#include "thrum/sound/pose_track.h"
#include "thrum/sound/synthesis.h"

namespace thrum::media {

/// Of a listener, microphones, and bodies that press on others or are struck by the scene, that are nearly as
/// fast as sound or faster. `tracks` by body; `contacts` is read when a body is that fast.
void warn_of_fast_motion(const std::filesystem::path& contacts, const sound::Listener& listener,
                         const scene::ListenerEntry& entry, const sound::Synthesis& synthesis,
                         const std::vector<sound::PoseTrack>& tracks,
                         const std::vector<scene::SoundImpulseNote>& impulses,
                         std::vector<std::string>& warnings);

}  // namespace thrum::media
