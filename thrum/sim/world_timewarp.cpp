// SPDX-License-Identifier: MIT
// Timewarp [Lecture13; Mirtich 2000]: groups of bodies that may meet advance through a step each at its own
// time, so that an impact ends a slice of its group only.
//
//   groups     bodies whose boxes over the whole step overlap, that touch, or that a joint connects. Bodies
//              that meet nothing are advanced together, in one slice.
//   queue      the group whose local time is earliest advances next, by one slice: up to its first impact
//              (conservative advancement) or the end of the step. Its state is saved before that.
//   rollback   an impact may send a body to where its box did not say. If its way in the slice meets the box
//              of a body outside its group, the slice is undone; the groups concerned go back to the start of
//              the slice, become one group, and advance from there. No other group changes.
//   reclaim    no group can be sent back to before the earliest local time (global virtual time): older saved
//              states are dropped.
//
// All groups are at the same time again at the end of World::step(). The members of the world that a slice
// works on (model, state, pairs, reports) are swapped with those of the group while it advances.
//
// With the flexible stepper this is the queue of [Zheng11, algorithm 1]: slices end at the stepper's own
// times, and at impacts only where a body would pass, as with `continuous`. What is rolled back is the whole
// group that made a slice, to the state that it had before: the paper takes back one body, whose partner
// keeps the impulse, and interpolates its state, which weakens its modes.
//
// Where we leave the papers: groups are formed at the start of each step from boxes, rather than split as
// soon as bodies part; and events are slices of groups, since the solvers work on groups.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "thrum/base/index.h"
#include "thrum/collision/narrow_phase.h"
#include "thrum/collision/time_of_impact.h"
#include "thrum/flexible/flexible_stepper.h"
#include "thrum/sim/world_timewarp.h"

namespace thrum::sim {

namespace {

/// Impacts cut no slice of a group to less than this share of the step.
constexpr double kMinGroupSlice = 1e-6;
/// Likewise where contacts look ahead, as those of the flexible stepper do.
constexpr double kMinSliceAhead = 1.0 / 256;
/// A slice may be longer than the stepper's limit by this share, so that rounding adds none.
constexpr double kSliceRounding = 1e-9;
/// What is left of a step below this share of it is rounding, not a slice.
constexpr double kRestRounding = 1e-12;

/// Pairs of boxes that overlap, of which not both are fixed; sorted.
void overlapping_pairs(std::span<const Box3> boxes, const std::vector<model::BodyProperties>& bodies,
                       std::vector<collision::BodyPair>& pairs)
{
  pairs.clear();
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return std::pair(boxes[i].min().x(), i) < std::pair(boxes[j].min().x(), j);
  });
  std::vector<std::size_t> open;
  for (const std::size_t i : order) {
    std::erase_if(open, [&](std::size_t j) { return boxes[j].max().x() < boxes[i].min().x(); });
    for (const std::size_t j : open) {
      const bool both_fixed =
          bodies[i].motion == model::Motion::fixed && bodies[j].motion == model::Motion::fixed;
      if (both_fixed || !boxes[i].intersects(boxes[j])) continue;
      pairs.push_back(
          {static_cast<model::BodyIndex>(std::min(i, j)), static_cast<model::BodyIndex>(std::max(i, j))});
    }
    open.push_back(i);
  }
  std::sort(pairs.begin(), pairs.end());
}

}  // namespace

// -----------------------------------------------------------------------------------------------------------
// One group

void World::swap_group(WarpGroup& group)
{
  std::swap(model_, group.model);
  // These are of the world for every group.
  model_.shapes.swap(group.model.shapes);
  model_.surfaces.swap(group.model.surfaces);
  model_.surface_pairs.swap(group.model.surface_pairs);
  std::swap(state_, group.now.state);
  X_ws_.swap(group.X_ws);
  boxes_.swap(group.swept_boxes);
  near_pairs_.swap(group.near_pairs);
  excluded_pairs_.swap(group.excluded_pairs);
  removed_.swap(group.removed);
  contacts_.swap(group.now.contacts);
  impulses_.swap(group.now.impulses);
  events_.swap(group.now.events);
  stepper_->forget_contacts();
  contacts_changed_ = true;
  graph_asleep_.clear();
  in_group_ = !in_group_;
}

void World::find_pairs_in_group(double h)
{
  stepper_->find_deflections(model_, state_, prepared_, std::min(h, stepper_->max_slice()), deflections_);
  X_ws_.resize(model_.bodies.size());
  boxes_.resize(model_.bodies.size());
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    X_ws_[i] = state_.bodies[i].X_wb * model_.bodies[i].X_bs;
    boxes_[i] = swept_box(i, h);
  }
  overlapping_pairs(boxes_, model_.bodies, near_pairs_);
  // Sensors are looked at by the world.
  std::erase_if(near_pairs_, [&](const collision::BodyPair& pair) {
    return model_.bodies[at(pair.a)].sensor || model_.bodies[at(pair.b)].sensor;
  });
  remove_far_pairs();
}

void World::list_fast_pairs_in_group(double h)
{
  std::vector<Box3> boxes(model_.bodies.size());
  for (std::size_t i = 0; i < boxes.size(); ++i)
    boxes[i] = box_of_motion(static_cast<model::BodyIndex>(i), h);
  overlapping_pairs(boxes, model_.bodies, fast_pairs_);
  std::erase_if(fast_pairs_, [&](const collision::BodyPair& pair) { return !may_collide(pair); });
}

// One slice of a group, which ends at `end` at the latest. `h` is the whole step.
void World::advance_group(WarpGroup& group, double end, double h)
{
  swap_group(group);
  const double left = end - group.now.time;
  find_pairs_in_group(left);
  const double slices = std::min(slices_needed(left), 1.0 * std::max(1, desc_.max_slices - group.now.whole));
  // What meets nothing moves exactly however long the slice is.
  const bool is_free = near_pairs_.empty() && model_.joints.empty();
  const double max_slice =
      is_free ? left : left / std::ceil(left / stepper_->max_slice() * (1 - kSliceRounding));
  double length = std::min(left / slices, max_slice);
  if (group.now.next_slice < length && group.now.short_slices++ < desc_.max_impact_slices)
    length = group.now.next_slice;
  if (length < left) refilter_pairs(length);
  const double min_slice = (flexible_ != nullptr ? kMinSliceAhead : kMinGroupSlice) * h;
  const double taken = solve_until_impact(length, min_slice, group.now.cuts < desc_.max_impact_slices);
  group.now.next_slice = std::exchange(next_slice_, std::numeric_limits<double>::infinity());
  (taken < length ? group.now.cuts : group.now.whole) += 1;
  group.boxes.resize(model_.bodies.size());
  for (std::size_t i = 0; i < group.boxes.size(); ++i) {
    if (model_.bodies[i].motion == model::Motion::fixed) continue;
    double margin = desc_.narrow_phase.margin * prepared_[at(model_.bodies[i].shape)].min_extent;
    Box3 box = box_of_motion(static_cast<model::BodyIndex>(i), taken);
    if (!deflections_.empty()) {
      margin += deflections_[i].reach;
      if (deflections_[i].deformed != nullptr)
        box.extend(collision::world_bounds(*deflections_[i].deformed, X_ws_[i], 0));
    }
    group.boxes[i] = Box3(box.min().array() - margin, box.max().array() + margin);
  }
  group.now.contact_energy = stepper_->contact_energy();
  const double begin =
      std::exchange(group.now.time, left - taken > kRestRounding * h ? group.now.time + taken : end);
  if (!called_observers_.empty()) {
    WarpGroup::Slice& slice = group.history.emplace_back();
    slice = {begin,         group.now.time, group.bodies,        slice_start_.bodies,
             state_.bodies, state_.patches, state_.modal_states, {}};
    if (flexible_ != nullptr) slice.modal_forces = flexible_->report().modal_forces;
    for (model::ContactPatch& patch : slice.patches) {
      patch.a = group.bodies[at(patch.a)];
      patch.b = group.bodies[at(patch.b)];
    }
  }
  finish_step(taken);
  report();
  swap_group(group);
}

// -----------------------------------------------------------------------------------------------------------
// A step

void World::Timewarp::run()
{
  if (is_observed()) {
    start_ = world_.state_.bodies;
    start_rings_ = world_.state_.modal_states;
  }
  start_time_ = world_.state_.time;
  make_groups();
  if (!free_.bodies.empty()) advance_free_bodies();
  for (std::size_t g = 0; g < groups_.size(); ++g) queue_.push({groups_[g].now.time, g});
  while (!queue_.empty()) {
    const std::size_t g = queue_.top().group;
    const double time = queue_.top().time;
    queue_.pop();
    WarpGroup& group = groups_[g];
    if (group.is_merged || group.now.time != time || !(time < h_)) continue;
    reclaim(group, time);
    group.saved.push_back(group.now);
    world_.advance_group(group, h_, h_);
    const std::size_t result = merge_with_those_met(g) ? groups_.size() - 1 : g;
    queue_.push({groups_[result].now.time, result});
  }
  write_back();
}

// Saved states before the global virtual time, up to the last one that may still be needed.
void World::Timewarp::reclaim(WarpGroup& group, double virtual_time)
{
  const auto later = std::find_if(group.saved.begin(), group.saved.end(),
                                  [&](const WarpGroup::Saved& s) { return s.time > virtual_time; });
  if (later - group.saved.begin() > 1) group.saved.erase(group.saved.begin(), later - 1);
}

// Whether the last slice of a group took a body to where bodies outside the group may be. Then the groups
// become one, at the start of the slice.
bool World::Timewarp::merge_with_those_met(std::size_t g)
{
  std::vector<std::size_t> others;
  std::vector<model::BodyIndex> strays;  // fixed bodies, and free ones
  std::vector<model::BodyIndex> found;
  WarpGroup& group = groups_[g];
  for (std::size_t i = 0; i < group.bodies.size(); ++i) {
    const model::BodyIndex body = group.bodies[i];
    if (is_fixed(body) || world_.boxes_[at(body)].contains(group.boxes[i])) continue;
    world_.boxes_[at(body)].extend(group.boxes[i]);
    world_.broad_phase_.update(body, world_.boxes_[at(body)]);
    world_.broad_phase_.overlapping(group.boxes[i], found);
    for (const model::BodyIndex other : found) {
      const collision::BodyPair pair{std::min(body, other), std::max(body, other)};
      if (other == body || group.local(other) != model::kNone || !world_.may_collide(pair)) continue;
      // The broad phase looks at looser boxes, which depend on steps before: these decide nothing.
      const collision::PreparedShape& shape = world_.prepared_[at(world_.model_.bodies[at(other)].shape)];
      if (!shape.unbounded && !world_.boxes_[at(other)].intersects(group.boxes[i])) continue;
      const std::int32_t theirs = group_of_[at(other)];
      if (theirs == model::kNone) {
        strays.push_back(other);
      } else if (!is_fixed(other)) {
        others.push_back(at(theirs));
      }
    }
  }
  if (others.empty() && strays.empty()) return false;
  const auto unique = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  unique(others);
  unique(strays);
  merge(g, others, strays);
  return true;
}

void World::Timewarp::go_back(WarpGroup& group, double time)
{
  while (group.now.time > time) {
    ImpactCounts& counts = world_.impact_counts_;
    ++counts.undone_slices;
    for (const model::BodyIndex i : group.bodies) counts.undone_bodies += is_fixed(i) ? 0 : 1;
    group.now = group.saved.back();
    group.saved.pop_back();
  }
  std::erase_if(group.history, [&](const WarpGroup::Slice& slice) { return slice.begin >= group.now.time; });
}

void World::Timewarp::merge(std::size_t g, const std::vector<std::size_t>& others,
                            const std::vector<model::BodyIndex>& strays)
{
  std::vector<WarpGroup> parts;
  const double time = groups_[g].saved.back().time;
  go_back(groups_[g], time);
  parts.push_back(std::move(groups_[g]));
  groups_[g].is_merged = true;
  for (const std::size_t k : others) {
    go_back(groups_[k], time);
    parts.push_back(std::move(groups_[k]));
    groups_[k].is_merged = true;
  }
  for (const model::BodyIndex i : strays) {
    WarpGroup& part = parts.emplace_back();
    part.bodies = {i};
    start_group(part);
    if (!is_fixed(i) && !world_.state_.bodies[at(i)].asleep) ++world_.impact_counts_.undone_bodies;
  }
  // Up to the same time. Nothing meets anything on the way: these slices were solved before.
  for (WarpGroup& part : parts) {
    while (part.now.time < time) world_.advance_group(part, time, h_);
  }
  WarpGroup merged;
  for (const WarpGroup& part : parts)
    merged.bodies.insert(merged.bodies.end(), part.bodies.begin(), part.bodies.end());
  std::sort(merged.bodies.begin(), merged.bodies.end());
  merged.bodies.erase(std::unique(merged.bodies.begin(), merged.bodies.end()), merged.bodies.end());
  start_group(merged);
  merged.now.state.modal_states.clear();
  for (WarpGroup& part : parts) {
    take_over(part, merged);
    std::move(part.history.begin(), part.history.end(), std::back_inserter(merged.history));
  }
  sort_contacts(merged.now.state);
  merged.now.time = time;
  merged.now.state.time = world_.state_.time + time;
  const auto number = static_cast<std::int32_t>(groups_.size());
  for (const model::BodyIndex i : merged.bodies) {
    if (!is_fixed(i)) group_of_[at(i)] = number;
  }
  groups_.push_back(std::move(merged));
}

void World::Timewarp::take_over(const WarpGroup& part, WarpGroup& merged)
{
  const model::SceneState& from = part.now.state;
  model::SceneState& to = merged.now.state;
  for (std::size_t i = 0; i < part.bodies.size(); ++i)
    to.bodies[at(merged.local(part.bodies[i]))] = from.bodies[i];
  to.modal_states.insert(to.modal_states.end(), from.modal_states.begin(), from.modal_states.end());
  for (std::size_t j = 0; j < part.joints.size(); ++j) {
    const auto place = std::find(merged.joints.begin(), merged.joints.end(), part.joints[j]);
    if (place != merged.joints.end())
      to.joints[static_cast<std::size_t>(place - merged.joints.begin())] = from.joints[j];
  }
  const auto append = [&](const auto& list, auto& into, auto&& change) {
    for (auto entry : list) {
      entry.a = merged.local(part.bodies[at(entry.a)]);
      entry.b = merged.local(part.bodies[at(entry.b)]);
      change(entry);
      into.push_back(entry);
    }
  };
  // The impulses of all parts are to be those of a slice of the same length.
  std::vector<model::ContactPatch> patches = from.patches;
  scale_to(world_.state_.last_step > 0 ? world_.state_.last_step : h_, from.last_step, patches);
  to.last_step = world_.state_.last_step > 0 ? world_.state_.last_step : h_;
  const auto nothing = [](auto&) {
  };
  append(patches, to.patches, nothing);
  append(from.references, to.references, nothing);
  merged.now.contacts.insert(merged.now.contacts.end(), part.now.contacts.begin(), part.now.contacts.end());
  merged.now.impulses.insert(merged.now.impulses.end(), part.now.impulses.begin(), part.now.impulses.end());
  merged.now.events.insert(merged.now.events.end(), part.now.events.begin(), part.now.events.end());
  merged.now.contact_energy += part.now.contact_energy;
  merged.now.cuts = std::max(merged.now.cuts, part.now.cuts);
  merged.now.whole = std::max(merged.now.whole, part.now.whole);
  merged.now.short_slices = std::max(merged.now.short_slices, part.now.short_slices);
  merged.now.next_slice = std::min(merged.now.next_slice, part.now.next_slice);
}

bool World::can_warp() const
{
  // With the flexible stepper sensors are not looked at.
  if (flexible_ != nullptr && std::any_of(model_.bodies.begin(), model_.bodies.end(),
                                          [](const model::BodyProperties& body) { return body.sensor; }))
    return false;
  // In slices that end elsewhere the passes over joints moved one body in 10,000 elsewhere by 4 cm in a step.
  if (desc_.stepper == StepperKind::impulse && !model_.joints.empty()) return false;
  return std::all_of(observers_.begin(), observers_.end(),
                     [](const StepObserver* observer) { return observer->only_watches(); });
}

// What overlaps sensors at the start of the step, of all bodies at one time.
void World::find_sensor_patches(double h)
{
  std::vector<collision::BodyPair> pairs;
  for (const collision::BodyPair& pair : near_pairs_) {
    if (model_.bodies[at(pair.a)].sensor || model_.bodies[at(pair.b)].sensor) pairs.push_back(pair);
  }
  collision::NarrowPhaseDesc desc = desc_.narrow_phase;
  desc.step = h;
  state_.sensor_patches.clear();
  if (pairs.empty()) return;
  collision::find_contacts({model_, state_, prepared_, X_ws_, pairs, excluded_pairs_,
                            collision::pair_table_with(desc_.interference)},
                           desc, *narrow_phase_scratch_, state_.sensor_patches);
}

void World::step_by_timewarp(double h)
{
  if (flexible_ != nullptr) looks_ahead_ = true;  // as in its groups
  find_pairs(h);
  const std::vector<model::ContactPatch> sensed_before = state_.sensor_patches;
  find_sensor_patches(h);
  const std::vector<model::ContactPatch> sensed = state_.sensor_patches;
  previous_sensor_patches_.clear();
  Timewarp timewarp(*this, h);
  timewarp.run();
  deflections_.clear();  // of the last group
  previous_sensor_patches_ = sensed_before;
  state_.sensor_patches = sensed;
  if (desc_.reports.events) report_sensor_events();
  if (desc_.reports.contacts) {
    for (const model::ContactPatch& patch : state_.sensor_patches) report_patch_contacts(patch);
  }
  contacts_changed_ = true;
  update_moved_boxes();
  timewarp.show_slices();
}

}  // namespace thrum::sim
