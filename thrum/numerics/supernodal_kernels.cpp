// SPDX-License-Identifier: MIT
// Compiled for AVX2 and FMA whatever the rest is compiled for. So it includes no header with inline functions
// that other files use as well, and is only called after has_wide_kernels().
#include "thrum/numerics/supernodal_kernels.h"

#if defined(__AVX2__) && defined(__FMA__)
#define THRUM_WIDE_KERNELS 1
#include <immintrin.h>
#endif

#include "thrum/numerics/supernodal_factor.h"

namespace thrum::numerics {

#ifdef THRUM_WIDE_KERNELS

namespace {

constexpr int kColumns = 4;  // of the factor at a time

// V vectors of four right-hand sides.
template <int V>
struct Row {
  __m256d part[V];

  void load(const double* from)
  {
    for (int v = 0; v < V; ++v) part[v] = _mm256_loadu_pd(from + 4 * v);
  }
  void store(double* to) const
  {
    for (int v = 0; v < V; ++v) _mm256_storeu_pd(to + 4 * v, part[v]);
  }
  void clear()
  {
    for (int v = 0; v < V; ++v) part[v] = _mm256_setzero_pd();
  }
  // this -= factor * other
  void subtract(double factor, const Row& other)
  {
    const __m256d f = _mm256_set1_pd(factor);
    for (int v = 0; v < V; ++v) part[v] = _mm256_fnmadd_pd(f, other.part[v], part[v]);
  }
  void divide(double divisor)
  {
    const __m256d d = _mm256_set1_pd(divisor);
    for (int v = 0; v < V; ++v) part[v] = _mm256_div_pd(part[v], d);
  }
};

// One supernode: a block of `height` rows, of which the first `width` are its own columns.
struct Block {
  const double* values;
  long height;
  int width;

  [[nodiscard]] const double* column(int c) const { return values + c * height; }
};

// Y (height rows) <- forward substitution with the block; the rows below its own are updated.
template <int V>
void forward(const Block& block, double* Y)
{
  constexpr int kStride = 4 * V;
  int c = 0;
  for (; c + kColumns <= block.width; c += kColumns) {
    const double* l0 = block.column(c);
    const double* l1 = block.column(c + 1);
    const double* l2 = block.column(c + 2);
    const double* l3 = block.column(c + 3);
    Row<V> x0, x1, x2, x3;
    x0.load(Y + c * kStride);
    x1.load(Y + (c + 1) * kStride);
    x2.load(Y + (c + 2) * kStride);
    x3.load(Y + (c + 3) * kStride);
    x0.divide(l0[c]);
    x1.subtract(l0[c + 1], x0);
    x1.divide(l1[c + 1]);
    x2.subtract(l0[c + 2], x0);
    x2.subtract(l1[c + 2], x1);
    x2.divide(l2[c + 2]);
    x3.subtract(l0[c + 3], x0);
    x3.subtract(l1[c + 3], x1);
    x3.subtract(l2[c + 3], x2);
    x3.divide(l3[c + 3]);
    x0.store(Y + c * kStride);
    x1.store(Y + (c + 1) * kStride);
    x2.store(Y + (c + 2) * kStride);
    x3.store(Y + (c + 3) * kStride);
    for (long r = c + kColumns; r < block.height; ++r) {
      Row<V> y;
      y.load(Y + r * kStride);
      y.subtract(l0[r], x0);
      y.subtract(l1[r], x1);
      y.subtract(l2[r], x2);
      y.subtract(l3[r], x3);
      y.store(Y + r * kStride);
    }
  }
  for (; c < block.width; ++c) {
    const double* l = block.column(c);
    Row<V> x;
    x.load(Y + c * kStride);
    x.divide(l[c]);
    x.store(Y + c * kStride);
    for (long r = c + 1; r < block.height; ++r) {
      Row<V> y;
      y.load(Y + r * kStride);
      y.subtract(l[r], x);
      y.store(Y + r * kStride);
    }
  }
}

// The own rows of Y <- backward substitution; the rows below them are known.
template <int V>
void backward(const Block& block, double* Y)
{
  constexpr int kStride = 4 * V;
  int c = block.width;
  // Columns that do not fill a group come first, as they are the last ones.
  for (; c % kColumns != 0; --c) {
    const double* l = block.column(c - 1);
    Row<V> x;
    x.load(Y + (c - 1) * kStride);
    for (long r = c; r < block.height; ++r) {
      Row<V> y;
      y.load(Y + r * kStride);
      x.subtract(l[r], y);
    }
    x.divide(l[c - 1]);
    x.store(Y + (c - 1) * kStride);
  }
  for (c -= kColumns; c >= 0; c -= kColumns) {
    const double* l0 = block.column(c);
    const double* l1 = block.column(c + 1);
    const double* l2 = block.column(c + 2);
    const double* l3 = block.column(c + 3);
    Row<V> x0, x1, x2, x3;
    x0.load(Y + c * kStride);
    x1.load(Y + (c + 1) * kStride);
    x2.load(Y + (c + 2) * kStride);
    x3.load(Y + (c + 3) * kStride);
    for (long r = c + kColumns; r < block.height; ++r) {
      Row<V> y;
      y.load(Y + r * kStride);
      x0.subtract(l0[r], y);
      x1.subtract(l1[r], y);
      x2.subtract(l2[r], y);
      x3.subtract(l3[r], y);
    }
    x3.divide(l3[c + 3]);
    x2.subtract(l2[c + 3], x3);
    x2.divide(l2[c + 2]);
    x1.subtract(l1[c + 3], x3);
    x1.subtract(l1[c + 2], x2);
    x1.divide(l1[c + 1]);
    x0.subtract(l0[c + 3], x3);
    x0.subtract(l0[c + 2], x2);
    x0.subtract(l0[c + 1], x1);
    x0.divide(l0[c]);
    x0.store(Y + c * kStride);
    x1.store(Y + (c + 1) * kStride);
    x2.store(Y + (c + 2) * kStride);
    x3.store(Y + (c + 3) * kStride);
  }
}

template <int V>
void lower(const SupernodalFactor& L, double* X, double* work)
{
  constexpr int kStride = 4 * V;
  for (int s = 0; s < L.supernodes; ++s) {
    const Block block{L.values + L.value[s], L.row[s + 1] - L.row[s], L.column[s + 1] - L.column[s]};
    const int* rows = L.rows + L.row[s];
    double* own = X + static_cast<long>(L.column[s]) * kStride;
    Row<V> y;
    for (long r = 0; r < block.width; ++r) {
      y.load(own + r * kStride);
      y.store(work + r * kStride);
    }
    y.clear();
    for (long r = block.width; r < block.height; ++r) y.store(work + r * kStride);
    forward<V>(block, work);
    for (long r = 0; r < block.width; ++r) {
      y.load(work + r * kStride);
      y.store(own + r * kStride);
    }
    for (long r = block.width; r < block.height; ++r) {
      double* to = X + static_cast<long>(rows[r]) * kStride;
      Row<V> pending_sum;
      pending_sum.load(work + r * kStride);
      y.load(to);
      for (int v = 0; v < V; ++v) y.part[v] = _mm256_add_pd(y.part[v], pending_sum.part[v]);
      y.store(to);
    }
  }
}

template <int V>
void upper(const SupernodalFactor& L, double* X, double* work)
{
  constexpr int kStride = 4 * V;
  for (int s = L.supernodes - 1; s >= 0; --s) {
    const Block block{L.values + L.value[s], L.row[s + 1] - L.row[s], L.column[s + 1] - L.column[s]};
    const int* rows = L.rows + L.row[s];
    double* own = X + static_cast<long>(L.column[s]) * kStride;
    Row<V> y;
    for (long r = 0; r < block.width; ++r) {
      y.load(own + r * kStride);
      y.store(work + r * kStride);
    }
    for (long r = block.width; r < block.height; ++r) {
      y.load(X + static_cast<long>(rows[r]) * kStride);
      y.store(work + r * kStride);
    }
    backward<V>(block, work);
    for (long r = 0; r < block.width; ++r) {
      y.load(work + r * kStride);
      y.store(own + r * kStride);
    }
  }
}

// Rows [r, r + 4 V) or, masked, fewer, times `C` columns: out <- X T^T, or out -= X T^T. Numbers of X are
// loaded once for all columns; those of T are next to each other in memory.
template <int V, int C, bool kSubtract, bool kMasked>
void product_tile(const DenseBlock& X, long r, long c, double* out, long stride, __m256i mask)
{
  const auto load = [mask](const double* from) {
    return kMasked ? _mm256_maskload_pd(from, mask) : _mm256_loadu_pd(from);
  };
  __m256d sum[C][V];
  for (int j = 0; j < C; ++j)
    for (int v = 0; v < V; ++v)
      sum[j][v] = kSubtract ? load(out + r + 4 * v + (c + j) * stride) : _mm256_setzero_pd();
  const double* column = X.values;
  for (int d = 0; d < X.depth; ++d, column += X.stride) {
    __m256d x[V];
    for (int v = 0; v < V; ++v) x[v] = load(column + r + 4 * v);
    for (int j = 0; j < C; ++j) {
      const __m256d t = _mm256_broadcast_sd(column + c + j);
      for (int v = 0; v < V; ++v)
        sum[j][v] = kSubtract ? _mm256_fnmadd_pd(x[v], t, sum[j][v]) : _mm256_fmadd_pd(x[v], t, sum[j][v]);
    }
  }
  for (int j = 0; j < C; ++j) {
    for (int v = 0; v < V; ++v) {
      double* to = out + r + 4 * v + (c + j) * stride;
      kMasked ? _mm256_maskstore_pd(to, mask, sum[j][v]) : _mm256_storeu_pd(to, sum[j][v]);
    }
  }
}

// Columns [c, c + C) of the product, from row c down.
template <int C, bool kSubtract>
void product_columns(const DenseBlock& X, long c, double* out, long stride)
{
  constexpr int kFull = -1;
  const __m256i all = _mm256_set1_epi64x(kFull);
  long r = c;
  for (; r + 8 <= X.rows; r += 8) product_tile<2, C, kSubtract, false>(X, r, c, out, stride, all);
  if (r + 4 <= X.rows) {
    product_tile<1, C, kSubtract, false>(X, r, c, out, stride, all);
    r += 4;
  }
  if (r == X.rows) return;
  const __m256i lanes = _mm256_set_epi64x(3, 2, 1, 0);
  const __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(X.rows - r), lanes);
  product_tile<1, C, kSubtract, true>(X, r, c, out, stride, mask);
}

template <bool kSubtract>
void product(const DenseBlock& X, int columns, double* out, long stride)
{
  int c = 0;
  for (; c + kColumns <= columns; c += kColumns) product_columns<kColumns, kSubtract>(X, c, out, stride);
  if (columns - c == 3) product_columns<3, kSubtract>(X, c, out, stride);
  if (columns - c == 2) product_columns<2, kSubtract>(X, c, out, stride);
  if (columns - c == 1) product_columns<1, kSubtract>(X, c, out, stride);
}

}  // namespace

void multiply_trapezoid_wide(const DenseBlock& X, int columns, double* out, long stride)
{
  product<false>(X, columns, out, stride);
}

// Left-looking in panels of four columns: the updates of the previous columns in one product, then the panel
// itself.
int factor_supernode_wide(double* block, int height, int width)
{
  for (int first = 0; first < width; first += kColumns) {
    const int last = first + kColumns < width ? first + kColumns : width;
    product<true>({block + first, height, height - first, first}, last - first,
                  block + first + static_cast<long>(first) * height, height);
    for (int c = first; c < last; ++c) {
      double* column = block + static_cast<long>(c) * height;
      for (int before = first; before < c; ++before) {
        const double* known = block + static_cast<long>(before) * height;
        const double factor = known[c];
        for (int r = c; r < height; ++r) column[r] -= factor * known[r];
      }
      const double pivot = column[c];
      if (!(pivot > 0)) return c;
      const double inverse = 1 / __builtin_sqrt(pivot);
      for (int r = c; r < height; ++r) column[r] *= inverse;
    }
  }
  return -1;
}

bool has_wide_kernels()
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

void solve_lower_wide(const SupernodalFactor& L, double* X, int columns, double* work)
{
  columns == 8 ? lower<2>(L, X, work) : lower<1>(L, X, work);
}

void solve_upper_wide(const SupernodalFactor& L, double* X, int columns, double* work)
{
  columns == 8 ? upper<2>(L, X, work) : upper<1>(L, X, work);
}

#else

bool has_wide_kernels()
{
  return false;
}
void solve_lower_wide(const SupernodalFactor&, double*, int, double*) {}
void solve_upper_wide(const SupernodalFactor&, double*, int, double*) {}
void multiply_trapezoid_wide(const DenseBlock&, int, double*, long) {}
int factor_supernode_wide(double*, int, int)
{
  return 0;
}

#endif

}  // namespace thrum::numerics
