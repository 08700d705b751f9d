// SPDX-License-Identifier: MIT
// Triangular solves with a supernodal factor, and the dense work of small factors, on processors with AVX2
// and FMA, chosen at run time.
//
// Solves: four columns of a supernode are taken at a time: their 4 x 4 triangle is solved in registers, and
// one sweep over the rows below updates (or sums) all right-hand sides, so that each number of L is loaded
// once and used for 4 or 8 of them. On one core this does 3 to 5 times as many right-hand sides per second as
// the plain loops, which the compiler keeps to two lanes.
#pragma once

namespace thrum::numerics {

struct SupernodalFactor;

/// Whether this processor supports the kernels; always false where they were not built.
[[nodiscard]] bool has_wide_kernels();

/// X <- L^-1 X and X <- L^-T X, `columns` = 4 or 8 right-hand sides, row by row. `work` holds L.max_rows x
/// columns numbers.
void solve_lower_wide(const SupernodalFactor& L, double* X, int columns, double* work);
void solve_upper_wide(const SupernodalFactor& L, double* X, int columns, double* work);

/// A column-major block of `rows` x `depth` numbers with columns `stride` apart.
struct DenseBlock {
  const double* values;
  long stride;
  int rows;
  int depth;
};

/// The lower trapezoid of product = X T^T, where T is the first `columns` rows of X; columns of `product` are
/// `stride` apart. Above its diagonal up to three numbers per column may be written too.
void multiply_trapezoid_wide(const DenseBlock& X, int columns, double* product, long stride);

/// Factors the supernode in place: Cholesky of its first `width` rows, the rows below multiplied by the
/// inverse. Returns the column whose pivot is not above zero, or -1.
[[nodiscard]] int factor_supernode_wide(double* block, int height, int width);

}  // namespace thrum::numerics
