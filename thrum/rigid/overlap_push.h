// SPDX-License-Identifier: MIT
// Overlap that no spring of a contact was pressed by: the bodies are moved apart without giving them speed.
#pragma once

#include <span>
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
  /// Not empty: by body, energy that others have lost and that may lift it [J]. What it does not cover is
  /// taken from the motion of the body, which is lifted only as far as both go. Several bodies may share one.
  /// One with a null pointer is lifted in any case, as are all without budgets.
  std::span<double* const> budgets = {};
};

/// Moves the bodies of the state, and takes the energy of the lift from their motion. `h` is the slice [s].
void push_out_overlap(const OverlapPush& push, std::vector<OverlapRow>& rows, double h, SolverBodies& bodies,
                      model::SceneState& state);

}  // namespace thrum::rigid
