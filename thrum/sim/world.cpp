// SPDX-License-Identifier: MIT
// The step. docs/the-step.md explains each stage under the same name.
#include "thrum/sim/world.h"

#include <algorithm>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/thread_limit.h"

namespace thrum::sim {

namespace {

/// Old and new contact points nearer than this share of the length scale can be the same point.
constexpr double kSamePointDistance = 0.02;

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
  const auto timer = times_.stage("step");
  const base::ThreadLimit limit(desc_.threads);
  apply_removals();
  begin_observed_step(h);
  const double start = state_.time;
  double left = h;
  for (int done = 0; left > 0; ++done) {
    begin_observed_slice(done == 0);
    find_pairs(left);
    // What was struck in the last slice may need shorter ones for the rest.
    const int slices = std::min(slice_count_for(left), std::max(1, desc_.max_slices - done));
    if (slices > 1) refilter_pairs(left / slices);
    step_slice(left / slices);
    left = slices > 1 ? left - left / slices : 0;
  }
  end_observed_step(start, h);
}

void World::step_slice(double h)
{
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
  timed("update boxes", [&] { update_moved_boxes(); });
  respond(h);
  finish_step(h);
  report();
}

void World::find_contacts(double h)
{
  const auto timer = times_.stage("find contacts");
  new_patches_.clear();
  collision::NarrowPhaseDesc desc = desc_.narrow_phase;
  desc.step = h;
  collision::find_contacts(
      {model_, state_, prepared_, X_ws_, near_pairs_, excluded_pairs_, collision::default_pair_table()}, desc,
      narrow_phase_scratch_, new_patches_);
  separate_sensor_patches();
  collision::match_contacts(state_.patches, kSamePointDistance * model_.length_scale, narrow_phase_scratch_,
                            new_patches_);
  // Impulses to start from were those of the last step's length.
  if (state_.last_step > 0 && state_.last_step != h)
    collision::scale_warm_impulses(new_patches_, h / state_.last_step);
  previous_patches_.swap(state_.patches);
  state_.patches.swap(new_patches_);
  find_surfaces();
}

// The coefficients of each pair: the scene's table, or the smaller of the two.
void World::find_surfaces()
{
  surfaces_.resize(state_.patches.size());
  for (std::size_t p = 0; p < state_.patches.size(); ++p) {
    surfaces_[p] = model::surface_between(model_, state_.patches[p].a, state_.patches[p].b);
  }
}

// What overlaps a sensor is kept apart, so that no stage that solves, wakes or responds ever sees it.
void World::separate_sensor_patches()
{
  previous_sensor_patches_.swap(state_.sensor_patches);
  state_.sensor_patches.clear();
  const auto is_sensor = [&](model::BodyIndex i) {
    return model_.bodies[at(i)].sensor;
  };
  std::erase_if(new_patches_, [&](const model::ContactPatch& patch) {
    const bool apart = is_sensor(patch.a) || is_sensor(patch.b);
    if (apart) state_.sensor_patches.push_back(patch);
    return apart;
  });
}

void World::order_contacts(double h)
{
  const auto timer = times_.stage("order contacts");
  if (desc_.sleep.enabled) rigid::wake_islands(model_, state_);
  graph_ = stepper_->order_contacts(model_, state_, h);
  // Patches of sleepers wait.
  const auto awake = [&](model::BodyIndex i) {
    return at(model_.bodies, i).motion == model::Motion::dynamic && !at(state_.bodies, i).asleep;
  };
  std::erase_if(graph_.patch_order, [&](std::int32_t p) {
    const model::ContactPatch& patch = state_.patches[at(p)];
    return !awake(patch.a) && !awake(patch.b);
  });
}

rigid::StepFrame World::frame(double h)
{
  return {model_,      state_, graph_.patch_order, surfaces_, graph_.level, graph_.level_count, prepared_,
          near_pairs_, h};
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
