// SPDX-License-Identifier: MIT
#include "thrum/elastic/held_contact_solver.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"

namespace thrum::elastic {

namespace {

HeldForce force_at(const ContactStep& step, double depth)
{
  return held_force(step.contact, step.depth_before, depth, step.damper);
}

}  // namespace

// Sweeps of one Newton step a contact: at the substeps of a response a contact's own compliance is far above
// R, and two or three of them are enough. Where they are not, Newton's method for all contacts at once, whose
// direction descends on the convex H, with a line search converges from anywhere.
HeldSolveResult HeldContactSolver::solve(const MatX& R, std::vector<ContactStep>& contacts,
                                         const HeldSolveSettings& settings)
{
  const auto n = static_cast<Eigen::Index>(contacts.size());
  for (VecX* v : {&depth_, &force_, &error_, &slope_, &change_, &opening_}) v->resize(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    force_[k] = contacts[at(k)].force;
    depth_[k] = contacts[at(k)].depth_free;
  }
  depth_.noalias() -= R.topLeftCorner(n, n) * force_;
  HeldSolveResult result;
  const auto is_solved = [&] {
    double largest = 0;
    result.residual = 0;
    for (Eigen::Index k = 0; k < n; ++k) {
      const HeldForce held = force_at(contacts[at(k)], depth_[k]);
      error_[k] = force_[k] - held.force;
      slope_[k] = held.slope;
      largest = std::max(largest, held.force);
      result.residual = std::max(result.residual, std::abs(error_[k]));
    }
    result.converged = result.residual <= settings.tolerance * largest || result.residual == 0;
    return result.converged;
  };
  while (!is_solved() && result.sweeps < settings.sweeps) {
    sweep(R, contacts);
    ++result.sweeps;
  }
  while (!result.converged && result.newton_steps < settings.newton_steps) {
    newton_step(R, contacts);
    ++result.newton_steps;
    (void)is_solved();
  }
  for (Eigen::Index k = 0; k < n; ++k) {
    contacts[at(k)].force = std::max(0.0, force_[k]);
    contacts[at(k)].depth = depth_[k];
  }
  return result;
}

void HeldContactSolver::sweep(const MatX& R, std::vector<ContactStep>& contacts)
{
  const Eigen::Index n = depth_.size();
  for (Eigen::Index k = 0; k < n; ++k) {
    const HeldForce held = force_at(contacts[at(k)], depth_[k]);
    const double change = (held.force - force_[k]) / (1 + held.slope * R(k, k));
    if (change == 0) continue;
    force_[k] += change;
    depth_ -= change * R.col(k).head(n);
  }
}

// (1 + D R) p = -(F - F(d)), D the slopes. Contacts of slope 0, open ones, have p at once; the others solve
// (1 / D + R) p = rhs, which is positive definite.
void HeldContactSolver::newton_step(const MatX& R, std::vector<ContactStep>& contacts)
{
  const Eigen::Index n = depth_.size();
  closed_.clear();
  change_ = -error_;
  for (Eigen::Index k = 0; k < n; ++k) {
    if (slope_[k] > 0) {
      closed_.push_back(k);
      change_[k] = 0;
    }
  }
  opening_.noalias() = R.topLeftCorner(n, n) * change_;
  const auto count = static_cast<Eigen::Index>(closed_.size());
  matrix_.resize(count, count);
  rhs_.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index k = closed_[at(i)];
    for (Eigen::Index j = 0; j < count; ++j) matrix_(i, j) = R(k, closed_[at(j)]);
    matrix_(i, i) += 1 / slope_[k];
    rhs_[i] = -error_[k] / slope_[k] - opening_[k];
  }
  Eigen::LLT<Eigen::Ref<MatX>> factor(matrix_);
  factor.solveInPlace(rhs_);
  for (Eigen::Index i = 0; i < count; ++i) change_[closed_[at(i)]] = rhs_[i];
  opening_.noalias() = R.topLeftCorner(n, n) * change_;

  // Along F + t p the slope of H is p.R (F + t p - F(d - t R p)), which grows with t: a root by halving and
  // the secant, to a tenth of the slope at 0. The full step is taken where it does not rise past the minimum
  // by more than that.
  const auto slope_at = [&](double t) {
    double sum = 0;
    for (Eigen::Index k = 0; k < n; ++k)
      sum += opening_[k] *
             (force_[k] + t * change_[k] - force_at(contacts[at(k)], depth_[k] - t * opening_[k]).force);
    return sum;
  };
  constexpr double kEnough = 0.1;
  constexpr int kMaxTrials = 30;
  const double start = slope_at(0);
  double t = 1;
  double low = 0;
  double low_slope = start;
  double high = 1;
  for (int trial = 0; trial < kMaxTrials && start < 0; ++trial) {
    const double slope = slope_at(t);
    if (slope <= -kEnough * start && (slope >= kEnough * start || t == 1)) break;
    if (slope < 0) {
      low = t;
      low_slope = slope;
      t = (t + high) / 2;
    } else {
      high = t;
      const double secant = low + (t - low) * low_slope / (low_slope - slope);
      t = std::clamp(secant, low + 0.1 * (high - low), low + 0.9 * (high - low));
    }
  }
  force_ += t * change_;
  depth_ -= t * opening_;
}

}  // namespace thrum::elastic
