// SPDX-License-Identifier: MIT
// The commands on scenes and runs, one file each.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "thrum/media/run_sound.h"

namespace thrum::app {

/// The entries of a report on directional radiation, by body.
[[nodiscard]] nlohmann::ordered_json radiation_json(const media::RadiationReport& report);
/// Makes the sound of a run with a line of progress; warnings go to the standard error.
media::RunSound make_run_sound(const std::filesystem::path& folder, const sim::Recording& recording,
                               media::RunSoundDesc desc, bool quiet);

/// Adds `thrum check` and `thrum schema`.
void add_scene_check(CLI::App& app);
/// Adds `thrum run`.
void add_scene_run(CLI::App& app);
/// Adds `thrum sound`.
void add_sound(CLI::App& app);
/// Adds `thrum strike`.
void add_strike(CLI::App& app);
/// Adds `thrum fit`.
void add_fit(CLI::App& app);
/// Adds `thrum view`.
void add_scene_view(CLI::App& app);
/// Adds `thrum export` and `thrum compare`.
void add_scene_export(CLI::App& app);

}  // namespace thrum::app
