// SPDX-License-Identifier: MIT
// Products with tall matrices of few columns, the work of a block Krylov method.
//
// Rows are taken in chunks of fixed length; sums over rows are added chunk after chunk. So the result has the
// same bits for every number of threads. The chunks go through the BLAS where one was found (with CHOLMOD),
// else through Eigen.
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/numerics/sparse_factorisation.h"

namespace thrum::numerics {

/// A^T B, A of size n x k and B of size n x p.
[[nodiscard]] MatX transposed_product(const Eigen::Ref<const MatX>& A, const Eigen::Ref<const MatX>& B);

/// C <- C - A X, A of size n x k and X of size k x p.
void subtract_product(const Eigen::Ref<const MatX>& A, const Eigen::Ref<const MatX>& X, Eigen::Ref<MatX> C);

/// A <- A X in place, A of size n x k and X of size k x m, m <= k; the first m columns of A hold the result.
void multiply_in_place(Eigen::Ref<MatX> A, const Eigen::Ref<const MatX>& X);

/// A symmetric sparse matrix, both triangles, ready to be multiplied by several vectors at once.
class SymmetricProduct {
 public:
  /// Only the lower triangle of `lower` is read.
  explicit SymmetricProduct(const SparseMatrix& lower);

  /// Y <- A X.
  void apply(const Eigen::Ref<const MatX>& X, Eigen::Ref<MatX> Y) const;
  [[nodiscard]] MatX operator*(const Eigen::Ref<const MatX>& X) const;
  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(first_.size()) - 1; }

 private:
  template <int W>
  void apply_panel(const double* X, double* Y, Eigen::Index stride) const;

  std::vector<int> first_;
  std::vector<int> columns_;
  std::vector<double> values_;
};

}  // namespace thrum::numerics
