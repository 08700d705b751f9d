// SPDX-License-Identifier: MIT
#include "thrum/numerics/spectra_eigen.h"

#include <Spectra/SymGEigsShiftSolver.h>

#include <algorithm>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::numerics {

namespace {

// The operators in the form that Spectra requires; only the member names differ.
class SpectraSolve {
 public:
  using Scalar = double;
  SpectraSolve(const ShiftInvertOperator& op, Index& solves) : op_(op), solves_(solves) {}
  [[nodiscard]] Eigen::Index rows() const { return op_.mass->size(); }
  [[nodiscard]] Eigen::Index cols() const { return op_.mass->size(); }
  void set_shift(double) const {}
  void perform_op(const double* in, double* out) const
  {
    Eigen::Map<MatX> y(out, rows(), 1);
    y = Eigen::Map<const MatX>(in, rows(), 1);
    op_.shifted->solve_many(y);
    op_.deflate(y);
    ++solves_;
  }

 private:
  const ShiftInvertOperator& op_;
  Index& solves_;
};

class SpectraMass {
 public:
  using Scalar = double;
  explicit SpectraMass(const ShiftInvertOperator& op) : op_(op) {}
  [[nodiscard]] Eigen::Index rows() const { return op_.mass->size(); }
  [[nodiscard]] Eigen::Index cols() const { return op_.mass->size(); }
  void perform_op(const double* in, double* out) const
  {
    op_.mass->apply(Eigen::Map<const MatX>(in, rows(), 1), Eigen::Map<MatX>(out, rows(), 1));
  }

 private:
  const ShiftInvertOperator& op_;
};

}  // namespace

GeneralisedEigenResult solve_with_spectra(const ShiftInvertOperator& op, const GeneralisedEigenDesc& desc)
{
  if (std::isfinite(desc.below))
    throw Error(
        "Spectra finds a given number of eigenvalues, not all below a limit; use block_lanczos for that.");
  const auto n = count_of(*op.mass);
  const Index count = std::min<Index>(desc.count, n - 2);
  const Index vectors =
      desc.max_basis_size > 0 ? desc.max_basis_size : std::max<Index>(2 * count, count + 20);

  GeneralisedEigenResult result;
  result.method = EigenMethod::spectra;
  SpectraSolve solve(op, result.solves);
  SpectraMass mass(op);
  Spectra::SymGEigsShiftSolver<SpectraSolve, SpectraMass, Spectra::GEigsMode::ShiftInvert> solver(
      solve, mass, count, std::min(vectors, n), desc.shift);
  solver.init();
  const auto converged =
      static_cast<Index>(solver.compute(Spectra::SortRule::LargestMagn, desc.max_restarts * 10,
                                        desc.tolerance, Spectra::SortRule::SmallestAlge));
  result.values = solver.eigenvalues();
  result.vectors = solver.eigenvectors();
  result.converged = converged;
  result.restarts = static_cast<Index>(solver.num_iterations());
  // Spectra does not return its residuals; they are below the tolerance for the pairs it returns.
  result.residuals = VecX::Constant(result.values.size(), desc.tolerance);
  result.status = converged == count ? EigenStatus::ok : EigenStatus::not_converged;
  return result;
}

}  // namespace thrum::numerics
