// SPDX-License-Identifier: MIT
// The middle stages of a step, which each stepper does in its own way on the same bodies and the same
// contacts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "thrum/collision/broad_phase.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/model/scene.h"
#include "thrum/rigid/constraint_settings.h"
#include "thrum/rigid/contact_graph.h"
#include "thrum/rigid/impulse_settings.h"

namespace thrum::rigid {

/// What the earlier stages of a step have prepared.
struct StepFrame {
  const model::SceneModel& model;
  model::SceneState& state;                  ///< patches found and matched
  std::span<const std::int32_t> order;       ///< patches to solve, in this order
  std::span<const model::Surface> surfaces;  ///< by patch
  std::span<const std::int32_t> levels;      ///< by body; empty unless the stepper orders by contact graph
  std::span<const collision::PreparedShape> shapes;  ///< by ShapeIndex
  std::span<const collision::BodyPair> pairs;        ///< bodies whose boxes overlap
  double h = 0;                                      ///< the whole step [s]
};

/// The stages in the order in which World::step calls them; the last three are repeated for each substep.
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// Whether the patches should come from the ground up, with levels.
  [[nodiscard]] virtual bool needs_contact_graph() const = 0;
  [[nodiscard]] virtual int substeps() const = 0;
  /// Impacts, or what is needed to treat them later.
  virtual void collide(StepFrame& frame) = 0;
  virtual void advance_velocities(StepFrame& frame, double h) = 0;
  virtual void resolve_contacts(StepFrame& frame, double h) = 0;
  virtual void advance_positions(StepFrame& frame, double h) = 0;
  /// Writes velocities and impulses back into the state.
  virtual void finish(StepFrame& frame) = 0;
};

/// The `constraint` stepper [Coevoet20, section 3]: docs/methods/constraint_stepper.md.
[[nodiscard]] std::unique_ptr<Stepper> make_constraint_stepper(const ConstraintSettings& settings = {});
/// The `impulse` stepper [Guendelman03]: docs/methods/impulse_stepper.md.
[[nodiscard]] std::unique_ptr<Stepper> make_impulse_stepper(const ImpulseSettings& settings = {});

}  // namespace thrum::rigid
