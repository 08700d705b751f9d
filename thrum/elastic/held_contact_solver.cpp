// SPDX-License-Identifier: MIT
#include "thrum/elastic/held_contact_solver.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/elastic/column_kernels.h"

namespace thrum::elastic {

namespace {

constexpr Eigen::Index kGroup = 4;  ///< contacts whose forces are found side by side
constexpr double kPotential = 0.4;  ///< of V = 2/5 k d^(5/2)

}  // namespace

// F of held_contact.h, (1) and (2), with what stays the same over the step computed once.
HeldForce HeldContactSolver::force_at(const Law& law, double depth)
{
  double force = 0;
  double slope = 0;
  const double a = law.root;
  if (depth > 0) {
    const double b = std::sqrt(depth);
    if (a > 0) {
      const double inverse = 1 / (a + b);
      const double mean = inverse * (law.root4 + b * (law.root3 + b * (law.root2 + b * (a + b))));
      force = law.k * mean;
      slope = law.k * (law.root3 + b * (2 * law.root2 + b * (3 * a + 4 * b)) - mean) * inverse / (2 * b);
    } else {
      const double inverse = 1 / (depth - law.depth_before);
      const double k = law.k * depth * b;
      force = k * depth * inverse;
      slope = (2.5 * k - force) * inverse;
    }
  } else if (a > 0) {
    const double inverse = 1 / (law.depth_before - depth);
    force = law.k * law.root4 * a * inverse;
    slope = force * inverse;
  }
  force += law.damper * (depth - law.depth_before);
  slope += law.damper;
  if (!(force > 0)) return {};
  return {force, slope};
}

// Sweeps of one Newton step a contact: at the substeps of a response a contact's own compliance is far above
// R, and two or three of them are enough. Where they are not, Newton's method for all contacts at once, whose
// direction descends on the convex H, with a line search converges from anywhere.
HeldSolveResult HeldContactSolver::solve(const MatX& R, std::vector<ContactStep>& contacts,
                                         const HeldSolveSettings& settings)
{
  const auto n = static_cast<Eigen::Index>(contacts.size());
  for (VecX* v : {&depth_, &force_, &error_, &slope_, &change_, &opening_}) v->resize(n);
  laws_.resize(contacts.size());
  for (Eigen::Index k = 0; k < n; ++k) {
    const ContactStep& contact = contacts[at(k)];
    force_[k] = contact.force;
    depth_[k] = contact.depth_free;
    const double d0 = std::max(0.0, contact.depth_before);
    const double a = std::sqrt(d0);
    laws_[at(k)] = {
        kPotential * contact.contact.stiffness, contact.depth_before, contact.damper, a, d0, d0 * a, d0 * d0};
  }
  opening_.setZero();
  add_columns(R.data(), at(R.rows()), {force_.data(), at(n)}, {opening_.data(), at(n)});
  depth_ -= opening_;
  HeldSolveResult result;
  while (!result.converged && result.sweeps < settings.sweeps) {
    result.converged = sweep(R, settings.tolerance, result.residual);
    ++result.sweeps;
  }
  if (!result.converged) result.converged = is_solved(settings.tolerance, result.residual);
  while (!result.converged && result.newton_steps < settings.newton_steps) {
    newton_step(R);
    ++result.newton_steps;
    result.converged = is_solved(settings.tolerance, result.residual);
  }
  for (Eigen::Index k = 0; k < n; ++k) {
    contacts[at(k)].force = std::max(0.0, force_[k]);
    contacts[at(k)].depth = depth_[k];
  }
  return result;
}

bool HeldContactSolver::is_solved(double tolerance, double& residual)
{
  double largest = 0;
  residual = 0;
  for (Eigen::Index k = 0; k < depth_.size(); ++k) {
    const HeldForce held = force_at(laws_[at(k)], depth_[k]);
    error_[k] = force_[k] - held.force;
    slope_[k] = held.slope;
    largest = std::max(largest, held.force);
    residual = std::max(residual, std::abs(error_[k]));
  }
  return residual <= tolerance * largest || residual == 0;
}

// Contacts take turns in groups of four from four parts of the list: contacts of one body, which are side by
// side there, see each other's last forces, and the square roots and divisions of a group do not wait for
// each other. `residual` is of each contact when its turn comes: a sweep that changes nothing beyond the
// tolerance is the last, and what it leaves is far below.
bool HeldContactSolver::sweep(const MatX& R, double tolerance, double& residual)
{
  const Eigen::Index n = depth_.size();
  const Eigen::Index turns = (n + kGroup - 1) / kGroup;
  double largest = 0;
  residual = 0;
  for (Eigen::Index turn = 0; turn < turns; ++turn) {
    std::array<double, kGroup> change{};
    std::array<const double*, kGroup> column{};
    for (Eigen::Index lane = 0; lane < kGroup; ++lane) {
      const Eigen::Index k = lane * turns + turn;
      column[at(lane)] = R.col(std::min(k, n - 1)).data();
      if (k >= n) continue;
      const HeldForce held = force_at(laws_[at(k)], depth_[k]);
      const double error = held.force - force_[k];
      largest = std::max(largest, held.force);
      residual = std::max(residual, std::abs(error));
      change[at(lane)] = error / (1 + held.slope * R(k, k));
      force_[k] += change[at(lane)];
    }
    subtract_four_columns(column.data(), change.data(), {depth_.data(), at(n)});
  }
  return residual <= tolerance * largest || residual == 0;
}

// (1 + D R) p = -(F - F(d)), D the slopes. Contacts of slope 0, open ones, have p at once; the others solve
// (1 / D + R) p = rhs, which is positive definite.
void HeldContactSolver::newton_step(const MatX& R)
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
             (force_[k] + t * change_[k] - force_at(laws_[at(k)], depth_[k] - t * opening_[k]).force);
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
