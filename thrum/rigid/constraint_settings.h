// SPDX-License-Identifier: MIT
// How the constraint stepper solves [Coevoet20, section 3]. Symbols of the paper are in brackets.
#pragma once

namespace thrum::rigid {

enum class FrictionCone {
  cone,  ///< the two tangential impulses together stay within mu lambda_N
  box    ///< each of them does, as in [Coevoet20, eq. 3b]
};

enum class FrictionBounds {
  each_iteration,  ///< mu times the normal impulse found so far
  first_solve  ///< mu times the normal impulse of a first solve without friction, as in the paper; for the
               ///< direct solver only
};

enum class SweepOrder {
  unsorted,      ///< by body number
  contact_graph  ///< from the ground up, and a last sweep in which lower bodies do not yield (shock
                 ///< propagation)
};

enum class RowSolver {
  gauss_seidel,  ///< projected Gauss-Seidel sweeps
  direct         ///< and then pivoting for islands of up to `max_direct_rows` rows; no shock propagation
};

struct ConstraintSettings {
  int substeps = 4;              ///< the step is cut into so many; contacts are found once
  int iterations = 1;            ///< sweeps over all constraints in each substep
  int max_extra_iterations = 8;  ///< sweeps at most over the patches that have not settled by then
  int patch_iterations = 2;      ///< sweeps inside a patch of up to four points, each time it is visited
  int patch_rounds = 1;          ///< friction and normal rows in turn, each time a patch is visited
  int impact_iterations = 16;    ///< sweeps in a substep in which something bounces
  double erp = 0.2;              ///< share of the overlap removed in a substep [gamma]
  double cfm = 0.0;              ///< added to the diagonal, as a share of it [epsilon / h^2, relative]
  double joint_erp = 0.6;        ///< likewise for joints
  int joint_iterations = 16;     ///< sweeps over the joints alone, at most, before each over the contacts
  double max_push_out = 0.0125;  ///< at most this share of the length scale is removed in a substep
  int push_out_iterations = 1;   ///< sweeps for that
  double slop = 2e-5;  ///< overlap left alone, and gap closed gently, as a share of the length scale
  bool warm_start = true;
  FrictionCone friction = FrictionCone::cone;
  FrictionBounds friction_bounds = FrictionBounds::each_iteration;
  SweepOrder order = SweepOrder::contact_graph;
  int shock_iterations = 3;  ///< sweeps over each level during shock propagation, at most
  double settled_threshold =
      1e-3;  ///< levels whose speeds change by less than this share of what gravity gives in a
             ///< substep need none
  double unsettled_threshold =
      1e-2;  ///< patches that change a speed by more than this share get `max_extra_iterations`
  RowSolver solver = RowSolver::gauss_seidel;
  int max_direct_rows = 60;
};

}  // namespace thrum::rigid
