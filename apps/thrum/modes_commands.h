// SPDX-License-Identifier: MIT
// The parts of `thrum modes`, one file each.
#pragma once

#include <CLI/CLI.hpp>

#include "apps/thrum/command.h"

namespace thrum::app {

void add_modes_show(CLI::App& modes);
void add_modes_export(CLI::App& modes);

}  // namespace thrum::app
