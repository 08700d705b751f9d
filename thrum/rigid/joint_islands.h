// SPDX-License-Identifier: MIT
// Sweeps over joints that end for each island separately, so that joints which nothing connects do not change
// each other by a bit.
//
//   islands.begin(rows, island_of_body, island_count);      // after rows.build()
//   islands.sweep(bodies, h, 16, settled, flags);
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/rigid/islands.h"
#include "thrum/rigid/joint_rows.h"

namespace thrum::rigid {

class JointIslands {
 public:
  /// Keeps a reference to the rows until the next call.
  void begin(JointRows& rows, const std::vector<std::int32_t>& island_of_body, std::size_t island_count);
  /// Sweeps each of these islands up to `iterations` times, fewer if none of its speeds changes by more than
  /// `settled` [m/s].
  void sweep(SolverBodies& bodies, double h, int iterations, double settled, const IslandFlags& islands);
  /// Sweeps and JointRows::update_bends() in turn, up to `updates` times, fewer for islands in which the
  /// latter asks for no change of a speed by more than `settled` [m/s].
  void settle_bends(const model::SceneModel& model, const model::SceneState& state,
                    const ConstraintSettings& settings, SolverBodies& bodies, double h, int updates,
                    double settled);

 private:
  void sweep_flagged(SolverBodies& bodies, double h, int iterations, double settled);
  /// Takes the flags from groups of which no row has a change above `settled`. False: none is left.
  [[nodiscard]] bool keep_unsettled(double settled);

  JointRows* rows_ = nullptr;
  std::vector<std::size_t> group_of_row_;
  std::vector<std::size_t> islands_;           ///< of each group; only islands with joints are groups
  std::vector<std::int32_t> group_of_island_;  ///< or kNoGroup
  std::vector<std::uint8_t> flags_, pending_;  ///< by row
  std::vector<std::uint8_t> unsettled_;        ///< by group
  std::vector<double> changes_;                ///< by row: of a speed [m/s]
};

}  // namespace thrum::rigid
