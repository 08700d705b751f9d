// SPDX-License-Identifier: MIT
// The step. docs/the-step.md explains each stage under the same name.
#include "thrum/sim/world.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/team.h"
#include "thrum/base/thread_limit.h"
#include "thrum/collision/narrow_phase.h"
#include "thrum/rigid/contact_graph.h"
#include "thrum/rigid/islands.h"
#include "thrum/rigid/stepper.h"

namespace thrum::sim {

namespace {

/// Old and new contact points nearer than this share of the length scale can be the same point.
constexpr double kSamePointDistance = 0.02;
/// Patches handed to a thread at a time, of which only the surface is looked up.
constexpr std::size_t kSurfaceGrain = 256;
/// The rest of the step has no impact to wait for.
constexpr double kWholeStep = std::numeric_limits<double>::infinity();
/// Impacts cut no slice to less than this share of the step.
constexpr double kMinSlice = 1.0 / 256;
/// Those at which bisection and conservative advancement end a slice are found more closely.
constexpr double kMinExactSlice = 1e-6;
/// A slice may be longer than the stepper's limit by this share, so that rounding adds none.
constexpr double kSliceRounding = 1e-9;
/// What is left of a step below this share of it is rounding, not a slice. Joints and contacts that are
/// corrected within a slice of 4e-17 s would be moved at speeds beyond all bounds.
constexpr double kRestRounding = 1e-12;
/// Impulses to start from grow by at most this when a short slice is followed by a long one: those of a very
/// short slice are mostly rounding.
constexpr double kMaxWarmGrowth = 8;

/// Marks the step as running, until it ends or an observer throws.
class RunningStep {
 public:
  explicit RunningStep(bool& flag) : flag_(flag) { flag_ = true; }
  ~RunningStep() { flag_ = false; }
  RunningStep(const RunningStep&) = delete;
  RunningStep& operator=(const RunningStep&) = delete;

 private:
  bool& flag_;
};

// Removes the patches of pairs that do not touch, to `margin` of their least extent. Those that touch keep
// all their points: a corner that comes down beside others is seen in time.
void remove_distant_pairs(const model::SceneModel& model, std::span<const collision::PreparedShape> shapes,
                          double margin, std::vector<model::ContactPatch>& patches,
                          collision::ContactUpdate& update)
{
  const auto extent = [&](model::BodyIndex i) {
    const collision::PreparedShape& shape = shapes[at(model.bodies[at(i)].shape)];
    return std::isfinite(shape.width) ? shape.min_extent : std::numeric_limits<double>::infinity();
  };
  std::size_t kept = 0;
  for (std::size_t begin = 0; begin < patches.size();) {
    std::size_t end = begin;
    double deepest = -std::numeric_limits<double>::infinity();
    for (; end < patches.size() && patches[end].a == patches[begin].a && patches[end].b == patches[begin].b;
         ++end) {
      for (const model::ContactPoint& point : patches[end].active()) deepest = std::max(deepest, point.depth);
    }
    const double gap = margin * std::min(extent(patches[begin].a), extent(patches[begin].b));
    for (; begin < end; ++begin) {
      if (deepest < -gap) continue;
      if (kept != begin) patches[kept] = patches[begin];
      update.kept_from[kept++] = update.kept_from[begin];
    }
  }
  if (kept == patches.size()) return;
  patches.resize(kept);
  update.kept_from.resize(kept);
  update.is_same = false;
}

}  // namespace

void World::step(double h)
{
  if (!(h > 0) || !std::isfinite(h)) throw Error("The time step must be a positive number of seconds.");
  require_no_step("step");
  const RunningStep running(is_stepping_);
  contacts_.clear();
  impulses_.clear();
  events_.clear();
  responses_.clear();
  timestamped_responses_ = 0;
  warped_contact_energy_ = 0;
  const auto timer = times_.stage("step");
  const base::ThreadLimit limit(desc_.threads);
  base::wake_team();
  apply_removals();
  begin_observed_step(h);
  stepper_->begin_step(h);
  // Rows follow the bodies to first order in any case; other steppers take contacts as they are found.
  narrow_phase_scratch_->begin_step(desc_.stepper == StepperKind::constraint ? h : 0.0);
  const double start = state_.time;
  double left = h;
  int whole = 0;  // slices that were not cut by an impact
  next_slice_ = kWholeStep;
  const bool wants_to_warp = desc_.time_of_impact == TimeOfImpactMethod::timewarp;
  const bool warps = wants_to_warp && can_warp();
  if (wants_to_warp && !warps) ++limit_counts_.steps_not_warped;
  if (warps) {
    step_by_timewarp(h);
    left = 0;
  }
  // At most max_slices, and two for each cut: up to an impact, and the short one that resolves it.
  int short_slices = 0;
  for (int cuts = 0; left > 0;) {
    begin_observed_slice(left == h);
    find_pairs(left);
    // What was struck in the last slice may need shorter ones for the rest.
    const double needed = slices_needed(left);
    if (left == h) count_slices(needed, h);
    const double slices = std::min(needed, 1.0 * std::max(1, desc_.max_slices - whole));
    const double max_slice = left / std::ceil(left / stepper_->max_slice() * (1 - kSliceRounding));
    if (next_slice_ < left / slices && short_slices++ >= desc_.max_impact_slices) next_slice_ = kWholeStep;
    const double length = std::min({left / slices, next_slice_, max_slice});
    if (length < left) refilter_pairs(length);
    next_slice_ = kWholeStep;
    const double min_slice =
        desc_.time_of_impact > TimeOfImpactMethod::continuous ? kMinExactSlice : kMinSlice;
    const double taken = step_slice(length, min_slice * h, cuts < desc_.max_impact_slices);
    (taken < length ? cuts : whole) += 1;
    left = left - taken > kRestRounding * h ? left - taken : 0;
  }
  for (model::BodyState& body : state_.bodies) {
    body.force.setZero();
    body.torque.setZero();
  }
  end_observed_step(start, h);
  close_up_places();
}

void World::count_slices(double needed, double h)
{
  // The stepper may cut the step into more slices than max_slices.
  const double allowed = std::max(1.0 * desc_.max_slices, h / stepper_->max_slice());
  if (!(needed > allowed)) return;
  ++limit_counts_.long_slices;
  limit_counts_.max_slices_needed = std::max(limit_counts_.max_slices_needed, needed);
}

LimitCounts World::limit_counts() const
{
  LimitCounts counts = limit_counts_;
  counts.large_impacts = stepper_->large_impacts();
  counts.long_substeps = stepper_->substep_limits().slices;
  counts.max_substeps_needed = stepper_->substep_limits().max_needed;
  return counts;
}

double World::step_slice(double h, double min_slice, bool may_cut)
{
  const double taken = solve_until_impact(h, min_slice, may_cut);
  {
    const auto timer = times_.stage("update boxes");
    update_moved_boxes();
  }
  respond(taken);
  finish_step(taken);
  report();
  return taken;
}

void World::solve_slice(double h)
{
  ++impact_counts_.solved_slices;
  impact_counts_.solved_bodies += awake_bodies();
  find_contacts(h);
  filter_contacts(h);
  order_contacts(h);
  rigid::StepFrame now = frame(h);
  const auto timed = [&](const char* name, auto&& stage) {
    const auto inner = times_.stage(name);
    stage();
  };
  timed("collide", [&] { stepper_->collide(now); });
  const int substeps = stepper_->substeps();
  const double h_s = h / substeps;
  for (int i = 0; i < substeps; ++i) {
    timed("advance velocities", [&] { stepper_->advance_velocities(now, h_s); });
    timed("resolve contacts", [&] { stepper_->resolve_contacts(now, h_s); });
    timed("advance positions", [&] { stepper_->advance_positions(now, h_s); });
    timed("bounce", [&] { stepper_->bounce(now, h_s); });
  }
  timed("store results", [&] { stepper_->store_results(now); });
}

void World::find_contacts(double h)
{
  const auto timer = times_.stage("find contacts");
  if (desc_.reports.events) list_pushed_pairs();
  // The slice may be undone, by an observer or for an impact: then the contacts of the one before are taken
  // back.
  if (!called_observers_.empty() || desc_.time_of_impact != TimeOfImpactMethod::none) {
    base::copy_in_team(state_.patches, previous_patches_);
    base::copy_in_team(state_.references, previous_references_);
  }
  collision::NarrowPhaseDesc desc = desc_.narrow_phase;
  desc.step = h;
  if (finds_impact_times()) {
    // A pair that has just not touched may do so now.
    desc.margin = std::max(desc.margin, 2 * desc_.impact_tolerance);
    desc.kept_move = 0;
  }
  collision::update_contacts(
      {model_, state_, prepared_, X_ws_, near_pairs_, excluded_pairs_,
       collision::pair_table_with(desc_.interference), deflections_, wide_pairs_, finds_impact_times()},
      desc, kSamePointDistance * model_.length_scale, *narrow_phase_scratch_, state_, *contact_update_);
  limit_counts_.points_left_out += contact_update_->left_out;
  // Contacts of a pair begin when it touches.
  if (finds_impact_times())
    remove_distant_pairs(model_, prepared_, desc.margin, state_.patches, *contact_update_);
  // What overlaps a sensor is kept apart, so that no stage that solves, wakes or responds ever sees it.
  previous_sensor_patches_.swap(state_.sensor_patches);
  state_.sensor_patches.swap(contact_update_->sensor_patches);
  // Impulses to start from were those of the last step's length.
  if (state_.last_step > 0 && state_.last_step != h && !stepper_->keeps_forces())
    collision::scale_warm_impulses(
        state_.patches, std::min(h / state_.last_step, std::max(kMaxWarmGrowth, 1.0 * desc_.max_slices)));
  same_contacts_ = contact_update_->is_same && !contacts_changed_;
  contacts_changed_ = false;
  if (!same_contacts_ || !called_observers_.empty() || surfaces_changed_) find_surfaces();
  surfaces_changed_ = !called_observers_.empty();
}

void World::restore_previous_contacts()
{
  state_.patches.swap(previous_patches_);
  state_.references.swap(previous_references_);
  state_.sensor_patches.swap(previous_sensor_patches_);
  stepper_->forget_contacts();
  contacts_changed_ = true;
}

// The coefficients of each pair: the scene's table, or the smaller of the two.
void World::find_surfaces()
{
  surfaces_.resize(state_.patches.size());
  base::team_for(
      state_.patches.size(),
      [&](std::size_t p) {
        surfaces_[p] = model::surface_between(model_, state_.patches[p].a, state_.patches[p].b);
      },
      kSurfaceGrain);
}

void World::order_contacts(double h)
{
  const auto timer = times_.stage("order contacts");
  if (desc_.sleep.enabled) rigid::wake_islands(model_, state_);
  if (is_ordered(h)) return;
  *graph_ = stepper_->order_contacts(model_, state_, h);
  // Patches of sleepers wait.
  const auto awake = [&](model::BodyIndex i) {
    const model::BodyProperties& body = at(model_.bodies, i);
    return (body.motion == model::Motion::dynamic || body.vibrates) && !at(state_.bodies, i).asleep;
  };
  std::erase_if(graph_->patch_order, [&](std::int32_t p) {
    const model::ContactPatch& patch = state_.patches[at(p)];
    return !awake(patch.a) && !awake(patch.b);
  });
}

// Whether the graph of the slice before is that of this one: it has the same patches, found at the same
// poses, and the same bodies sleep.
bool World::is_ordered(double h)
{
  const bool same_sleepers = graph_asleep_.size() == state_.bodies.size() &&
                             std::equal(graph_asleep_.begin(), graph_asleep_.end(), state_.bodies.begin(),
                                        [](std::uint8_t asleep, const model::BodyState& body) {
                                          return (asleep != 0) == body.asleep;
                                        });
  if (same_contacts_ && same_sleepers && graph_step_ == h) return true;
  graph_step_ = h;
  graph_asleep_.clear();
  for (const model::BodyState& body : state_.bodies) graph_asleep_.push_back(body.asleep ? 1 : 0);
  return false;
}

rigid::StepFrame World::frame(double h)
{
  return {model_,
          state_,
          graph_->patch_order,
          surfaces_,
          graph_->level,
          graph_->level_count,
          prepared_,
          near_pairs_,
          contact_update_->kept_from,
          same_contacts_,
          h};
}

void World::finish_step(double h)
{
  const auto timer = times_.stage("finish step");
  state_.time += h;
  state_.last_step = h;
  ++state_.step;
  timestamp_responses();
  rigid::sleep_islands(model_, state_, desc_.sleep, h);
}

void World::timestamp_responses()
{
  for (; timestamped_responses_ < responses_.size(); ++timestamped_responses_) {
    responses_[timestamped_responses_].step = state_.step;
    responses_[timestamped_responses_].time = state_.time;
  }
}

}  // namespace thrum::sim
