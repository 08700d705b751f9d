// SPDX-License-Identifier: MIT
// Dense symmetric systems of tens to hundreds of unknowns, solved many thousand times: in vectors as wide
// as the processor has, with the same bits on every processor.
//
//   SmallCholesky factor;
//   factor.resize(n);
//   for (...) factor.column(k)[i] = ...;    // i >= k
//   if (factor.compute()) factor.solve_in_place(x);
//
// Each entry sees its operations in the same order whatever the width, and sums over a column have eight
// partial sums that are added in a fixed order; products are rounded before they are added. Where vectors of
// eight are there, solving the contacts of a ruler on a table takes half the time that it takes with Eigen's
// factor, which is compiled for pairs.
#pragma once

#include <cstddef>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::numerics {

/// Doubles that are worked on at once, at most; fewer where the processor has no such vectors.
enum class VectorWidth { pairs, fours, eights };

class SmallCholesky {
 public:
  explicit SmallCholesky(VectorWidth width = VectorWidth::eights) : width_(width) {}

  /// Entries on and below the diagonal are not defined then.
  void resize(std::size_t size);
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] double* column(std::size_t k) { return &values_[k * stride_]; }
  [[nodiscard]] const double* column(std::size_t k) const { return &values_[k * stride_]; }
  /// A = L L^T, in place. Returns whether A is positive definite.
  [[nodiscard]] bool compute();
  /// x = A^-1 x.
  void solve_in_place(VecX& x);

 private:
  VectorWidth width_;
  std::size_t size_ = 0;
  std::size_t stride_ = 0;      ///< rows, a multiple of eight
  std::vector<double> values_;  ///< column by column
  std::vector<double> x_;
};

/// A dense matrix whose products with vectors are as above.
class WideMatrix {
 public:
  explicit WideMatrix(VectorWidth width = VectorWidth::eights) : width_(width) {}

  void assign(const MatX& matrix);
  [[nodiscard]] const double* column(std::size_t k) const { return &values_[k * stride_]; }
  [[nodiscard]] double operator()(Eigen::Index i, Eigen::Index k) const
  {
    return values_[static_cast<std::size_t>(k) * stride_ + static_cast<std::size_t>(i)];
  }
  /// A x.
  void multiply(const VecX& x, VecX& out);

 private:
  VectorWidth width_;
  std::size_t rows_ = 0, columns_ = 0, stride_ = 0;
  std::vector<double> values_, out_;
};

/// Sum of a[i] b[i], likewise.
[[nodiscard]] double wide_dot(const double* a, const double* b, std::size_t count);
/// to[i] += factor a[i].
void wide_add(const double* a, double factor, double* to, std::size_t count);

}  // namespace thrum::numerics
