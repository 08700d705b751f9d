// SPDX-License-Identifier: MIT
// The middle stages of a step, which each stepper does in its own way on the same bodies and the same
// contacts.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "thrum/collision/broad_phase.h"
#include "thrum/collision/deformed_shape.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/model/scene.h"
#include "thrum/rigid/constraint_settings.h"
#include "thrum/rigid/contact_graph.h"
#include "thrum/rigid/impact_settings.h"
#include "thrum/rigid/impulse_settings.h"
#include "thrum/rigid/penalty_settings.h"

namespace thrum::rigid {

/// What the earlier stages of a step have prepared.
struct StepFrame {
  const model::SceneModel& model;
  model::SceneState& state;                  ///< patches found and matched
  std::span<const std::int32_t> order;       ///< patches to solve, in this order
  std::span<const model::Surface> surfaces;  ///< by patch
  std::span<const std::int32_t>
      levels;  ///< by body, as the stepper's order_contacts() made them; may be empty
  std::int32_t level_count = 1;
  std::span<const collision::PreparedShape> shapes;  ///< by ShapeIndex
  std::span<const collision::BodyPair> pairs;        ///< bodies whose boxes overlap
  /// By patch: its number in the last frame, kNone if it was found again.
  std::span<const std::int32_t> kept_from;
  bool same_contacts = false;  ///< bodies, joints and patches are those of the last frame, all patches kept
  double h = 0;                ///< the slice [s]
};

/// The stages in the order in which World::step calls them; those from advance_velocities to bounce are
/// repeated for each substep of length h.
class Stepper {
 public:
  virtual ~Stepper() = default;
  [[nodiscard]] virtual int substeps() const = 0;
  /// The frames that follow are slices of a step of this length [s].
  virtual void begin_step(double /*step*/) {}
  /// In which order the patches are solved, and the levels of the contact graph. `h` is the whole step [s].
  [[nodiscard]] virtual ContactGraph order_contacts(const model::SceneModel& model,
                                                    const model::SceneState& state, double h) const = 0;
  /// Impacts, or what is needed to treat them later.
  virtual void collide(StepFrame& frame) = 0;
  virtual void advance_velocities(StepFrame& frame, double h) = 0;
  virtual void resolve_contacts(StepFrame& frame, double h) = 0;
  virtual void advance_positions(StepFrame& frame, double h) = 0;
  /// Gives what collided the speed with which restitution lets it leave, and ends the substep.
  virtual void bounce(StepFrame& frame, double h) = 0;
  /// Writes velocities and impulses back into the state.
  virtual void store_results(StepFrame& frame) = 0;
  /// The patches of the next frame do not continue those of the last one, whatever its kept_from says.
  virtual void forget_contacts() {}
  /// Elastic impacts since the stepper was made that touched too many points at once to be resolved together.
  [[nodiscard]] virtual std::uint64_t large_impacts() const { return 0; }
  /// Slices that needed more substeps than the stepper may take, and the most that one would have needed.
  struct SubstepLimits {
    std::uint64_t slices = 0;
    double max_needed = 0;
  };
  [[nodiscard]] virtual SubstepLimits substep_limits() const { return {}; }
  /// What patches keep for the next step (warm_friction and the like) are forces, which do not depend on the
  /// length of a step, rather than impulses.
  [[nodiscard]] virtual bool keeps_forces() const { return false; }
  /// After this the world finds contacts again, however slowly bodies move [s].
  [[nodiscard]] virtual double max_slice() const { return std::numeric_limits<double>::infinity(); }
  /// How far the bodies bend, by BodyIndex, for contacts that are valid for h [s]; empty: not at all.
  virtual void find_deflections(const model::SceneModel& /*model*/, const model::SceneState& /*state*/,
                                std::span<const collision::PreparedShape> /*shapes*/, double /*h*/,
                                std::vector<collision::Deflection>& deflections)
  {
    deflections.clear();
  }
  /// Throws Error when the stepper cannot go on from the state.
  virtual void check_state(const model::SceneState& /*state*/) const {}
  /// Stored by contacts at the end of the last slice [J].
  [[nodiscard]] virtual double contact_energy() const { return 0; }
};

/// The `constraint` stepper [Coevoet20, section 3]: docs/methods/constraint_stepper.md.
[[nodiscard]] std::unique_ptr<Stepper> make_constraint_stepper(const ConstraintSettings& settings = {},
                                                               const ImpactSettings& impacts = {});
/// The `impulse` stepper [Guendelman03]: docs/methods/impulse_stepper.md.
[[nodiscard]] std::unique_ptr<Stepper> make_impulse_stepper(const ImpulseSettings& settings = {},
                                                            const ImpactSettings& impacts = {});
/// The `penalty` stepper [Lecture13]: docs/methods/penalty_stepper.md.
[[nodiscard]] std::unique_ptr<Stepper> make_penalty_stepper(const PenaltySettings& settings = {});

}  // namespace thrum::rigid
