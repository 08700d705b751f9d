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

/// Which islands take part in something: a flag for each, and a last one for what is in none.
using IslandFlags = std::vector<std::uint8_t>;

/// The place in IslandFlags of what acts between two bodies: their island; `count` where neither is in one.
[[nodiscard]] inline std::size_t island_between(const std::vector<std::int32_t>& island_of_body,
                                                std::size_t count, std::int32_t a, std::int32_t b)
{
  for (const std::int32_t body : {a, b}) {
    // The world, to which joints may be tied, comes after the bodies.
    const auto i = static_cast<std::size_t>(body);
    if (i < island_of_body.size() && island_of_body[i] != model::kNone)
      return static_cast<std::size_t>(island_of_body[i]);
  }
  return count;
}

/// Wakes islands in which a body is awake.
void wake_islands(const model::SceneModel& model, model::SceneState& state);

/// Counts how long bodies have been still, and puts islands to sleep.
void sleep_islands(const model::SceneModel& model, model::SceneState& state, const SleepSettings& settings,
                   double h);

}  // namespace thrum::rigid
