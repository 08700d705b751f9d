// SPDX-License-Identifier: MIT
// The problem of a substep (thrum/flexible/group_problem.h) for given limits of friction, solved by a
// primal-dual interior-point method [Boyd and Vandenberghe, 11.7]. Shares no code with the library: dense,
// slow and simple.
//
//     least f(F) = 1/2 |A^T F|^2 + psi(F)  with c(F) >= 0,                                                (1)
//
// grad f = R F + s + what the contact itself yields; c: F of a contact, and for a slip of the limit L
// (L^2 - |F|^2) / 2L, the distances from the sides of a polygon, or from the ends of an interval.
#pragma once

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "thrum/flexible/group_problem.h"

namespace thrum::flexible::interior {

/// Hertz' contact over a substep: the force does the work of the potential 2/5 k d^(5/2).
struct HeldLaw {
  double k = 0, d0 = 0, damper = 0;

  [[nodiscard]] double potential(double d) const { return d > 0 ? 0.4 * k * std::pow(d, 2.5) : 0; }
  [[nodiscard]] double slope_of_potential(double d) const { return d > 0 ? k * std::pow(d, 1.5) : 0; }

  /// Not limited to forces above 0.
  [[nodiscard]] double force(double d1) const
  {
    const double step = d1 - d0;
    const double scale = std::max(std::abs(d0), std::abs(d1));
    if (std::abs(step) > 1e-3 * scale) return (potential(d1) - potential(d0)) / step + damper * step;
    // The mean of the slope over the step, by Gauss' rule.
    const double middle = 0.5 * (d0 + d1);
    const double out = 0.5 * step * std::sqrt(0.6);
    return (5 * slope_of_potential(middle - out) + 8 * slope_of_potential(middle) +
            5 * slope_of_potential(middle + out)) /
               18 +
           damper * step;
  }

  /// The indentation at which it has a force above 0, by halving an interval.
  [[nodiscard]] double indentation(double wanted) const
  {
    double size = std::max(std::abs(d0), std::pow(wanted / k, 2.0 / 3));
    double low = std::min(0.0, d0);
    double high = std::max(0.0, d0);
    while (force(low) > wanted) low -= size *= 2;
    while (force(high) < wanted) high += size *= 2;
    for (int i = 0; i < 200 && high - low > 1e-15 * std::max(std::abs(low), std::abs(high)); ++i) {
      const double middle = 0.5 * (low + high);
      (force(middle) < wanted ? low : high) = middle;
    }
    return 0.5 * (low + high);
  }
};

struct Constraint {
  double value = 0;
  VecX gradient;            ///< over the rows of `rows`
  double curvature = 0;     ///< -second derivative, the same in all directions
  std::vector<int> rows{};  ///< one or two
};

class Problem {
 public:
  /// Limits of friction by the normal forces in `force`. corners 0: a disk.
  Problem(const GroupProblem& problem, const VecX& force, int corners) : p_(problem), corners_(corners)
  {
    A_ = p_.J * p_.weight.cwiseSqrt().asDiagonal();
    R_ = A_ * A_.transpose();
    limits_.assign(p_.slips.size(), 0.0);
    for (const GroupProblem::Patch& patch : p_.patches) {
      double normal = 0;
      for (int c = patch.first_contact; c < patch.end_contact; ++c)
        normal += force[p_.contacts[static_cast<std::size_t>(c)].row];
      for (int s = patch.first_slip; s < patch.end_slip; ++s) {
        const auto i = static_cast<std::size_t>(s);
        limits_[i] =
            p_.slips[i].is_joint ? std::numeric_limits<double>::infinity() : p_.slips[i].limit * normal;
      }
      scale_ = std::max(scale_, normal);
    }
    // Rows that nothing can move, and friction without a limit above 0, have no force.
    has_force_.assign(static_cast<std::size_t>(R_.rows()), false);
    for (const GroupProblem::Contact& c : p_.contacts) has_force_[at(c.row)] = R_(c.row, c.row) > 0;
    for (std::size_t s = 0; s < p_.slips.size(); ++s) {
      for (int i = 0; i < p_.slips[s].count; ++i) {
        const int row = p_.slips[s].rows[static_cast<std::size_t>(i)];
        has_force_[at(row)] = limits_[s] > 0 && R_(row, row) > 0;
      }
    }
  }

  [[nodiscard]] Eigen::Index rows() const { return R_.rows(); }
  [[nodiscard]] const MatX& R() const { return R_; }
  [[nodiscard]] VecX motion(const VecX& F) const { return A_.transpose() * F; }
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] double limit(std::size_t slip) const { return limits_[slip]; }
  [[nodiscard]] bool has_force(Eigen::Index row) const { return has_force_[at(row)]; }
  [[nodiscard]] const GroupProblem& problem() const { return p_; }

  /// grad f, and the part of its Hessian beside R.
  void differentiate(const VecX& F, VecX& gradient, VecX& diagonal) const
  {
    gradient = R_ * F;
    diagonal.setZero(rows());
    for (const GroupProblem::Contact& c : p_.contacts) {
      if (p_.law == ContactLaw::hard) {
        gradient[c.row] += p_.free[c.row] - c.d;
        continue;
      }
      gradient[c.row] += c.tail_compliance * F[c.row] - c.d_free;
      diagonal[c.row] = c.tail_compliance;
      const HeldLaw law{c.stiffness, c.d, c.damper};
      const double force = std::max(F[c.row], 1e-14 * scale_);
      const double d = law.indentation(force);
      gradient[c.row] += d;
      diagonal[c.row] += (law.indentation(1.0001 * force) - d) / (0.0001 * force);
    }
    for (const GroupProblem::Slip& s : p_.slips) {
      for (int i = 0; i < s.count; ++i) {
        const int row = s.rows[static_cast<std::size_t>(i)];
        gradient[row] += p_.free[row];
        const bool is_hard = p_.law == ContactLaw::hard;
        if (is_hard && !s.is_joint) continue;
        const double stretch = is_hard ? 0 : s.stretch[static_cast<std::size_t>(i)];
        const double resistance = 0.5 * s.stiffness + s.damping / p_.dt;
        gradient[row] += (F[row] + s.stiffness * stretch) / resistance;
        diagonal[row] = 1 / resistance;
      }
    }
    for (Eigen::Index r = 0; r < rows(); ++r) {
      if (!has_force(r)) gradient[r] = 0;
    }
  }

  [[nodiscard]] std::vector<Constraint> constraints(const VecX& F) const
  {
    std::vector<Constraint> all;
    for (const GroupProblem::Contact& c : p_.contacts) {
      if (has_force(c.row)) all.push_back({F[c.row], VecX::Ones(1), 0, {c.row}});
    }
    for (std::size_t i = 0; i < p_.slips.size(); ++i) {
      const GroupProblem::Slip& s = p_.slips[i];
      const double limit = limits_[i];
      if (s.is_joint || !has_force(s.rows[0])) continue;
      if (s.count == 1) {
        all.push_back({limit - F[s.rows[0]], VecX::Constant(1, -1), 0, {s.rows[0]}});
        all.push_back({limit + F[s.rows[0]], VecX::Constant(1, 1), 0, {s.rows[0]}});
        continue;
      }
      const Vec2 f(F[s.rows[0]], F[s.rows[1]]);
      if (corners_ == 0) {
        all.push_back(
            {0.5 * (limit - f.squaredNorm() / limit), -f / limit, 1 / limit, {s.rows[0], s.rows[1]}});
        continue;
      }
      for (int corner = 0; corner < corners_; ++corner) {
        const double angle = (2 * corner + 1) * std::numbers::pi / corners_;
        const Vec2 out(std::cos(angle), std::sin(angle));
        all.push_back(
            {limit * std::cos(std::numbers::pi / corners_) - out.dot(f), -out, 0, {s.rows[0], s.rows[1]}});
      }
    }
    return all;
  }

 private:
  using Vec2 = Eigen::Vector2d;
  static std::size_t at(Eigen::Index i) { return static_cast<std::size_t>(i); }

  const GroupProblem& p_;
  int corners_;
  MatX A_, R_;
  std::vector<double> limits_;
  std::vector<bool> has_force_;
  double scale_ = 0;  ///< largest normal force of a patch
};

struct Result {
  VecX force;
  double gap = std::numeric_limits<double>::infinity();  ///< sum of c lambda: f is at most so far from least
  double slope = 0;                                      ///< what is left of the gradient of the Lagrangian,
                                                         ///< share of the largest motion of a row
  int iterations = 0;
};

inline Result solve(const Problem& problem, int max_iterations = 300)
{
  const Eigen::Index m = problem.rows();
  Result out;
  out.force.setZero(m);
  if (!(problem.scale() > 0)) return out;
  const double start = problem.scale() / static_cast<double>(problem.problem().contacts.size());
  for (const GroupProblem::Contact& c : problem.problem().contacts) {
    if (problem.has_force(c.row)) out.force[c.row] = start;
  }
  VecX& F = out.force;
  VecX gradient, diagonal;
  problem.differentiate(F, gradient, diagonal);
  const double motion = std::max(gradient.cwiseAbs().maxCoeff(), (problem.R() * F).cwiseAbs().maxCoeff());
  VecX lambda;
  {
    const std::vector<Constraint> all = problem.constraints(F);
    lambda.resize(static_cast<Eigen::Index>(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i)
      lambda[static_cast<Eigen::Index>(i)] = motion * start / all[i].value;
  }
  for (out.iterations = 0; out.iterations < max_iterations; ++out.iterations) {
    const std::vector<Constraint> all = problem.constraints(F);
    problem.differentiate(F, gradient, diagonal);
    VecX rest = gradient;
    out.gap = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double l = lambda[static_cast<Eigen::Index>(i)];
      out.gap += l * all[i].value;
      for (std::size_t k = 0; k < all[i].rows.size(); ++k)
        rest[all[i].rows[k]] -= l * all[i].gradient[static_cast<Eigen::Index>(k)];
    }
    out.slope = rest.cwiseAbs().maxCoeff() / motion;
    if (out.gap <= 1e-14 * motion * problem.scale() && out.slope < 1e-12) break;
    const double mu = 0.15 * out.gap / static_cast<double>(std::max<std::size_t>(1, all.size()));
    MatX K = problem.R();
    K.diagonal() += diagonal;
    VecX right = -gradient;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Constraint& c = all[i];
      const double l = lambda[static_cast<Eigen::Index>(i)];
      for (std::size_t a = 0; a < c.rows.size(); ++a) {
        const auto ia = static_cast<Eigen::Index>(a);
        right[c.rows[a]] += mu / c.value * c.gradient[ia];
        K(c.rows[a], c.rows[a]) += l * c.curvature;
        for (std::size_t b = 0; b < c.rows.size(); ++b)
          K(c.rows[a], c.rows[b]) += l / c.value * c.gradient[ia] * c.gradient[static_cast<Eigen::Index>(b)];
      }
    }
    // Joints may be redundant.
    K.diagonal().array() *= 1 + 1e-12;
    for (Eigen::Index r = 0; r < m; ++r) {
      if (problem.has_force(r)) continue;
      K.row(r).setZero();
      K.col(r).setZero();
      K(r, r) = 1;
      right[r] = 0;
    }
    const VecX step = K.llt().solve(right);
    VecX lambda_step(lambda.size());
    double length = 1;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto j = static_cast<Eigen::Index>(i);
      double along = 0;
      for (std::size_t k = 0; k < all[i].rows.size(); ++k)
        along += all[i].gradient[static_cast<Eigen::Index>(k)] * step[all[i].rows[k]];
      lambda_step[j] = (mu - lambda[j] * along) / all[i].value - lambda[j];
      if (lambda_step[j] < 0) length = std::min(length, -0.99 * lambda[j] / lambda_step[j]);
    }
    // Inside of all constraints, and not beyond where the slope along the step has grown as large again.
    const auto is_inside = [&](double t) {
      const std::vector<Constraint> there = problem.constraints(F + t * step);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!(there[i].value > 0.005 * all[i].value)) return false;
      }
      return true;
    };
    while (length > 1e-12 && !is_inside(length)) length *= 0.8;
    const double slope = -right.dot(step);
    const auto overshoots = [&](double t) {
      VecX there, unused;
      problem.differentiate(F + t * step, there, unused);
      double now = there.dot(step);
      for (const Constraint& c : problem.constraints(F + t * step)) {
        for (std::size_t k = 0; k < c.rows.size(); ++k)
          now -= mu / c.value * c.gradient[static_cast<Eigen::Index>(k)] * step[c.rows[k]];
      }
      return now > -0.9 * slope;
    };
    for (int halving = 0; halving < 30 && slope < 0 && overshoots(length); ++halving) length *= 0.5;
    F += length * step;
    lambda += length * lambda_step;
  }
  return out;
}

}  // namespace thrum::flexible::interior
