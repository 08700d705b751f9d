// SPDX-License-Identifier: MIT
// Sparse symmetric factorisation, A = P^T L D L^T P, behind one small interface.
//
//   SparseFactorisation f;
//   const FactorisationResult r = f.factor(A);
//   if (!r.ok()) ...                     // a value, not an exception: r.status, r.pivot
//   f.solve(x);                          // x <- A^-1 x, in place
//   f.refactor(A2);                      // same pattern, new numbers: the ordering is kept
//
// Two backends give the factor; the triangular solves are ours for both.
//
//   eigen_ldlt           always available; the factor grows column by column (Eigen SimplicialLDLT)
//   cholmod_simplicial   the same kind of factor by CHOLMOD
//   cholmod_supernodal   dense blocks and BLAS, positive definite matrices only;
//                        several times faster above a few thousand unknowns
//
// CHOLMOD is under a copyleft licence and therefore optional: without it everything works, slower. The BLAS
// is limited to one thread during a factorisation, so the same matrix always gives the same bits.
#pragma once

#include <Eigen/SparseCore>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::numerics {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

enum class FactorisationBackend { automatic, eigen_ldlt, cholmod_simplicial, cholmod_supernodal };

/// Order of elimination. Minimum degree is fast; nested dissection has less fill on large meshes, and falls
/// back to minimum degree without CHOLMOD.
enum class FillOrdering { minimum_degree, nested_dissection, natural, given };

enum class FactorisationStatus {
  ok,
  not_positive_definite,  ///< a pivot was not positive; see `pivot`
  singular,               ///< indefinite matrices: a pivot was zero up to rounding; see `pivot`
  out_of_memory
};

/// No factor is computed with pivoting: an indefinite matrix may have small pivots and lose digits.
/// Quasi-definite matrices, and K - s M with s well between two eigenvalues, are safe in practice; check the
/// residual.
enum class MatrixKind { positive_definite, indefinite };

struct FactorisationDesc {
  FactorisationBackend backend = FactorisationBackend::automatic;
  FillOrdering ordering = FillOrdering::minimum_degree;
  MatrixKind kind = MatrixKind::positive_definite;
  /// For FillOrdering::given: permutation[k] is the unknown that is eliminated k-th.
  std::vector<int> permutation = {};
  /// A pivot below this fraction of its own diagonal entry of A counts as zero, since it is within rounding
  /// error.
  double pivot_tolerance = 16 * std::numeric_limits<double>::epsilon();
};

struct FactorisationResult {
  FactorisationStatus status = FactorisationStatus::ok;
  Index pivot = -1;  ///< unknown (row of A) at which it failed, or -1
  FactorisationBackend backend = FactorisationBackend::eigen_ldlt;  ///< the one that was used
  double factor_entries = 0;  ///< numbers stored in L, with the diagonal
  double flops = 0;           ///< floating-point operations of the numeric factorisation
  double memory = 0;          ///< of the factor [byte]

  [[nodiscard]] bool ok() const { return status == FactorisationStatus::ok; }
};

/// Signs of the pivots and so, by Sylvester's law, of the eigenvalues.
struct Inertia {
  Index positive = 0;
  Index negative = 0;
};

/// Keeps the factor of one matrix. Solving is const and may be done from several threads at once.
class SparseFactorisation {
 public:
  class Backend;  // one per library; not part of the interface

  SparseFactorisation();
  ~SparseFactorisation();
  SparseFactorisation(SparseFactorisation&&) noexcept;
  SparseFactorisation& operator=(SparseFactorisation&&) noexcept;

  /// Orders and factors. Only the lower triangle of A (n x n, n >= 0) is read. Throws Error for a matrix that
  /// is not square, for numbers that are not finite, for a wrong permutation and for a backend that was not
  /// built in.
  FactorisationResult factor(const SparseMatrix& A, const FactorisationDesc& desc = {});

  /// The same for a matrix that is not needed again and whose pattern does not come back: it is freed before
  /// the numbers of the factor are allocated, and refactor() throws afterwards.
  FactorisationResult factor_once(SparseMatrix&& A, const FactorisationDesc& desc = {});

  /// Orders only; refactor() then puts in the numbers. The same errors as factor().
  FactorisationResult analyse(const SparseMatrix& A, const FactorisationDesc& desc = {});

  /// Another factorisation of the same pattern in the same order, without numbers: refactor() puts them in.
  /// Saves the symbolic work when several matrices share a pattern; cheapest between analyse() and
  /// refactor().
  [[nodiscard]] SparseFactorisation same_pattern() const;

  /// Factors a matrix with the same pattern; ordering and symbolic work are kept. Throws Error if the pattern
  /// differs.
  FactorisationResult refactor(const SparseMatrix& A);

  /// x <- A^-1 x. Throws Error when there is no factor (the last factor() or refactor() was not ok) or the
  /// size is wrong.
  void solve(Eigen::Ref<VecX> x) const;
  /// Each column of X <- A^-1 times it; several right-hand sides share each pass over the factor.
  void solve_many(Eigen::Ref<MatX> X) const;

  /// With A = F F^T, F = P^T L sqrt(D): x <- F^-1 x and x <- F^-T x. Positive definite matrices only.
  void solve_half(Eigen::Ref<VecX> x) const;
  void solve_half_transposed(Eigen::Ref<VecX> x) const;

  /// How many eigenvalues are positive and negative; empty when there is no factor.
  [[nodiscard]] std::optional<Inertia> inertia() const;

  [[nodiscard]] bool has_factor() const { return factored_ && backend_ != nullptr; }
  [[nodiscard]] Index size() const { return size_; }
  /// permutation()[k] is the unknown that is eliminated k-th.
  [[nodiscard]] const std::vector<int>& permutation() const;
  [[nodiscard]] std::string_view backend_name() const;

 private:
  FactorisationResult order(const SparseMatrix& A, const FactorisationDesc& desc);
  FactorisationResult numeric(const SparseMatrix& A);
  FactorisationResult check_pivots(const VecX& diagonal, bool stopped, int failed_column);
  void require_factor(Eigen::Index rows) const;

  std::unique_ptr<Backend> backend_;
  std::vector<int> pattern_starts_;  // of the matrix that was ordered, to recognise a different one
  std::vector<int> pattern_rows_;
  double pivot_tolerance_ = 0;
  MatrixKind kind_ = MatrixKind::positive_definite;
  Index size_ = 0;
  bool factored_ = false;
};

[[nodiscard]] bool has_backend(FactorisationBackend backend);
[[nodiscard]] std::string_view to_string(FactorisationBackend backend);
[[nodiscard]] std::string_view to_string(FactorisationStatus status);

}  // namespace thrum::numerics
