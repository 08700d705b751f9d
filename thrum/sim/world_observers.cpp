// SPDX-License-Identifier: MIT
// When observers are called in a step, and what they are given.
#include <fmt/format.h>

#include <algorithm>

#include "thrum/base/error.h"
#include "thrum/collision/narrow_phase.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

StepView::StepView(const World& world, double time_, double h_, std::span<const model::BodyState> before,
                   bool is_complete)
    : time(time_),
      h(h_),
      model(world.model_),
      state(world.state_),
      bodies_before(before),
      surfaces(world.surfaces_),
      shapes(world.prepared_),
      world_(world),
      is_complete_(is_complete)
{
}

void World::require_no_step(const char* call) const
{
  if (!is_stepping_) return;
  throw Error(
      fmt::format("World::{}() was called by an observer while the step runs. Observers act on bodies "
                  "through StepActions; make this call after step() has returned.",
                  call));
}

void World::add_observer(StepObserver& observer)
{
  if (std::find(observers_.begin(), observers_.end(), &observer) != observers_.end())
    throw Error("This observer was added to the world before; remove it first to put it at the end.");
  observer.check_state(state_);
  observers_.push_back(&observer);
}

void World::remove_observer(StepObserver& observer)
{
  std::erase(observers_, &observer);
  std::replace(called_observers_.begin(), called_observers_.end(), &observer,
               static_cast<StepObserver*>(nullptr));
}

template <class Call>
void World::for_each_observer(const Call& call)
{
  for (std::size_t i = 0; i < called_observers_.size(); ++i) {
    if (called_observers_[i] != nullptr) call(*called_observers_[i]);
  }
}

// The list is copied, so that observers may come and go while it is walked.
void World::begin_observed_step(double h)
{
  called_observers_ = observers_;
  bodies_before_step_.clear();
  bodies_before_slice_.clear();
  if (std::any_of(observers_.begin(), observers_.end(),
                  [](const StepObserver* observer) { return observer->needs_bodies_before(); }))
    bodies_before_step_ = state_.bodies;
  if (called_observers_.empty()) return;
  surfaces_.clear();
  const StepView view(*this, state_.time, h, bodies_before_step_, false);
  for_each_observer([&](StepObserver& observer) { observer.before_step(view); });
}

void World::begin_observed_slice(bool is_first)
{
  if (!is_first && !bodies_before_step_.empty()) bodies_before_slice_ = state_.bodies;
}

StepView World::slice_view(double h) const
{
  return {*this, state_.time, h,
          bodies_before_slice_.empty() ? std::span<const model::BodyState>(bodies_before_step_)
                                       : bodies_before_slice_,
          false};
}

void World::filter_contacts(double h)
{
  disabled_pairs_.clear();
  if (called_observers_.empty() || in_group_) return;
  const auto timer = times_.stage("filter contacts");
  ContactFilter filter(surfaces_);
  try {
    const StepView view = slice_view(h);
    for_each_observer([&](StepObserver& observer) { observer.before_solve(view, filter); });
  } catch (...) {
    // The slice does not happen: the contact memory is that of the one before.
    restore_previous_contacts();
    throw;
  }
  if (!filter.disabled_.empty()) remove_disabled_patches(filter.disabled_);
}

// Their pairs have fewer patches than were found: they are found again, and asked about, in the next slice.
void World::remove_disabled_patches(const std::vector<bool>& disabled)
{
  same_contacts_ = false;
  contacts_changed_ = true;
  std::size_t kept = 0;
  for (std::size_t p = 0; p < state_.patches.size(); ++p) {
    if (disabled[p]) {
      disabled_pairs_.push_back({state_.patches[p].a, state_.patches[p].b});
      continue;
    }
    if (kept != p) state_.patches[kept] = state_.patches[p];
    contact_update_->kept_from[kept] = contact_update_->kept_from[p];
    surfaces_[kept++] = surfaces_[p];
  }
  state_.patches.resize(kept);
  contact_update_->kept_from.resize(kept);
  surfaces_.resize(kept);
}

void World::show_slice(double h)
{
  const auto timer = times_.stage("respond");
  StepActions actions(model_, state_, responses_);
  const StepView view = slice_view(h);
  for_each_observer([&](StepObserver& observer) { observer.after_slice(view, actions); });
}

void World::respond(double h)
{
  if (called_observers_.empty()) return;
  try {
    show_slice(h);
  } catch (...) {
    finish_step(h);  // the bodies have moved: the slice counts
    throw;
  }
}

void World::end_observed_step(double start, double h)
{
  if (called_observers_.empty()) return;
  const auto timer = times_.stage("respond");
  StepActions actions(model_, state_, responses_);
  const StepView view(*this, start, h, bodies_before_step_, true);
  for_each_observer([&](StepObserver& observer) {
    observer.after_step(view, actions);
    timestamp_responses();
  });
}

}  // namespace thrum::sim
