// SPDX-License-Identifier: MIT
// Observers of a step, which may also act on it: the distant response, sound, a recording, the game.
//
//   struct Counter : StepObserver {
//     void after_slice(const StepView& view, StepActions&) override { patches += view.state.patches.size(); }
//     std::size_t patches = 0;
//   };
//   Counter counter;
//   world.add_observer(counter);   // it must live as long as the world steps, or be removed before
//
// World::step cuts a step into slices where bodies are fast; most steps are one slice. The calls of a step
// are
//
//   at the beginning: before_step
//   for each slice:   find contacts   before_solve   solve and move the bodies   after_slice
//   at the end:       after_step
//
// and each goes to all observers in the order in which they were added. A later observer sees what an earlier
// one did. An observer may add and remove observers, itself too: one that is removed is not called again, one
// that is added is called from the next step on. Calls of step(), restore() and those that add, remove or
// place bodies, shapes and joints are errors while a step runs.
//
// A slice in which a fast body would pass through another is solved again up to the impact: before_solve is
// then called again, with the contacts and the length of the shorter slice.
//
// With `time_of_impact: timewarp` groups of bodies have slices of their own, some of which are undone. An
// observer that only watches (only_watches) is shown the step when it is complete: after_slice for each time
// between two ends of slices of any group, with the contacts of every group and with bodies between the ends
// of their slices on straight lines. before_solve is not called, and an exception leaves the world at the end
// of the step. With any other observer such steps are taken by `conservative`.
//
// An exception of an observer leaves World::step, and the world can be used on. Thrown by before_step it
// leaves the state as it was before the step; by before_solve, as it was before this slice; by after_slice,
// as it is at the end of this slice; by after_step, at the end of the step. Slices and observers that would
// have followed are left out.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "thrum/collision/prepared_shape.h"
#include "thrum/model/response.h"
#include "thrum/model/scene.h"

namespace thrum::sim {

class World;

/// A slice of a step (in before_step and after_step: the whole step) to look at. Valid during the call.
/// Bodies, patches and shapes are numbered by their index, which may change between steps; keep id_of(index)
/// instead.
class StepView {
 public:
  double time;  ///< at its beginning [s]
  double h;     ///< its length [s]
  const model::SceneModel& model;
  /// As it is now: bodies by BodyIndex, contact patches, joints, modal states, kicks under way. The patches
  /// are those of this slice (in after_step: of the last; in before_step: of the last of the step before),
  /// with their impulses after the solve.
  const model::SceneState& state;
  /// The bodies at its beginning, by BodyIndex. Empty unless an observer needs them (needs_bodies_before).
  std::span<const model::BodyState> bodies_before;
  std::span<const model::Surface> surfaces;  ///< friction and restitution of each patch; none in before_step
  std::span<const collision::PreparedShape> shapes;  ///< by ShapeIndex

  [[nodiscard]] model::BodyId id_of(model::BodyIndex body) const;
  [[nodiscard]] model::BodyIndex index_of(model::BodyId id) const;
  /// All contacts of the step, those that continue from slice to slice once, with their impulses summed. Only
  /// in after_step; throws Error before.
  [[nodiscard]] std::span<const model::Contact> contacts() const;

 private:
  friend class World;
  StepView(const World& world, double time, double h, std::span<const model::BodyState> before,
           bool is_complete);

  const World& world_;
  bool is_complete_;
};

/// What may be changed about the contacts of a slice before they are solved. Patches are numbered as in
/// StepView::state.
class ContactFilter {
 public:
  /// The patch is treated as if it had not been found: no impulse, no event, no memory. Should it be found
  /// and not disabled later, it is a new contact. Each slice begins with all patches enabled.
  void disable(std::size_t patch);
  [[nodiscard]] bool is_disabled(std::size_t patch) const;
  /// In place of what the surfaces of the two bodies give, for this slice. Throws Error for values that no
  /// surface has.
  void set_surface(std::size_t patch, const model::Surface& values);

 private:
  friend class World;
  explicit ContactFilter(std::vector<model::Surface>& surfaces) : surfaces_(surfaces) {}

  std::vector<model::Surface>& surfaces_;
  std::vector<bool> disabled_;  ///< empty: none
};

/// What an observer may do after the solve. Each change is seen in StepView::state at once.
/// Throws Error for a body, patch or point that does not exist.
class StepActions {
 public:
  /// Changes the momentum of a dynamic body and wakes it: an impulse at the centre of mass [N s] and an
  /// angular impulse about it [N m s]. Returns the kinetic energy that the body gained [J].
  double apply_impulse(model::BodyIndex body, const Vec3& impulse, const Vec3& angular_impulse);
  /// Of a body that is not fixed; wakes it.
  void set_velocity(model::BodyIndex body, const Vec3& velocity, const Vec3& angular_velocity);
  /// Multiplies both velocities; does not wake the body.
  void scale_velocity(model::BodyIndex body, double factor);
  void wake(model::BodyIndex body);

  /// Requests that the two bodies separate at least this fast at the point [m/s], from the next solve on.
  void request_separation_speed(std::size_t patch, std::size_t point, double speed);
  /// Adds to the energy that the requested speed may bring in [J], which is kept at the point until it is
  /// taken.
  void allow_energy(std::size_t patch, std::size_t point, double energy);
  double take_allowed_energy(std::size_t patch, std::size_t point);

  /// How a body rings; one that is at rest (all squares are 0) is removed from the list.
  void set_modal_state(model::BodyId body, std::span<const double> q, std::span<const double> v);
  void scale_modal_state(model::BodyId body, double factor);
  void add_pending_kick(const model::PendingKick& kick);
  /// Removes and returns those that arrive until then [s], in the order in which they were sent.
  [[nodiscard]] std::vector<model::PendingKick> take_pending_kicks(double until);

  /// For World::responses() and recordings; step and time are filled in.
  void emit(const model::ResponseEvent& event) { events_.push_back(event); }

 private:
  friend class World;
  StepActions(const model::SceneModel& model, model::SceneState& state,
              std::vector<model::ResponseEvent>& events)
      : model_(model), state_(state), events_(events)
  {
  }
  void check_body(model::BodyIndex index, const char* call) const;
  model::ContactPoint& point_of(std::size_t patch, std::size_t point);

  const model::SceneModel& model_;
  model::SceneState& state_;
  std::vector<model::ResponseEvent>& events_;
};

class StepObserver {
 public:
  virtual ~StepObserver() = default;

  /// Whether it leaves contacts and bodies alone in before_solve and after_slice. What it does in after_step
  /// is free.
  [[nodiscard]] virtual bool only_watches() const { return false; }
  /// Whether it reads StepView::bodies_before. They are copied only then.
  [[nodiscard]] virtual bool needs_bodies_before() const { return false; }
  /// Nothing of the step has happened yet.
  virtual void before_step(const StepView& /*view*/) {}
  /// Contacts are found and not yet solved; bodies are as at the beginning of the slice.
  virtual void before_solve(const StepView& /*view*/, ContactFilter& /*filter*/) {}
  /// Contacts are solved and bodies have moved.
  virtual void after_slice(const StepView& /*view*/, StepActions& /*actions*/) {}
  /// The step is complete and counted; bodies_before are those at its beginning.
  virtual void after_step(const StepView& /*view*/, StepActions& /*actions*/) {}
  /// A body was added to the world.
  virtual void body_added(model::BodyId /*id*/) {}
  /// A body was removed from the world: whatever was kept under its id can be dropped.
  virtual void body_removed(model::BodyId /*id*/) {}
  /// A state is about to be restored, or the observer is added to a world in this state. Throws Error when
  /// the observer cannot go on from it; the world then stays as it is.
  virtual void check_state(const model::SceneState& /*state*/) const {}
};

}  // namespace thrum::sim
