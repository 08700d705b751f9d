// SPDX-License-Identifier: MIT
// The numbers of a small supernodal Cholesky factor whose pattern is known.
//
// CHOLMOD opens several parallel regions for every pair of supernodes where one updates the other, and each
// costs a system call even with one thread. A surface of 10,000 vertices has some 2,000 supernodes with a few
// thousand multiplications each: there the calls take longer than the arithmetic. Large factors are better
// left to CHOLMOD and its BLAS.
#pragma once

#include <span>
#include <vector>

#include "thrum/numerics/sparse_factorisation.h"
#include "thrum/numerics/supernodal_factor.h"

namespace thrum::numerics {

class SupernodalCholesky {
 public:
  /// `pattern` is that of L; its values are not read; `permutation` holds the elimination order. Only the
  /// lower triangle of A is read.
  SupernodalCholesky(const SupernodalFactor& pattern, const SparseMatrix& A,
                     std::span<const int> permutation);

  /// Fills `values`, which hold the numbers of `pattern`, with L; A has the pattern given before. Returns the
  /// column (in elimination order) whose pivot is not above zero, or -1. Needs has_wide_kernels().
  [[nodiscard]] int factor(const SupernodalFactor& pattern, const SparseMatrix& A,
                           std::span<double> values) const;

 private:
  std::vector<int> target_;     ///< by entry of A: where it goes in L's values, or -1
  std::vector<int> supernode_;  ///< by column of L
};

}  // namespace thrum::numerics
