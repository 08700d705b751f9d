// SPDX-License-Identifier: MIT
// The `constraint` stepper [Coevoet20, section 3]: velocities that satisfy all contacts and joints at once.
//
//   collide             rows of contacts and joints, and what restitution needs
//   for each substep
//     advance velocities  impacts with restitution, where in the substep they happen (impact_events.h)
//                         v += h f / m                                     (1), first line
//     resolve contacts    sweeps with bias: no overlap after the move      (2), (3)
//     advance positions   x += h v
//     bounce              sweeps without bias over what collided: it leaves with restitution          (4)
//
// Where we leave the paper: the step is cut into substeps with one sweep each instead of one step with many
// sweeps, since the error falls with the square of the step but only linearly with the sweeps; contacts are
// still found once. And the velocity that pushes overlap out moves the bodies but is not kept, so that ERP
// adds no energy.
#pragma once

#include <utility>
#include <vector>

#include "thrum/rigid/constraint_settings.h"
#include "thrum/rigid/contact_rows.h"
#include "thrum/rigid/impact_events.h"
#include "thrum/rigid/island_energy.h"
#include "thrum/rigid/islands.h"
#include "thrum/rigid/joint_islands.h"
#include "thrum/rigid/joint_rows.h"
#include "thrum/rigid/solver_body.h"
#include "thrum/rigid/stepper.h"

namespace thrum::rigid {

class ConstraintStepper final : public Stepper {
 public:
  explicit ConstraintStepper(const ConstraintSettings& settings = {}, const ImpactSettings& impacts = {})
      : settings_(settings), impacts_(impacts)
  {
  }

  [[nodiscard]] int substeps() const override { return settings_.substeps; }
  void begin_step(double step) override { step_ = step; }
  [[nodiscard]] ContactGraph order_contacts(const model::SceneModel& model, const model::SceneState& state,
                                            double h) const override;
  void collide(StepFrame& frame) override;
  void advance_velocities(StepFrame& frame, double h) override;
  void resolve_contacts(StepFrame& frame, double h) override;
  void advance_positions(StepFrame& frame, double h) override;
  void bounce(StepFrame& frame, double h) override;
  void store_results(StepFrame& frame) override;
  void forget_contacts() override { contacts_.forget_contacts(); }
  [[nodiscard]] std::uint64_t large_impacts() const override { return impacts_.skipped(); }

 private:
  [[nodiscard]] bool uses_contact_graph() const { return settings_.order == SweepOrder::contact_graph; }
  void share_sweeps(const StepFrame& frame);
  void apply_warm_start(double h);
  void scale_impulses();
  void limit_solve_energy(double slice, double h);
  void apply_restitution(double h);
  void run_sweeps(int iterations, double h, const IslandFlags& islands);
  void solve_small_islands(double h, const IslandFlags& islands);
  void find_bouncing_patches(StepFrame& frame);
  void collide_within_substep(StepFrame& frame, double h);
  void restore_gaps();

  ConstraintSettings settings_;
  SolverBodies bodies_;
  ContactRows contacts_;
  JointRows joints_;
  JointIslands joint_islands_;
  double step_ = 0;               ///< of which the frame is a slice; 0: unknown [s]
  double substep_speed_ = 0;      ///< what gravity gives in a substep [m/s]
  double unsliced_speed_ = 0;     ///< what it would give, were the step not cut into slices [m/s]
  int max_extra_iterations_ = 0;  ///< of the slice
  int shock_iterations_ = 0;      ///< of the slice
  IslandEnergy energy_;
  IslandFlags all_islands_;
  std::vector<double> joint_impulses_;  ///< of the rows, before bounces
  std::vector<double> driver_work_;     ///< by island, see IslandEnergy::limit_solve() [J]

  ImpactEvents impacts_;
  std::vector<std::size_t> bouncing_;    ///< patches that may have impacts with restitution in this step
  std::vector<std::size_t> candidates_;  ///< those that may in this substep
  std::vector<std::pair<std::size_t, Lanes>> saved_gaps_;  ///< of patches that had an impact in this substep
};

}  // namespace thrum::rigid
