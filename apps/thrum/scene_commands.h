// SPDX-License-Identifier: MIT
// The commands on scenes and runs, one file each.
#pragma once

#include <CLI/CLI.hpp>

namespace thrum::app {

/// Adds `thrum check` and `thrum schema`.
void add_scene_check(CLI::App& app);
/// Adds `thrum run`.
void add_scene_run(CLI::App& app);
/// Adds `thrum fit`.
void add_fit(CLI::App& app);
/// Adds `thrum view`.
void add_scene_view(CLI::App& app);
/// Adds `thrum export` and `thrum compare`.
void add_scene_export(CLI::App& app);

}  // namespace thrum::app
