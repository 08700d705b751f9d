// SPDX-License-Identifier: MIT
// The files of a run that are derived from its recording: motion, tables, poster, page.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "thrum/scene/scene_file.h"
#include "thrum/sim/recording.h"

namespace thrum::media {

/// Writes the files selected by scene.outputs into `folder` and returns the paths. For
/// scene::RunDesc::write_outputs.
[[nodiscard]] std::vector<std::filesystem::path> write_run_outputs(const scene::SceneDesc& scene,
                                                                   const std::filesystem::path& folder,
                                                                   const sim::Recording& recording);

[[nodiscard]] std::string events_csv(const sim::Recording& recording);
[[nodiscard]] std::string energy_csv(const sim::Recording& recording);
void write_motion_npz(const std::filesystem::path& file, const sim::Recording& recording);

}  // namespace thrum::media
