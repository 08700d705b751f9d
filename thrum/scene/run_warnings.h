// SPDX-License-Identifier: MIT
// Limits that a run has reached, in sentences.
#pragma once

#include <string>
#include <vector>

#include "thrum/sim/world.h"

namespace thrum::scene {

/// What to change, for each limit that was reached since the world was made.
[[nodiscard]] std::vector<std::string> limit_warnings(const sim::World& world);

}  // namespace thrum::scene
