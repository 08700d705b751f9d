// SPDX-License-Identifier: MIT
// The contact graph of [Guendelman03, section 8.1]: who rests on whom, with cycles collapsed into levels.
//
// In the paper each body is moved on alone for a step while the others stand still; what it then runs into is
// below it. Bodies that rest on each other in a ring (two linked rings, a card house) form one group, and the
// groups are sorted into levels upwards from the ground:
//
//        [4]                 [3]     level of a group = 1 + the highest level it rests on,
//       [3] [2]             /   \    so that all that carries a body is settled before it.
//      [2]  [1]   ground  [1]-[2]    rings collapse: 1 and 2 lean on each other, one level
//
// Where we leave the paper: the body is moved by gravity alone, not by its velocity, so that two stacks that
// brush against each other do not become one group; and a contact whose normal is nearly square to gravity
// supports nothing. ContactLevels::predicted is the paper's rule, to first order on the patches of the state.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "thrum/model/scene.h"
#include "thrum/rigid/impulse_settings.h"

namespace thrum::rigid {

struct SupportGraph {
  std::vector<std::int32_t> level;  ///< by body: 0 for what does not yield, at least 1 for dynamic bodies
  std::int32_t levels = 1;          ///< one more than the highest level
};

/// Levels over the patches of the state and the joints of the model (jointed bodies share a level). `h` is
/// the step for which each body is let fall.
[[nodiscard]] SupportGraph build_support_graph(const model::SceneModel& model, const model::SceneState& state,
                                               double h, ContactLevels levels = ContactLevels::gravity);

/// A body, and what it rests on.
using SupportEdge = std::pair<std::int32_t, std::int32_t>;

/// The same over edges found in another way, those of joints added.
[[nodiscard]] SupportGraph build_support_graph(const model::SceneModel& model,
                                               std::vector<SupportEdge> edges);

}  // namespace thrum::rigid
