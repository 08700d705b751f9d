// SPDX-License-Identifier: MIT
#include "thrum/numerics/block_products.h"

#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/numerics/blas_threads.h"

#ifdef THRUM_HAS_CHOLMOD
// The BLAS that CHOLMOD uses, called by its Fortran name.
extern "C" void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
                       const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                       const double* beta, double* c, const int* ldc);
#endif

namespace thrum::numerics {

namespace {

// Rows of a tall matrix that one call multiplies: with 8 columns a quarter of a megabyte.
constexpr std::size_t kRowsPerChunk = 4096;
// Rows of a sparse matrix that one thread takes at a time.
constexpr std::size_t kSparseRowsPerChunk = 2048;

// C <- alpha op(A) B + beta C, column-major, `inner` is the length of the sums.
void gemm(bool transpose_a, Eigen::Index rows, Eigen::Index columns, Eigen::Index inner, double alpha,
          const double* A, Eigen::Index lda, const double* B, Eigen::Index ldb, double beta, double* C,
          Eigen::Index ldc)
{
  if (rows == 0 || columns == 0) return;
#ifdef THRUM_HAS_CHOLMOD
  const int m = static_cast<int>(rows);
  const int n = static_cast<int>(columns);
  const int k = static_cast<int>(inner);
  const int la = static_cast<int>(lda);
  const int lb = static_cast<int>(ldb);
  const int lc = static_cast<int>(ldc);
  dgemm_(transpose_a ? "T" : "N", "N", &m, &n, &k, &alpha, A, &la, B, &lb, &beta, C, &lc);
#else
  using Stride = Eigen::OuterStride<>;
  Eigen::Map<MatX, 0, Stride> c(C, rows, columns, Stride(ldc));
  const Eigen::Map<const MatX, 0, Stride> b(B, inner, columns, Stride(ldb));
  if (beta == 0) c.setZero();
  if (transpose_a)
    c.noalias() += alpha * Eigen::Map<const MatX, 0, Stride>(A, inner, rows, Stride(lda)).transpose() * b;
  else
    c.noalias() += alpha * Eigen::Map<const MatX, 0, Stride>(A, rows, inner, Stride(lda)) * b;
#endif
}

}  // namespace

MatX transposed_product(const Eigen::Ref<const MatX>& A, const Eigen::Ref<const MatX>& B)
{
  const OneBlasThread one;
  const auto n = at(A.rows());
  const base::Chunks chunks = base::Chunks::of(n, kRowsPerChunk);
  std::vector<MatX> partial(chunks.size());
  base::parallel_for_chunks(
      n,
      [&](std::size_t begin, std::size_t end) {
        MatX& part = partial[begin / chunks.grain];
        part.resize(A.cols(), B.cols());
        gemm(true, A.cols(), B.cols(), end - begin, 1.0, A.data() + begin, A.outerStride(), B.data() + begin,
             B.outerStride(), 0.0, part.data(), part.outerStride());
      },
      kRowsPerChunk);
  MatX sum = MatX::Zero(A.cols(), B.cols());
  for (const MatX& part : partial) sum += part;
  return sum;
}

void subtract_product(const Eigen::Ref<const MatX>& A, const Eigen::Ref<const MatX>& X, Eigen::Ref<MatX> C)
{
  if (A.cols() == 0) return;
  const OneBlasThread one;
  base::parallel_for_chunks(
      at(A.rows()),
      [&](std::size_t begin, std::size_t end) {
        gemm(false, end - begin, X.cols(), A.cols(), -1.0, A.data() + begin, A.outerStride(), X.data(),
             X.outerStride(), 1.0, C.data() + begin, C.outerStride());
      },
      kRowsPerChunk);
}

void multiply_in_place(Eigen::Ref<MatX> A, const Eigen::Ref<const MatX>& X)
{
  const OneBlasThread one;
  base::parallel_for_chunks(
      at(A.rows()),
      [&](std::size_t begin, std::size_t end) {
        const Eigen::Index rows = end - begin;
        MatX result(rows, X.cols());
        gemm(false, rows, X.cols(), A.cols(), 1.0, A.data() + begin, A.outerStride(), X.data(),
             X.outerStride(), 0.0, result.data(), result.outerStride());
        A.block(begin, 0, rows, X.cols()) = result;
      },
      kRowsPerChunk);
}

SymmetricProduct::SymmetricProduct(const SparseMatrix& lower)
{
  const auto n = at(lower.rows());
  first_.assign(n + 1, 0);
  for (int c = 0; c < lower.outerSize(); ++c) {
    for (SparseMatrix::InnerIterator it(lower, c); it; ++it) {
      if (it.row() < it.col()) continue;
      ++first_[at(it.row()) + 1];
      if (it.row() != it.col()) ++first_[at(it.col()) + 1];
    }
  }
  for (std::size_t r = 0; r < n; ++r) first_[r + 1] += first_[r];

  // Columns are visited in order, so each row comes out sorted.
  columns_.resize(at(first_[n]));
  values_.resize(columns_.size());
  std::vector<int> next(first_.begin(), first_.end() - 1);
  const auto put = [&](Eigen::Index row, Eigen::Index column, double value) {
    const std::size_t entry = at(next[at(row)]++);
    columns_[entry] = static_cast<int>(column);
    values_[entry] = value;
  };
  for (int c = 0; c < lower.outerSize(); ++c) {
    for (SparseMatrix::InnerIterator it(lower, c); it; ++it) {
      if (it.row() < it.col()) continue;
      put(it.row(), it.col(), it.value());
      if (it.row() != it.col()) put(it.col(), it.row(), it.value());
    }
  }
}

// X holds W right-hand sides row by row; Y column by column.
template <int W>
void SymmetricProduct::apply_panel(const double* X, double* Y, Eigen::Index stride) const
{
  base::parallel_for_chunks(
      first_.size() - 1,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
          double sum[W] = {};
          for (int k = first_[row]; k < first_[row + 1]; ++k) {
            const double* x = X + static_cast<std::ptrdiff_t>(columns_[at(k)]) * W;
            const double a = values_[at(k)];
            for (int w = 0; w < W; ++w) sum[w] += a * x[w];
          }
          for (int w = 0; w < W; ++w) Y[static_cast<std::ptrdiff_t>(row) + w * stride] = sum[w];
        }
      },
      kSparseRowsPerChunk);
}

void SymmetricProduct::apply(const Eigen::Ref<const MatX>& X, Eigen::Ref<MatX> Y) const
{
  std::vector<double> panel;
  for (Eigen::Index c = 0; c < X.cols();) {
    const Eigen::Index left = X.cols() - c;
    const Eigen::Index width = left >= 8 ? 8 : (left >= 4 ? 4 : 1);
    panel.resize(at(X.rows() * width));
    for (Eigen::Index w = 0; w < width; ++w)
      for (Eigen::Index r = 0; r < X.rows(); ++r) panel[at(r * width + w)] = X(r, c + w);
    double* y = Y.data() + c * Y.outerStride();
    if (width == 8) apply_panel<8>(panel.data(), y, Y.outerStride());
    if (width == 4) apply_panel<4>(panel.data(), y, Y.outerStride());
    if (width == 1) apply_panel<1>(panel.data(), y, Y.outerStride());
    c += width;
  }
}

MatX SymmetricProduct::operator*(const Eigen::Ref<const MatX>& X) const
{
  MatX Y(X.rows(), X.cols());
  apply(X, Y);
  return Y;
}

}  // namespace thrum::numerics
