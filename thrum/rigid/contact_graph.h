// SPDX-License-Identifier: MIT
// Who stands on whom. Bodies get a level: 0 what does not move, 1 what touches it, and so on upwards.
// Sweeping contacts from low to high carries support up a stack in one go.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "thrum/model/scene.h"

namespace thrum::rigid {

struct ContactGraph {
  std::vector<std::int32_t> level;        ///< by body; kUnsupported: touches nothing that leads to the ground
  std::vector<std::int32_t> patch_order;  ///< patches from low to high, by number within a level
};
inline constexpr std::int32_t kUnsupported = 0x7fffffff;

/// Levels by breadth-first search from fixed and kinematic bodies over patches that touch or nearly do.
///
/// [Guendelman03] draws an edge from a body to one that falls onto it and collapses cycles. The distance from
/// the ground needs no cycles collapsed, is linear in the contacts, and is the same for stacks, piles and
/// walls; the two differ for a body that hangs from a higher one.
[[nodiscard]] ContactGraph build_contact_graph(const model::SceneModel& model,
                                               const model::SceneState& state);

}  // namespace thrum::rigid
