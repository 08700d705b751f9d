// SPDX-License-Identifier: MIT
#include "thrum/numerics/least_squares.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <cmath>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::numerics {

namespace {

/// A gradient below this fraction of |A_j| |b| counts as zero.
constexpr double kZeroGradient = 1e-12;

using Qr = Eigen::CompleteOrthogonalDecomposition<MatX>;

Qr factor(const MatX& A, double rank_tolerance)
{
  Qr qr;
  qr.setThreshold(rank_tolerance);
  qr.compute(A);
  return qr;
}

// The ridge as further equations, ridge * x = 0, so that its square never enters a matrix.
void append_ridge(MatX& A, VecX& b, double ridge)
{
  const Eigen::Index m = A.rows();
  const Eigen::Index n = A.cols();
  A.conservativeResize(m + n, n);
  A.bottomRows(n) = ridge * MatX::Identity(n, n);
  b.conservativeResize(m + n);
  b.tail(n).setZero();
}

// [Lawson74, ch. 23]: x = 0 outside a set of free columns. Each round frees the column along which the error
// falls fastest, solves the free ones, and, while one of them would be negative, steps back to where the
// first becomes zero and fixes it.
void solve_non_negative(const MatX& A, const VecX& b, const LeastSquaresDesc& desc,
                        LeastSquaresResult& result)
{
  const Eigen::Index n = A.cols();
  const int limit = desc.iterations > 0 ? desc.iterations : 3 * static_cast<int>(n) + 3;
  std::vector<Eigen::Index> free;
  std::vector<char> is_free(at(n), 0);
  result.x = VecX::Zero(n);
  const VecX norms = A.colwise().norm();
  while (true) {
    const VecX gradient = A.transpose() * (b - A * result.x);
    Eigen::Index steepest = -1;
    double best = 0;
    for (Eigen::Index j = 0; j < n; ++j) {
      if (is_free[at(j)] || !(norms[j] > 0)) continue;
      const double slope = gradient[j] / norms[j];
      if (slope > kZeroGradient * b.norm() && slope > best) {
        best = slope;
        steepest = j;
      }
    }
    if (steepest < 0) return;
    is_free[at(steepest)] = 1;
    while (true) {
      if (++result.iterations > limit) {
        result.status = LeastSquaresStatus::iteration_limit;
        return;
      }
      free.clear();
      for (Eigen::Index j = 0; j < n; ++j)
        if (is_free[at(j)]) free.push_back(j);
      const Qr qr = factor(MatX(A(Eigen::all, free)), desc.rank_tolerance);
      result.rank = static_cast<Index>(qr.rank());
      const VecX solution = qr.solve(b);
      // The largest step towards it that keeps every free unknown from going below zero.
      double step = 1;
      std::size_t blocking = free.size();
      for (std::size_t k = 0; k < free.size(); ++k) {
        const double now = result.x[free[k]];
        const double then = solution[k];
        if (then > 0) continue;
        const double step_to_zero = now > then ? now / (now - then) : 0;
        if (blocking == free.size() || step_to_zero < step) {
          step = step_to_zero;
          blocking = k;
        }
      }
      for (std::size_t k = 0; k < free.size(); ++k)
        result.x[free[k]] += step * (solution[k] - result.x[free[k]]);
      if (blocking == free.size()) break;
      result.x[free[blocking]] = 0;
      is_free[at(free[blocking])] = 0;
      if (free.size() == 1) break;
    }
  }
}

}  // namespace

LeastSquaresResult solve_least_squares(const MatX& A, const VecX& b, const LeastSquaresDesc& desc)
{
  if (A.rows() != b.size())
    throw Error(
        fmt::format("A least-squares problem has {} equations and {} right-hand sides.", A.rows(), b.size()));
  if (!A.allFinite() || !b.allFinite())
    throw Error("A least-squares problem contains a number that is not finite.");
  if (!(desc.ridge >= 0)) throw Error(fmt::format("The ridge must be 0 or more, not {}.", desc.ridge));
  LeastSquaresResult result;
  result.x = VecX::Zero(A.cols());
  if (A.cols() > 0 && A.rows() > 0) {
    MatX full = A;
    VecX right = b;
    if (desc.ridge > 0) append_ridge(full, right, desc.ridge);
    if (desc.non_negative) {
      solve_non_negative(full, right, desc, result);
    } else {
      const Qr qr = factor(full, desc.rank_tolerance);
      result.rank = static_cast<Index>(qr.rank());
      result.x = qr.solve(right);
    }
  }
  result.residual = (A * result.x - b).norm();
  result.relative_residual = b.norm() > 0 ? result.residual / b.norm() : 0;
  return result;
}

}  // namespace thrum::numerics
