// SPDX-License-Identifier: MIT
// Joints as rows of [Coevoet20, eq. 2-3]: each row is a direction in which two bodies may not move against
// each other, or only one way, or only with a bounded force.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "thrum/model/scene.h"
#include "thrum/rigid/constraint_settings.h"
#include "thrum/rigid/contact_rows.h"
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
  double phi = 0;                                           ///< violation at the start of the step [m or rad]
  double erp = 0;                                           ///< share removed in a sub-step
  double softness = 0;                                      ///< added to the diagonal; 0 for a rigid row
  double stiffness = 0;                                     ///< of a spring [N/m]
  double damping = 0;                                       ///< of a spring [N s/m]
  double speed = 0;                                         ///< wanted, for motors [m/s or rad/s]
  double lower = -std::numeric_limits<double>::infinity();  ///< of the impulse of a sub-step
  double upper = std::numeric_limits<double>::infinity();
  bool limit = false;  ///< pushes one way, and phi > 0 is room to move
  bool spring = false;
  double mass = 0;    ///< 1 / (J M^-1 J^T + softness)
  double lambda = 0;  ///< impulse of this sub-step
  double total = 0;   ///< summed over the sub-steps
};

class JointRows {
 public:
  /// `h` is the sub-step.
  void build(const model::SceneModel& model, const model::SceneState& state,
             const ConstraintSettings& settings, SolverBodies& bodies, double h);
  void warm_start(SolverBodies& bodies);
  void sweep(SolverBodies& bodies, double h);
  /// Finds the velocities that remove errors of position. They move the bodies but are not kept.
  void push_out(SolverBodies& bodies, double h);
  void finish_sub_step();
  void store(model::SceneState& state) const;
  [[nodiscard]] std::span<JointRow> rows() { return rows_; }

 private:
  std::vector<JointRow> rows_;
};

}  // namespace thrum::rigid
