// SPDX-License-Identifier: MIT
// The forces of all contacts of one step, each held over it (held_contact.h):
//
//     d = d_free - R F,     F_k = F_k(d_k).
//
// R, what a unit force held at contact l moves contact k towards opening [m/N], is symmetric and
// semidefinite, and F_k is monotone: the forces are the minimum of the convex
//
//     H(F) = F.R F / 2 + sum_k W_k(d_free_k - (R F)_k),    W_k' = F_k,    grad H = R (F - F(d)),
//
// so F(d) is unique also where contacts are redundant, as the four feet of a box.
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/held_contact.h"

namespace thrum::elastic {

/// One contact within one step.
struct ContactStep {
  HeldContact contact;
  double damper = 0;        ///< c / h, the same whatever the depth at the end [N/m]
  double depth_before = 0;  ///< d0 [m]
  double depth_free = 0;    ///< depth at the end without any contact force [m]
  double force = 0;         ///< in: a guess; out [N]
  double depth = 0;         ///< out: d1 [m]
};

struct HeldSolveSettings {
  int sweeps = 6;           ///< over the contacts, before Newton's method takes over
  int newton_steps = 40;    ///< at most
  double tolerance = 1e-8;  ///< of |F_k - F_k(d_k)|, as a share of the largest force
};

struct HeldSolveResult {
  bool converged = false;
  int sweeps = 0;
  int newton_steps = 0;
  double residual = 0;  ///< largest |F_k - F_k(d_k)|, before the last sweep where sweeps were enough [N]
};

/// Keeps its memory from solve to solve.
class HeldContactSolver {
 public:
  /// `R`: contacts x contacts, its first n rows and columns are used for n contacts.
  HeldSolveResult solve(const MatX& R, std::vector<ContactStep>& contacts, const HeldSolveSettings& settings);

 private:
  /// A contact within the step: what its force needs beside the depth at the end.
  struct Law {
    double k = 0;             ///< 2/5 of the stiffness [N/m^(3/2)]
    double depth_before = 0;  ///< d0 [m]
    double damper = 0;        ///< [N/m]
    double root = 0;          ///< sqrt(d0), 0 for d0 < 0; then its powers
    double root2 = 0;
    double root3 = 0;
    double root4 = 0;
  };
  [[nodiscard]] static HeldForce force_at(const Law& law, double depth);
  [[nodiscard]] bool sweep(const MatX& R, double tolerance, double& residual);
  [[nodiscard]] bool is_solved(double tolerance, double& residual);
  void newton_step(const MatX& R);

  std::vector<Law> laws_;
  VecX depth_, force_;
  VecX error_, slope_;  ///< F - F(d), dF/dd
  VecX change_, opening_;
  MatX matrix_;
  VecX rhs_;
  std::vector<Eigen::Index> closed_;
};

}  // namespace thrum::elastic
