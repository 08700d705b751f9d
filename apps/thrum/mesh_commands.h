// SPDX-License-Identifier: MIT
// The parts of `thrum mesh`, one file each.
#pragma once

#include <CLI/CLI.hpp>

#include "apps/thrum/command.h"

namespace thrum::app {

void add_mesh_info(CLI::App& mesh);
void add_mesh_repair(CLI::App& mesh);
void add_mesh_tets(CLI::App& mesh);
void add_mesh_sdf(CLI::App& mesh);
void add_mesh_distance(CLI::App& mesh);
void add_mesh_shape(CLI::App& mesh);

}  // namespace thrum::app
