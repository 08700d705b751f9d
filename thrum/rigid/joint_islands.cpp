// SPDX-License-Identifier: MIT
#include "thrum/rigid/joint_islands.h"

#include <algorithm>

#include "thrum/base/index.h"

namespace thrum::rigid {

namespace {

constexpr std::int32_t kNoGroup = -1;

}  // namespace

void JointIslands::begin(JointRows& rows, const std::vector<std::int32_t>& island_of_body,
                         std::size_t island_count)
{
  rows_ = &rows;
  islands_.clear();
  group_of_row_.clear();
  if (rows.rows().empty()) return;
  group_of_island_.assign(island_count + 1, kNoGroup);
  for (const JointRow& row : rows.rows()) {
    const std::size_t island = island_between(island_of_body, island_count, row.a, row.b);
    std::int32_t& group = group_of_island_[island];
    if (group == kNoGroup) {
      group = count_of(islands_);
      islands_.push_back(island);
    }
    group_of_row_.push_back(at(group));
  }
  changes_.assign(group_of_row_.size(), 0.0);
}

bool JointIslands::keep_unsettled(double settled)
{
  unsettled_.assign(islands_.size(), 0);
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    if (flags_[i] != 0 && changes_[i] > settled) unsettled_[group_of_row_[i]] = 1;
  }
  bool any = false;
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    if (unsettled_[group_of_row_[i]] == 0) flags_[i] = 0;
    any = any || flags_[i] != 0;
  }
  return any;
}

void JointIslands::sweep_flagged(SolverBodies& bodies, double h, int iterations, double settled)
{
  for (int i = 0; i < iterations; ++i) {
    rows_->sweep_once(bodies, h, flags_, changes_);
    if (!keep_unsettled(settled)) return;
  }
}

void JointIslands::sweep(SolverBodies& bodies, double h, int iterations, double settled,
                         const IslandFlags& islands)
{
  if (group_of_row_.empty()) return;
  flags_.resize(group_of_row_.size());
  for (std::size_t i = 0; i < flags_.size(); ++i) flags_[i] = islands[islands_[group_of_row_[i]]];
  sweep_flagged(bodies, h, iterations, settled);
}

void JointIslands::settle_bends(const model::SceneModel& model, const model::SceneState& state,
                                const ConstraintSettings& settings, SolverBodies& bodies, double h,
                                int updates, double settled)
{
  if (group_of_row_.empty()) return;
  pending_.assign(group_of_row_.size(), 1);
  for (int i = 0; i < updates; ++i) {
    flags_ = pending_;
    sweep_flagged(bodies, h, settings.joint_iterations, settled);
    flags_ = pending_;
    rows_->update_bends(model, state, settings, bodies, h, flags_, changes_);
    if (!keep_unsettled(settled)) return;
    pending_ = flags_;
  }
}

}  // namespace thrum::rigid
