// SPDX-License-Identifier: MIT
// What bodies meet that are struck within a slice.
//
// Pairs and contacts of a slice are found with the velocities at its start. A body that is struck leaves the
// box that it was expected in, and has no contact with what it meets there. After a slice is solved, these
// bodies are tested where they end: pairs that overlap without a contact are added, with the margin that
// their motion needs, and the slice is solved again. Margins of all other contacts stay as they were, so that
// those at rest are kept.
#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/collision/narrow_phase.h"
#include "thrum/collision/time_of_impact.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

namespace {

/// Overlap that counts as missed, as a share of the least extent of the smaller body.
constexpr double kMissedDepth = 0.01;
/// What moves by more than this share of the thinner body's width is left to the search for impacts.
constexpr double kSearchedMove = 0.5;

}  // namespace

// Pairs of which one was struck, and whose boxes overlap at the end of the slice, but that have no contact.
void World::list_missed_pairs(double h)
{
  missed_pairs_.clear();
  fast_bodies_.clear();
  end_X_ws_.assign(X_ws_.begin(), X_ws_.end());
  for (std::size_t i = 0; i < state_.bodies.size(); ++i) {
    const model::BodyProperties& desc = model_.bodies[i];
    if (removed_[i] != 0 || desc.motion == model::Motion::fixed || state_.bodies[i].asleep) continue;
    end_X_ws_[i] = state_.bodies[i].X_wb * desc.X_bs;
    if (desc.motion != model::Motion::dynamic || desc.sensor) continue;
    const collision::PreparedShape& shape = prepared_[at(desc.shape)];
    if (shape.unbounded || boxes_[i].contains(collision::world_bounds(shape, end_X_ws_[i], 0))) continue;
    fast_bodies_.push_back(static_cast<model::BodyIndex>(i));
  }
  if (fast_bodies_.empty()) return;
  for (const model::BodyIndex i : fast_bodies_) broad_phase_.update(i, box_of_motion(i, h));
  std::vector<model::BodyIndex> found;
  for (const model::BodyIndex i : fast_bodies_) {
    const auto bounds = [&](model::BodyIndex j) {
      return collision::world_bounds(prepared_[at(model_.bodies[at(j)].shape)], end_X_ws_[at(j)], 0);
    };
    const Box3 box = bounds(i);
    broad_phase_.overlapping(box, found);
    for (const model::BodyIndex j : found) {
      const collision::BodyPair pair{std::min(i, j), std::max(i, j)};
      if (i == j || !may_collide(pair) || has_patch(pair)) continue;
      if (prepared_[at(model_.bodies[at(j)].shape)].unbounded || box.intersects(bounds(j)))
        missed_pairs_.push_back(pair);
    }
  }
  std::sort(missed_pairs_.begin(), missed_pairs_.end());
  missed_pairs_.erase(std::unique(missed_pairs_.begin(), missed_pairs_.end()), missed_pairs_.end());
}

// Returns whether there are any: then the slice is to be solved again.
bool World::add_missed_pairs(double h)
{
  // Boxes of bodies that bend hold what they may deflect as well.
  if (in_group_ || finds_impact_times() || !deflections_.empty()) return false;
  const auto timer = times_.stage("find impacts");
  list_missed_pairs(h);
  if (missed_pairs_.empty()) return false;
  collision::NarrowPhaseDesc desc = desc_.narrow_phase;
  desc.step = 0;
  desc.margin = 0;
  missed_patches_.clear();
  collision::find_contacts({model_, state_, prepared_, end_X_ws_, missed_pairs_, excluded_pairs_,
                            collision::pair_table_with(desc_.interference)},
                           desc, *narrow_phase_scratch_, missed_patches_);
  bool is_any = false;
  for (const model::ContactPatch& patch : missed_patches_) {
    const collision::BodyPair pair{patch.a, patch.b};
    const collision::PreparedShape& a = prepared_[at(model_.bodies[at(pair.a)].shape)];
    const collision::PreparedShape& b = prepared_[at(model_.bodies[at(pair.b)].shape)];
    const double width = collision::thinner_width(a, b);
    const auto points = patch.active();
    const bool is_deep = std::any_of(points.begin(), points.end(), [&](const model::ContactPoint& point) {
      return point.depth > kMissedDepth * width;
    });
    if (!is_deep) continue;
    const double reach =
        collision::relative_reach(a, motion_in_slice(pair.a, h), b, motion_in_slice(pair.b, h));
    if (reach > kSearchedMove * width) continue;
    const auto place = std::lower_bound(
        wide_pairs_.begin(), wide_pairs_.end(), pair,
        [](const collision::WidePair& wide, const collision::BodyPair& p) { return wide.pair < p; });
    if (place != wide_pairs_.end() && place->pair == pair) continue;
    wide_pairs_.insert(place, {pair, reach});
    const auto near = std::lower_bound(near_pairs_.begin(), near_pairs_.end(), pair);
    if (near == near_pairs_.end() || !(*near == pair)) near_pairs_.insert(near, pair);
    is_any = true;
  }
  return is_any;
}

}  // namespace thrum::sim
