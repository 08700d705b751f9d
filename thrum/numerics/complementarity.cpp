// SPDX-License-Identifier: MIT
#include "thrum/numerics/complementarity.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::numerics {

namespace {

/// In the scaled problem (unit diagonal) a violation below this fraction of the largest |b| is rounding.
constexpr double kPivotTolerance = 1e-12;

/// Added to the unit diagonal of free rows that are not independent (redundant contacts).
constexpr double kRegularisation = 1e-10;

/// Block pivots allowed without a decrease of the number of wrong rows before single pivots are used.
constexpr int kMaxStalledPivots = 10;

struct Limits {
  double lo;
  double hi;
};

bool has_friction(const ComplementarityBounds& bounds, Index i)
{
  return !bounds.normal_row.empty() && bounds.normal_row[at(i)] >= 0;
}

// The bounds of row i, which for friction depend on the current normal force.
Limits limits(const ComplementarityBounds& bounds, const VecX& x, Index i)
{
  if (!has_friction(bounds, i)) return {bounds.lo[i], bounds.hi[i]};
  const double friction_limit = bounds.friction[i] * std::max(0.0, x[bounds.normal_row[at(i)]]);
  return {-friction_limit, friction_limit};
}

void check_bounds(const ComplementarityBounds& bounds, Index n)
{
  if (bounds.lo.size() != n || bounds.hi.size() != n)
    throw Error(fmt::format("A complementarity problem of {} rows has {} lower and {} upper bounds.", n,
                            bounds.lo.size(), bounds.hi.size()));
  if (!bounds.normal_row.empty()) {
    if (count_of(bounds.normal_row) != n || bounds.friction.size() != n)
      throw Error("normal_row and friction must have one entry for each row, or normal_row must be empty.");
    for (Index i = 0; i < n; ++i) {
      if (!has_friction(bounds, i)) continue;
      const Index normal = bounds.normal_row[at(i)];
      if (normal >= n || has_friction(bounds, normal))
        throw Error(
            fmt::format("Friction row {} names row {} as its normal force, but that row does not exist or is "
                        "a friction row itself.",
                        i, normal));
      if (!(bounds.friction[i] >= 0))
        throw Error(
            fmt::format("Friction row {} has coefficient {}; expected 0 or more.", i, bounds.friction[i]));
    }
  }
  for (Index i = 0; i < n; ++i) {
    if (!has_friction(bounds, i) && !(bounds.lo[i] <= bounds.hi[i]))
      throw Error(fmt::format("Row {} has bounds {} and {}; the lower must not be above the upper.", i,
                              bounds.lo[i], bounds.hi[i]));
  }
}

void check_system(const VecX& diagonal, const VecX& b, const VecX& start)
{
  const Index n = count_of(diagonal);
  if (b.size() != n || (start.size() != 0 && start.size() != n))
    throw Error(fmt::format("A complementarity problem of {} rows has b of {} and a start of {}.", n,
                            b.size(), start.size()));
  if (!b.allFinite() || !diagonal.allFinite() || !start.allFinite())
    throw Error("A complementarity problem contains a number that is not finite.");
  for (Index i = 0; i < n; ++i) {
    if (!(diagonal[i] > 0))
      throw Error(fmt::format("Row {} of a complementarity problem has diagonal {}; expected more than 0.", i,
                              diagonal[i]));
  }
}

void check_matrix(const MatX& A, const VecX& b, const VecX& start)
{
  if (A.rows() != A.cols()) throw Error(fmt::format("A is {} x {}; it must be square.", A.rows(), A.cols()));
  if (!A.allFinite()) throw Error("A complementarity problem contains a number that is not finite.");
  check_system(A.diagonal(), b, start);
}

double max_scaled(const VecX& diagonal, const VecX& b)
{
  const double largest = b.size() == 0 ? 0 : (b.array() / diagonal.array().sqrt()).abs().maxCoeff();
  return largest > 0 ? largest : 1;
}

double row_residual(const Limits& l, double x, double w, double diagonal)
{
  return std::abs(x - std::clamp(x - w / diagonal, l.lo, l.hi)) * std::sqrt(diagonal);
}

}  // namespace

double complementarity_residual(const MatX& A, const VecX& b, const ComplementarityBounds& bounds,
                                const VecX& x)
{
  const VecX w = A * x - b;
  double largest = 0;
  for (Index i = 0; i < count_of(x); ++i)
    largest = std::max(largest, row_residual(limits(bounds, x, i), x[i], w[i], A(i, i)));
  return largest / max_scaled(A.diagonal(), b);
}

ComplementarityResult solve_by_sweeps(const ComplementarityRows& A, const VecX& b,
                                      const ComplementarityBounds& bounds, const VecX& start,
                                      const SweepDesc& desc)
{
  const Index n = count_of(A.diagonal);
  check_system(A.diagonal, b, start);
  check_bounds(bounds, n);
  ComplementarityResult result;
  result.x = start.size() == 0 ? VecX(VecX::Zero(n)) : start;
  const double scale = max_scaled(A.diagonal, b);
  result.status = ComplementarityStatus::iteration_limit;
  while (result.iterations < desc.iterations) {
    ++result.iterations;
    double largest = 0;
    for (Index i = 0; i < n; ++i) {
      const Limits l = limits(bounds, result.x, i);
      const double w = A.product(i) - b[i];
      const double before = result.x[i];
      largest = std::max(largest, row_residual(l, before, w, A.diagonal[i]));
      const double after = std::clamp(before - desc.relaxation * w / A.diagonal[i], l.lo, l.hi);
      if (after == before) continue;
      result.x[i] = after;
      A.update(i, after - before);
    }
    // The violation of each row when it was visited: a bound on the residual after the sweep once it is
    // small.
    result.residual = largest / scale;
    if (result.residual <= desc.tolerance) {
      result.status = ComplementarityStatus::solved;
      break;
    }
  }
  // A friction bound may have changed after its row was clamped.
  for (Index i = 0; i < n; ++i) {
    const Limits l = limits(bounds, result.x, i);
    result.x[i] = std::clamp(result.x[i], l.lo, l.hi);
  }
  return result;
}

ComplementarityResult solve_by_sweeps(const MatX& A, const VecX& b, const ComplementarityBounds& bounds,
                                      const VecX& start, const SweepDesc& desc)
{
  check_matrix(A, b, start);
  // A is symmetric, so a change of x_i adds a column, which lies together in memory.
  VecX product = start.size() == 0 ? VecX(VecX::Zero(b.size())) : VecX(A * start);
  const ComplementarityRows rows{A.diagonal(), [&](Index i) { return product[i]; },
                                 [&](Index i, double change) {
                                   product += change * A.col(i);
                                 }};
  ComplementarityResult result = solve_by_sweeps(rows, b, bounds, start, desc);
  result.residual = complementarity_residual(A, b, bounds, result.x);
  return result;
}

namespace {

enum class Place : char { lower, free, upper };

// One problem with fixed bounds, scaled so that A has a unit diagonal: x = D y, A' = D A D, b' = D b.
class Pivoting {
 public:
  Pivoting(const MatX& A, const VecX& b)
      : d_(A.diagonal().array().rsqrt()),
        A_(d_.asDiagonal() * A * d_.asDiagonal()),
        b_(d_.cwiseProduct(b)),
        slack_(kPivotTolerance * max_scaled(VecX::Ones(b.size()), b_))
  {
  }

  void set_bounds(const VecX& lo, const VecX& hi)
  {
    lo_ = lo.cwiseQuotient(d_);
    hi_ = hi.cwiseQuotient(d_);
  }

  // Rows start at the given x; an infinite bound cannot be a value.
  void start_from(const VecX& x)
  {
    place_.assign(at(b_.size()), Place::free);
    for (Index i = 0; i < count_of(b_); ++i) {
      const double y = x.size() == 0 ? 0 : x[i] / d_[i];
      if (y <= lo_[i] || lo_[i] == hi_[i])
        place_[at(i)] = Place::lower;
      else if (y >= hi_[i])
        place_[at(i)] = Place::upper;
    }
  }

  bool run(int limit, int& iterations)
  {
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    int stalled_pivots_left = kMaxStalledPivots;
    for (int k = 0; k < limit; ++k) {
      ++iterations;
      solve();
      const std::vector<Index> wrong = wrong_rows();
      if (wrong.empty()) return true;
      if (wrong.size() < fewest) {
        fewest = wrong.size();
        stalled_pivots_left = kMaxStalledPivots;
      } else {
        --stalled_pivots_left;
      }
      if (stalled_pivots_left >= 0) {
        for (const Index i : wrong) move(i);
      } else {
        move(wrong.back());
      }
    }
    return false;
  }

  [[nodiscard]] VecX x() const { return d_.cwiseProduct(y_.cwiseMax(lo_).cwiseMin(hi_)); }

 private:
  [[nodiscard]] Place& place(Index i) { return place_[at(i)]; }

  // Rows at a bound have its value; the free ones solve A_FF y_F = b_F - A_FB y_B. Then w = A y - b.
  void solve()
  {
    const Index n = count_of(b_);
    std::vector<Index> rows;
    y_ = VecX::Zero(n);
    for (Index i = 0; i < n; ++i) {
      if (place(i) == Place::free)
        rows.push_back(i);
      else
        y_[i] = place(i) == Place::lower ? lo_[i] : hi_[i];
    }
    const VecX rest = b_ - A_ * y_;
    MatX block = A_(rows, rows);
    const VecX right = rest(rows);
    Eigen::LLT<MatX> factor(block);
    if (factor.info() != Eigen::Success || !(factor.rcond() > kRegularisation)) {
      block.diagonal().array() += kRegularisation;
      factor.compute(block);
    }
    VecX free = factor.solve(right);
    // One step of refinement: it removes most of the effect of what was added to the diagonal.
    free += factor.solve(VecX(right - A_(rows, rows) * free));
    for (std::size_t k = 0; k < rows.size(); ++k) y_[rows[k]] = free[k];
    w_ = A_ * y_ - b_;
  }

  [[nodiscard]] std::vector<Index> wrong_rows()
  {
    std::vector<Index> wrong;
    for (Index i = 0; i < count_of(b_); ++i) {
      if (lo_[i] == hi_[i]) continue;
      const bool is_wrong = place(i) == Place::free    ? y_[i] < lo_[i] - slack_ || y_[i] > hi_[i] + slack_
                            : place(i) == Place::lower ? w_[i] < -slack_
                                                       : w_[i] > slack_;
      if (is_wrong) wrong.push_back(i);
    }
    return wrong;
  }

  void move(Index i)
  {
    if (place(i) != Place::free)
      place(i) = Place::free;
    else
      place(i) = y_[i] < lo_[i] ? Place::lower : Place::upper;
  }

  VecX d_;
  MatX A_;
  VecX b_;
  double slack_;
  VecX lo_, hi_, y_, w_;
  std::vector<Place> place_;
};

}  // namespace

ComplementarityResult solve_by_pivoting(const MatX& A, const VecX& b, const ComplementarityBounds& bounds,
                                        const VecX& start, const PivotDesc& desc)
{
  check_matrix(A, b, start);
  const Index n = count_of(b);
  check_bounds(bounds, n);
  ComplementarityResult result;
  result.x = start.size() == 0 ? VecX(VecX::Zero(n)) : start;
  if (n == 0) return result;

  Pivoting pivoting(A, b);
  VecX lo = bounds.lo;
  VecX hi = bounds.hi;
  const bool friction =
      std::any_of(bounds.normal_row.begin(), bounds.normal_row.end(), [](Index r) { return r >= 0; });
  const int rounds = friction ? std::max(desc.friction_iterations, 1) : 1;
  result.status = ComplementarityStatus::iteration_limit;
  for (int round = 0; round < rounds && !result.ok(); ++round) {
    for (Index i = 0; i < n; ++i) {
      const Limits l = limits(bounds, result.x, i);
      lo[i] = l.lo;
      hi[i] = l.hi;
    }
    pivoting.set_bounds(lo, hi);
    pivoting.start_from(result.x);
    const bool ended = pivoting.run(desc.iterations, result.iterations);
    result.x = pivoting.x();
    result.residual = complementarity_residual(A, b, bounds, result.x);
    if (ended && result.residual <= desc.tolerance) result.status = ComplementarityStatus::solved;
  }
  // Bounds of friction changed with the last normal forces.
  for (Index i = 0; i < n; ++i) {
    const Limits l = limits(bounds, result.x, i);
    result.x[i] = std::clamp(result.x[i], l.lo, l.hi);
  }
  return result;
}

std::string_view to_string(ComplementarityStatus status)
{
  return status == ComplementarityStatus::solved ? "solved" : "iteration limit";
}

}  // namespace thrum::numerics
