// SPDX-License-Identifier: MIT
// Overlap that no spring of a contact was pressed by: the bodies are moved apart without giving them speed.
#pragma once

#include <vector>

#include "thrum/rigid/body_row.h"

namespace thrum::rigid {

struct OverlapRow {
  BodyRow row;         ///< separation of the two bodies
  double overlap = 0;  ///< to remove [m]
  double impulse = 0;  ///< of the push; 0 to begin with [N s]
};

struct OverlapPush {
  double share = 0.2;  ///< of the overlap that is removed
  double max_way = 0;  ///< at most [m]
};

/// Moves the bodies of the state, and takes the energy of the lift from their motion. `h` is the slice [s].
void push_out_overlap(const OverlapPush& push, std::vector<OverlapRow>& rows, double h, SolverBodies& bodies,
                      model::SceneState& state);

}  // namespace thrum::rigid
