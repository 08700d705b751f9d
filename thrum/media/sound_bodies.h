// SPDX-License-Identifier: MIT
// The bodies of a recording as sound needs them: modes are found once for each mesh and material.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "thrum/base/progress.h"
#include "thrum/scene/sound_notes.h"
#include "thrum/sim/recording.h"
#include "thrum/sound/synthesis.h"

namespace thrum::media {

struct SoundBodies {
  std::vector<sound::SynthesisBody> bodies;  ///< by number in the recording
  std::vector<Vec3> centres;                 ///< where they radiate from, in shape axes [m]
  std::vector<std::string> warnings;         ///< bodies whose modes were not found
};

/// `folder` of the run, in which it has left the modes that it simulated. Throws base::Stopped when asked to
/// stop.
[[nodiscard]] SoundBodies find_sound_bodies(const std::filesystem::path& folder,
                                            const sim::RecordingHeader& header,
                                            const scene::SoundNotes& notes,
                                            const base::ProgressDesc& progress);

}  // namespace thrum::media
