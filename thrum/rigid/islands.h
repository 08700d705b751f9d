// SPDX-License-Identifier: MIT
// Islands: groups of moving bodies connected by contacts and joints. What rests as a group falls asleep as a
// group.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/model/scene.h"
#include "thrum/rigid/sleep_settings.h"

namespace thrum::rigid {

/// Number of the island of each body; kNone for bodies that are not dynamic. Islands are numbered in the
/// order of their first bodies.
[[nodiscard]] std::vector<std::int32_t> find_islands(const model::SceneModel& model,
                                                     const model::SceneState& state);

/// Wakes islands in which somebody is awake.
void wake_islands(const model::SceneModel& model, model::SceneState& state);

/// Counts how long bodies have been still, and puts islands to sleep.
void sleep_islands(const model::SceneModel& model, model::SceneState& state, const SleepSettings& settings,
                   double h);

}  // namespace thrum::rigid
