// SPDX-License-Identifier: MIT
// Joints as rows of [Coevoet20, eq. 2-3]: each row is a direction in which two bodies may not move against
// each other, or only one way, or only with a bounded force.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "thrum/model/scene.h"
#include "thrum/rigid/constraint_settings.h"
#include "thrum/rigid/island_energy.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

/// J = (-linear, -angular_a, +linear, +angular_b) on (v_a, w_a, v_b, w_b).
struct JointRow {
  std::int32_t a = 0;
  std::int32_t b = 0;
  std::int32_t joint = 0;
  std::int32_t slot = 0;  ///< place in JointState::warm_impulse
  Vec3 linear = Vec3::Zero();
  Vec3 angular_a = Vec3::Zero();
  Vec3 angular_b = Vec3::Zero();
  double phi = 0;        ///< violation, less what the bodies have moved along the row in this step [m or rad]
  double bend = 0;       ///< change of phi in a substep beyond what the row sees [m or rad]
  double erp = 0;        ///< share removed in a substep
  double softness = 0;   ///< added to the diagonal; 0 for a rigid row
  double stiffness = 0;  ///< of a spring [N/m]
  double damping = 0;    ///< of a spring [N s/m]
  double speed = 0;      ///< wanted, for motors [m/s or rad/s]
  double lower = -std::numeric_limits<double>::infinity();  ///< of the impulse of a substep
  double upper = std::numeric_limits<double>::infinity();
  bool limit = false;  ///< pushes one way, and phi > 0 is room to move
  bool spring = false;
  double mass = 0;    ///< 1 / (J M^-1 J^T + softness)
  double lambda = 0;  ///< impulse of this substep
};

/// What J v is to be, with its sign changed: J v + joint_bias = 0 for a rigid row [m/s or rad/s].
[[nodiscard]] double joint_bias(const JointRow& row, const SolverBody& A, const SolverBody& B, double h);

class JointRows {
 public:
  /// Forgets what joints passed on in the last step, but not where their impulses start.
  static void begin_step(model::SceneState& state);
  /// The rows as bodies stand at the beginning of a substep `h`, from the velocities that they have then.
  void build(const model::SceneModel& model, model::SceneState& state, const ConstraintSettings& settings,
             SolverBodies& bodies, double h);
  /// Finds what the rows do not see of the motion in the substep from the velocities that the bodies have
  /// now. Returns the largest change of a speed that it asks for [m/s].
  double update_bends(const model::SceneModel& model, const model::SceneState& state,
                      const ConstraintSettings& settings, SolverBodies& bodies, double h);
  /// Likewise for the joints of rows with a flag. Writes the change of each of these rows [m/s].
  void update_bends(const model::SceneModel& model, const model::SceneState& state,
                    const ConstraintSettings& settings, SolverBodies& bodies, double h,
                    std::span<const std::uint8_t> flags, std::span<double> changes);
  void warm_start(SolverBodies& bodies);
  /// Likewise, never with more energy than without: see island_energy.h. Calls apply() for what else starts,
  /// and scale() when impulses are to have their shares.
  template <class Apply, class Scale>
  void warm_start_within(IslandEnergy& energy, SolverBodies& bodies, Apply&& apply, Scale&& scale);
  /// The masses of the rows for bodies that have turned since build(). With those of another orientation
  /// sweeps can diverge: a row of a link that had turned by 0.3 rad had four times its mass.
  void update_masses(SolverBodies& bodies, double h);
  /// Rows of the islands that were found last start from nothing and hold their tangents only: their solve
  /// is an inelastic impact.
  void restart_on_tangents(const IslandEnergy& energy);
  /// Sweeps up to `iterations` times, fewer if no speed changes by more than `settled` [m/s].
  void sweep(SolverBodies& bodies, double h, int iterations, double settled);
  /// One sweep over the rows with a flag. Writes by how much each of them changed a speed [m/s].
  void sweep_once(SolverBodies& bodies, double h, std::span<const std::uint8_t> flags,
                  std::span<double> changes);
  /// Finds the velocities that remove errors of position. They move the bodies but are not kept.
  void push_out(SolverBodies& bodies, double h);
  /// Keeps the impulses for the next substep, and their sum for the report.
  void finish_substep(model::SceneState& state) const;
  [[nodiscard]] std::span<JointRow> rows() { return rows_; }

 private:
  /// Returns the change of speed along the row [m/s].
  [[nodiscard]] double sweep_row(JointRow& row, SolverBodies& bodies, double h) const;
  /// Of the joint whose rows begin at `first` and end at `end`; calls record(row, change of speed).
  template <class Record>
  void update_bends_of(const model::SceneModel& model, const model::SceneState& state,
                       const ConstraintSettings& settings, SolverBodies& bodies, double h, std::size_t first,
                       std::size_t end, Record&& record);
  [[nodiscard]] std::size_t end_of_joint(std::size_t first) const;

  double length_scale_ = 1;  ///< at which a turn counts as a speed [m]
  std::vector<JointRow> rows_;
  std::vector<JointRow> moved_;  ///< the rows of one joint where its bodies would be after the substep
};

template <class Apply, class Scale>
void JointRows::warm_start_within(IslandEnergy& energy, SolverBodies& bodies, Apply&& apply, Scale&& scale)
{
  const auto start = [&] {
    warm_start(bodies);
    apply();
  };
  const auto scale_all = [&] {
    for (JointRow& row : rows_) row.lambda *= energy.share(row.a, row.b);
    scale();
  };
  energy.record_velocities(bodies);
  start();
  if (!energy.find_body_shares(bodies)) return;
  scale_all();
  energy.restore_velocities(bodies);
  start();
  if (energy.limit_warm_start(bodies)) scale_all();
}

}  // namespace thrum::rigid
