// SPDX-License-Identifier: MIT
// What observers see of a step by timewarp: one row of slices for the whole world.
//
//   group 1   |-------|---------------------|        Slices of the groups that were not undone.
//   group 2   |-----------------|-----------|
//   shown     |-------|---------|-----------|        after_slice is called for each of these.
//
// A contact of a group comes in every slice shown that its own covers, with its share of the impulses; one
// with an impact, which is at the beginning of its slice, comes in the first of them only. Bodies are between
// the ends of their own slices on straight lines, with the velocities that they have at the later one. How
// they ring is that of the last end of a slice of theirs, and the forces on their modes are those of the
// substeps, of which the first and the last may be cut.
#include <algorithm>
#include <map>
#include <utility>

#include "thrum/flexible/flexible_stepper.h"
#include "thrum/sim/step_observer.h"
#include "thrum/sim/world_timewarp.h"

namespace thrum::sim {

namespace {

/// A part of a substep below this share of it is rounding.
constexpr double kRoundingShare = 1e-9;

model::BodyState between(const model::BodyState& before, const model::BodyState& after, double fraction)
{
  model::BodyState body = after;
  if (fraction >= 1) return body;
  body.X_wb.position += (1 - fraction) * (before.X_wb.position - after.X_wb.position);
  body.X_wb.rotation = before.X_wb.rotation.slerp(fraction, after.X_wb.rotation);
  return body;
}

bool has_impact(const model::ContactPatch& patch)
{
  const auto points = patch.active();
  return std::any_of(points.begin(), points.end(), [](const model::ContactPoint& point) {
    return point.bounced || (point.is_new && point.normal_impulse > 0);
  });
}

void scale_impulses(model::ContactPatch& patch, double factor)
{
  patch.friction_impulse *= factor;
  for (model::ContactPoint& point : patch.active()) point.normal_impulse *= factor;
}

// What substeps of a slice that began at `start` did from `begin` to `end`.
flexible::ModalForces part_of(const flexible::ModalForces& on, double start, double begin, double end)
{
  flexible::ModalForces part{on.body, {}, {}};
  const std::size_t modes = on.durations.empty() ? 0 : on.forces.size() / on.durations.size();
  double time = start;
  for (std::size_t k = 0; k < on.durations.size(); ++k) {
    const double until = time + on.durations[k];
    const double length = std::min(until, end) - std::max(time, begin);
    time = until;
    // Ends of slices and sums of substeps differ by rounding.
    if (!(length > kRoundingShare * on.durations[k])) continue;
    part.durations.push_back(length);
    const auto first = on.forces.begin() + static_cast<std::ptrdiff_t>(k * modes);
    part.forces.insert(part.forces.end(), first, first + static_cast<std::ptrdiff_t>(modes));
  }
  return part;
}

// The part of a contact from some time of its slice on; `way` is how far its bodies have gone until then.
void continue_patch(model::ContactPatch& patch, const Vec3& way)
{
  for (model::ContactPoint& point : patch.active()) {
    point.position += way;
    point.normal_speed = 0;
    point.is_new = false;
    point.bounced = false;
  }
}

}  // namespace

std::vector<const World::WarpGroup::Slice*> World::Timewarp::slices_taken() const
{
  std::vector<const WarpGroup::Slice*> slices;
  const auto add = [&](const WarpGroup& group) {
    for (const WarpGroup::Slice& slice : group.history) slices.push_back(&slice);
  };
  // Bodies that turned out to meet something have slices of their groups as well, which come later.
  add(free_);
  for (const WarpGroup& group : groups_) {
    if (!group.is_merged) add(group);
  }
  return slices;
}

// Bodies and contacts of a slice of a group, from `begin` to `end` of the step. `before` are the bodies at
// `begin`.
void World::Timewarp::show_part(const WarpGroup::Slice& slice, double begin, double end,
                                const std::vector<model::BodyState>& before)
{
  model::SceneState& state = world_.state_;
  const double length = slice.end - slice.begin;
  for (std::size_t i = 0; i < slice.bodies.size(); ++i) {
    if (is_fixed(slice.bodies[i])) continue;
    state.bodies[at(slice.bodies[i])] =
        between(slice.before[i], slice.after[i], (end - slice.begin) / length);
  }
  const bool is_first = slice.begin >= begin;
  const auto way = [&](model::BodyIndex body) -> Vec3 {
    const auto place = std::lower_bound(slice.bodies.begin(), slice.bodies.end(), body);
    const auto local = static_cast<std::size_t>(place - slice.bodies.begin());
    return before[at(body)].X_wb.position - slice.before[local].X_wb.position;
  };
  for (model::ContactPatch patch : slice.patches) {
    if (has_impact(patch)) {
      if (!is_first) continue;
    } else {
      scale_impulses(patch, (end - begin) / length);
    }
    const bool both_move = !is_fixed(patch.a) && !is_fixed(patch.b);
    if (!is_first) {
      continue_patch(patch, both_move ? Vec3(0.5 * (way(patch.a) + way(patch.b)))
                                      : way(is_fixed(patch.a) ? patch.b : patch.a));
    }
    state.patches.push_back(patch);
  }
}

// Of a body that is in two slices, the later one is of the group that it came into.
void World::Timewarp::show_vibration(const std::vector<const WarpGroup::Slice*>& slices, double begin,
                                     double end)
{
  if (world_.flexible_ == nullptr) return;
  model::SceneState& state = world_.state_;
  std::map<model::BodyIndex, flexible::ModalForces> forces;
  for (const WarpGroup::Slice* slice : slices) {
    if (!(slice->begin < end && slice->end > begin)) continue;
    for (const flexible::ModalForces& on : slice->modal_forces)
      forces[world_.index_of(on.body)] = part_of(on, slice->begin, begin, end);
    if (slice->end > end) continue;
    for (const model::BodyIndex body : slice->bodies) {
      std::erase_if(state.modal_states,
                    [&](const model::ModalState& ring) { return ring.body == state.body_ids[at(body)]; });
    }
    state.modal_states.insert(state.modal_states.end(), slice->rings.begin(), slice->rings.end());
  }
  std::vector<flexible::ModalForces> all;
  for (auto& [body, on] : forces) all.push_back(std::move(on));
  world_.flexible_->set_modal_forces(std::move(all));
}

void World::Timewarp::show_slices()
{
  if (!is_observed()) return;
  const std::vector<const WarpGroup::Slice*> slices = slices_taken();
  std::vector<double> times = {0, h_};
  for (const WarpGroup::Slice* slice : slices) times.push_back(slice->begin);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());

  model::SceneState& state = world_.state_;
  std::vector<model::BodyState> end_bodies = std::exchange(state.bodies, start_);
  std::vector<model::ContactPatch> end_patches = state.patches;
  std::vector<model::ModalState> end_rings = std::exchange(state.modal_states, start_rings_);
  const double end_time = state.time;
  const auto restore_end = [&] {
    state.bodies.swap(end_bodies);
    state.patches.swap(end_patches);
    state.modal_states.swap(end_rings);
    state.time = end_time;
    world_.bodies_before_slice_.clear();
  };
  std::vector<model::ContactPatch> of_sleepers = end_patches;
  std::erase_if(of_sleepers, [&](const model::ContactPatch& patch) { return is_in_group(patch.a, patch.b); });
  for (std::size_t k = 0; k + 1 < times.size(); ++k) {
    const std::vector<model::BodyState> before = state.bodies;
    if (k > 0 && !world_.bodies_before_step_.empty()) world_.bodies_before_slice_ = before;
    state.patches = of_sleepers;
    for (model::ContactPatch& patch : state.patches) scale_impulses(patch, (times[k + 1] - times[k]) / h_);
    for (const WarpGroup::Slice* slice : slices) {
      if (slice->begin < times[k + 1] && slice->end > times[k])
        show_part(*slice, times[k], times[k + 1], before);
    }
    sort_contacts(state);
    show_vibration(slices, times[k], times[k + 1]);
    state.time = start_time_ + times[k];
    world_.find_surfaces();
    try {
      world_.show_slice(times[k + 1] - times[k]);
    } catch (...) {
      restore_end();
      throw;
    }
  }
  restore_end();
  world_.find_surfaces();
}

}  // namespace thrum::sim
