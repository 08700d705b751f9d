// SPDX-License-Identifier: MIT
#include "thrum/numerics/generalised_eigen.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/numerics/block_lanczos.h"
#include "thrum/numerics/block_products.h"
#include "thrum/numerics/spectra_eigen.h"

namespace thrum::numerics {

namespace {

// Up to this many unknowns all eigenvalues by a dense method take a fraction of a second.
constexpr Eigen::Index kMaxDenseSize = 300;
// When more than this fraction of all eigenvalues is requested, a Krylov method has no advantage.
constexpr double kDenseFraction = 0.35;
// Eigenvalues closer than this (relatively) are one cluster for the Sturm count.
constexpr double kClusterTolerance = 1e-5;

void check(const SparseMatrix& K, const SparseMatrix& M, const GeneralisedEigenDesc& desc)
{
  if (K.rows() != K.cols() || M.rows() != M.cols() || K.rows() != M.rows())
    throw Error(fmt::format(
        "The stiffness matrix is {} x {} and the mass matrix {} x {}; both must be square and of one size.",
        K.rows(), K.cols(), M.rows(), M.cols()));
  if (desc.count < 0 || (desc.count == 0 && !std::isfinite(desc.below)))
    throw Error("Set count to at least one, or to 0 with a finite upper limit `below`.");
  if (desc.null_space.size() > 0 && desc.null_space.rows() != K.rows())
    throw Error(fmt::format("The null space has vectors of length {}, the matrices have {} unknowns.",
                            desc.null_space.rows(), K.rows()));
}

MatX whole(const SparseMatrix& lower)
{
  MatX full = MatX(lower).triangularView<Eigen::Lower>();
  full.triangularView<Eigen::StrictlyUpper>() = full.transpose();
  return full;
}

// All eigenvalues at once. The null space is projected out by giving its directions a large stiffness.
GeneralisedEigenResult solve_dense(const SparseMatrix& K, const SparseMatrix& M, const MatX& null_basis,
                                   const MatX& mass_null, const GeneralisedEigenDesc& desc)
{
  GeneralisedEigenResult result;
  result.method = EigenMethod::dense;
  MatX stiffness = whole(K);
  const MatX mass = whole(M);
  const double large = stiffness.diagonal().cwiseQuotient(mass.diagonal()).maxCoeff();
  if (null_basis.cols() > 0) stiffness += large * mass_null * mass_null.transpose();
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> solver(stiffness, mass);
  if (solver.info() != Eigen::Success) {
    result.status = EigenStatus::factorisation_failed;
    return result;
  }
  Eigen::Index count = 0;
  const Eigen::Index all = K.rows() - null_basis.cols();
  const Eigen::Index max_count = desc.count == 0 ? all : std::min<Eigen::Index>(desc.count, all);
  while (count < max_count && solver.eigenvalues()[count] < desc.below) ++count;
  result.values = solver.eigenvalues().head(count);
  result.vectors = solver.eigenvectors().leftCols(count);
  result.residuals = VecX::Zero(count);
  result.converged = static_cast<Index>(count);
  result.verified = true;
  return result;
}

// N <- N C^-T with N^T M N = C C^T, so that N is M-orthonormal.
MatX orthonormal_null_space(const MatX& null_space, const SymmetricProduct& mass)
{
  if (null_space.cols() == 0) return MatX(mass.size(), 0);
  MatX N = null_space;
  constexpr int kPasses = 2;
  for (int pass = 0; pass < kPasses; ++pass) {
    const MatX gram = transposed_product(N, mass * N);
    const Eigen::LLT<MatX> cholesky(gram);
    if (cholesky.info() != Eigen::Success)
      throw Error("The vectors of the null space are linearly dependent.");
    N = cholesky.matrixL().solve(N.transpose()).transpose();
  }
  return N;
}

// How many eigenvalues lie below `limit`, null space included: by Sylvester's law of inertia as many as K -
// limit M has negative pivots.
std::optional<Index> count_below(const SparseMatrix& K, const SparseMatrix& M, double limit,
                                 FactorisationDesc desc)
{
  desc.kind = MatrixKind::indefinite;
  desc.backend = FactorisationBackend::automatic;
  SparseFactorisation shifted;
  const SparseMatrix indefinite = K - limit * M;
  if (!shifted.factor(indefinite, desc).ok()) return std::nullopt;
  const auto inertia = shifted.inertia();
  if (!inertia) return std::nullopt;
  return inertia->negative;
}

// Counts the eigenvalues below the last cluster and compares.
void count_by_sturm(const SparseMatrix& K, const SparseMatrix& M, Eigen::Index null_vectors,
                    const GeneralisedEigenDesc& desc, GeneralisedEigenResult& result)
{
  const VecX& values = result.values;
  if (values.size() == 0) return;
  Eigen::Index below = values.size();
  double limit = desc.below;
  if (!std::isfinite(limit) || values.size() == desc.count) {
    // The last value may be one of several equal ones that the count cuts apart, so count up to the cluster
    // before it.
    const double last = values[values.size() - 1];
    while (below > 0 && values[below - 1] > last * (1 - kClusterTolerance)) --below;
    if (below == 0) return;
    limit = 0.5 * (values[below - 1] + values[below]);
  }
  const std::optional<Index> counted = count_below(K, M, limit, desc.factorisation);
  if (!counted) return;
  result.expected_count =
      *counted - static_cast<Index>(null_vectors) + static_cast<Index>(values.size() - below);
  result.verified = result.expected_count == count_of(values);
  if (!result.verified && result.ok()) result.status = EigenStatus::modes_missed;
}

bool report(const GeneralisedEigenDesc& desc, std::string_view stage)
{
  return !desc.progress || desc.progress({stage, 0.0});
}

// The two matrices. Where the caller does not need them, `own_K` and `own_M` are the same and may be freed.
struct Matrices {
  const SparseMatrix& K;
  const SparseMatrix& M;
  SparseMatrix* own_K = nullptr;
  SparseMatrix* own_M = nullptr;
};

// K <- K - shift M, without a second matrix of this size where every entry of M is one of K.
void subtract(SparseMatrix& K, double shift, const SparseMatrix& M)
{
  for (Index c = 0; c < K.cols(); ++c) {
    SparseMatrix::InnerIterator k(K, c);
    for (SparseMatrix::InnerIterator m(M, c); m; ++m) {
      while (k && k.row() < m.row()) ++k;
      if (!k || k.row() != m.row()) {
        // What was subtracted so far is in K.
        SparseMatrix rest = M;
        rest.prune([c, row = m.row()](Eigen::Index i, Eigen::Index j, double) {
          return j > c || (j == c && i >= row);
        });
        K = SparseMatrix(K - shift * rest);
        return;
      }
      k.valueRef() -= shift * m.value();
    }
  }
}

FactorisationResult factor_shifted(const Matrices& matrices, const GeneralisedEigenDesc& desc,
                                   SparseFactorisation& shifted)
{
  const bool needed_again = desc.verification == EigenVerification::sturm;
  if (matrices.own_K != nullptr && !needed_again) {
    if (desc.shift != 0) subtract(*matrices.own_K, desc.shift, *matrices.own_M);
    SparseMatrix().swap(*matrices.own_M);
    return shifted.factor_once(std::move(*matrices.own_K), desc.factorisation);
  }
  if (desc.shift == 0) return shifted.factor(matrices.K, desc.factorisation);
  return shifted.factor_once(matrices.K - desc.shift * matrices.M, desc.factorisation);
}

GeneralisedEigenResult solve(const Matrices& matrices, const GeneralisedEigenDesc& desc)
{
  const auto& [K, M, own_K, own_M] = matrices;
  check(K, M, desc);
  const SymmetricProduct mass(M);
  ShiftInvertOperator op;
  op.mass = &mass;
  op.deflated = orthonormal_null_space(desc.null_space, mass);
  op.mass_deflated = mass * op.deflated;

  const bool small =
      K.rows() <= kMaxDenseSize ||
      (!std::isfinite(desc.below) && desc.count > kDenseFraction * static_cast<double>(K.rows()));
  if (desc.method == EigenMethod::dense || (desc.method == EigenMethod::automatic && small))
    return solve_dense(K, M, op.deflated, op.mass_deflated, desc);

  GeneralisedEigenResult result;
  if (!report(desc, "factorise")) {
    result.status = EigenStatus::cancelled;
    return result;
  }
  if (desc.count == 0 && desc.verification != EigenVerification::sturm) {
    // All below the limit: the iteration finds how many there are.
    GeneralisedEigenDesc all = desc;
    all.count = static_cast<Index>(K.rows() - op.deflated.cols());
    return solve(matrices, all);
  }
  if (desc.count == 0) {
    // Counted slightly above the limit, because an eigenvalue at the limit itself would be lost to rounding.
    const std::optional<Index> counted =
        count_below(K, M, desc.below * (1 + kClusterTolerance), desc.factorisation);
    if (!counted) {
      result.status = EigenStatus::factorisation_failed;
      return result;
    }
    GeneralisedEigenDesc known = desc;
    known.count = *counted - static_cast<Index>(op.deflated.cols());
    if (known.count > 0) return solve(matrices, known);
    result.values = result.residuals = VecX(0);
    result.vectors = MatX(K.rows(), 0);
    result.verified = true;
    return result;
  }
  SparseFactorisation shifted;
  result.factorisation = factor_shifted(matrices, desc, shifted);
  if (!result.factorisation.ok()) {
    result.status = EigenStatus::factorisation_failed;
    return result;
  }
  op.shifted = &shifted;

  const FactorisationResult factorisation = result.factorisation;
  result = desc.method == EigenMethod::spectra ? solve_with_spectra(op, desc) : BlockLanczos(op, desc).run();
  result.factorisation = factorisation;
  if (result.ok() && desc.verification == EigenVerification::sturm)
    count_by_sturm(K, M, op.deflated.cols(), desc, result);
  return result;
}

}  // namespace

GeneralisedEigenResult solve_generalised_eigen(const SparseMatrix& K, const SparseMatrix& M,
                                               const GeneralisedEigenDesc& desc)
{
  return solve({K, M}, desc);
}

GeneralisedEigenResult solve_generalised_eigen(SparseMatrix&& K, SparseMatrix&& M,
                                               const GeneralisedEigenDesc& desc)
{
  return solve({K, M, &K, &M}, desc);
}

std::string_view to_string(EigenStatus status)
{
  switch (status) {
    case EigenStatus::ok:
      return "ok";
    case EigenStatus::factorisation_failed:
      return "factorisation failed";
    case EigenStatus::not_converged:
      return "not converged";
    case EigenStatus::modes_missed:
      return "modes missed";
    case EigenStatus::cancelled:
      return "cancelled";
  }
  return "";
}

}  // namespace thrum::numerics
