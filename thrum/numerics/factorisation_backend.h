// SPDX-License-Identifier: MIT
// The interface to a factorisation library, and the triangular solves, which are our own. Not installed: see
// sparse_factorisation.h.
#pragma once

#include <memory>
#include <vector>

#include "thrum/numerics/sparse_factorisation.h"
#include "thrum/numerics/supernodal_factor.h"

namespace thrum::numerics {

/// L with unit diagonal, column by column; column j holds entries [begin[j], end[j]) below the diagonal.
struct ColumnFactor {
  int size = 0;
  const int* begin = nullptr;
  const int* end = nullptr;
  const int* rows = nullptr;
  const double* values = nullptr;
};

class SparseFactorisation::Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual FactorisationBackend which() const = 0;

  /// Orders A and finds the pattern of L. Throws std::bad_alloc.
  virtual void analyse(const SparseMatrix& A, const FactorisationDesc& desc) = 0;
  /// A backend that has done the same analysis; its numbers are not used. Throws std::bad_alloc.
  [[nodiscard]] virtual std::unique_ptr<Backend> same_pattern() const = 0;
  /// Fills L and D. False when a pivot made it stop; `failed_column` says which (in elimination order).
  virtual bool factor(const SparseMatrix& A, int& failed_column) = 0;
  /// The same, freeing A before the numbers of L are allocated, where that is possible.
  virtual bool factor_once(SparseMatrix&& A, int& failed_column) { return factor(A, failed_column); }

  /// X holds `columns` right-hand sides, row by row, already in elimination order: X <- L^-1 X, X <- L^-T X.
  virtual void lower(double* X, int columns) const = 0;
  virtual void upper(double* X, int columns) const = 0;

  [[nodiscard]] virtual double factor_entries() const = 0;
  [[nodiscard]] virtual double flops() const = 0;
  [[nodiscard]] virtual double memory() const = 0;

  [[nodiscard]] const std::vector<int>& permutation() const { return permutation_; }
  /// The pivots, in elimination order. Where L carries them (supernodal), they are the squares of L's
  /// diagonal and has_diagonal() is false.
  [[nodiscard]] const std::vector<double>& pivots() const { return pivots_; }
  [[nodiscard]] virtual bool has_diagonal() const { return true; }

 protected:
  std::vector<int> permutation_;
  std::vector<double> pivots_;
};

[[nodiscard]] std::unique_ptr<SparseFactorisation::Backend> make_eigen_backend();
/// Defined when CHOLMOD was found.
[[nodiscard]] std::unique_ptr<SparseFactorisation::Backend> make_cholmod_backend(bool supernodal);

void solve_lower(const ColumnFactor& L, double* X, int columns);
void solve_upper(const ColumnFactor& L, double* X, int columns);
void solve_lower(const SupernodalFactor& L, double* X, int columns);
void solve_upper(const SupernodalFactor& L, double* X, int columns);

/// Checks that `permutation` holds each of 0 .. size-1 once; throws Error.
void require_permutation(const std::vector<int>& permutation, Eigen::Index size);

}  // namespace thrum::numerics
