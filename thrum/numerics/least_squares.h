// SPDX-License-Identifier: MIT
// Dense linear least squares: plain, regularised, and with x >= 0.
#pragma once

#include "thrum/base/vec.h"

namespace thrum::numerics {

struct LeastSquaresDesc {
  /// Minimises |A x - b|^2 + ridge^2 |x|^2; in units of A. 0: none.
  double ridge = 0;
  /// Singular values below this fraction of the largest count as zero: x is then the solution of minimum
  /// norm.
  double rank_tolerance = 1e-12;
  bool non_negative = false;
  int iterations = 0;  ///< of the non-negative solver; 0: three for each unknown
};

enum class LeastSquaresStatus { solved, iteration_limit };

struct LeastSquaresResult {
  LeastSquaresStatus status = LeastSquaresStatus::solved;
  VecX x;
  double residual = 0;           ///< |A x - b|
  double relative_residual = 0;  ///< the same divided by |b|; 0 for b = 0
  Index rank = 0;                ///< of A with the ridge; of the free columns with non_negative
  int iterations = 0;

  [[nodiscard]] bool ok() const { return status == LeastSquaresStatus::solved; }
};

/// A is m x n, b has m rows; any m and n. Throws Error for sizes that do not match or numbers that are not
/// finite.
[[nodiscard]] LeastSquaresResult solve_least_squares(const MatX& A, const VecX& b,
                                                     const LeastSquaresDesc& desc = {});

}  // namespace thrum::numerics
