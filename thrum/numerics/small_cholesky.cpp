// SPDX-License-Identifier: MIT
#include "thrum/numerics/small_cholesky.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace thrum::numerics {

namespace {

/// Rows are worked on in groups of so many, whatever the width of vectors.
constexpr std::size_t kLanes = 8;
/// Columns that are taken off the rest of the matrix at once.
constexpr std::size_t kPanel = 4;

using Double2 [[gnu::vector_size(16)]] = double;
#if defined(__x86_64__)
using Double4 [[gnu::vector_size(32)]] = double;
using Double8 [[gnu::vector_size(64)]] = double;
#endif

// Vectors are returned by functions that are inlined: how others would be called does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

template <class Vector>
[[gnu::always_inline]] inline Vector load(const double* from)
{
  Vector v;
  std::memcpy(&v, from, sizeof(Vector));
  return v;
}

template <class Vector>
[[gnu::always_inline]] inline void store(double* to, const Vector& v)
{
  std::memcpy(to, &v, sizeof(Vector));
}

// First of the lanes with `row`.
[[gnu::always_inline]] inline std::size_t lane_start(std::size_t row)
{
  return row / kLanes * kLanes;
}

// Columns k to k + width of the factor, of what the columns before have left.
template <class Vector>
[[gnu::always_inline]] inline bool factor_panel(double* a, std::size_t stride, std::size_t k,
                                                std::size_t width)
{
  constexpr std::size_t kSize = sizeof(Vector) / sizeof(double);
  for (std::size_t c = k; c < k + width; ++c) {
    double* column = a + c * stride;
    for (std::size_t e = k; e < c; ++e) {
      const double* before = a + e * stride;
      const double f = before[c];
      for (std::size_t i = lane_start(c); i < stride; i += kSize)
        store<Vector>(column + i, load<Vector>(column + i) - load<Vector>(before + i) * f);
    }
    if (!(column[c] > 0)) return false;
    const double root = std::sqrt(column[c]);
    const double inverse = 1 / root;
    for (std::size_t i = lane_start(c); i < stride; i += kSize)
      store<Vector>(column + i, load<Vector>(column + i) * inverse);
    column[c] = root;
  }
  return true;
}

// What is above the diagonal in the lanes of its row is worked on too, and never read.
template <class Vector>
[[gnu::always_inline]] inline bool factor_in_vectors(double* a, std::size_t size, std::size_t stride)
{
  constexpr std::size_t kSize = sizeof(Vector) / sizeof(double);
  for (std::size_t k = 0; k < size; k += kPanel) {
    if (!factor_panel<Vector>(a, stride, k, std::min(kPanel, size - k))) return false;
    if (k + kPanel >= size) return true;
    const double* l0 = a + k * stride;
    const double* l1 = l0 + stride;
    const double* l2 = l1 + stride;
    const double* l3 = l2 + stride;
    std::size_t j = k + kPanel;
    for (; j + 1 < size; j += 2) {
      double* p = a + j * stride;
      double* q = p + stride;
      const double f0 = l0[j], f1 = l1[j], f2 = l2[j], f3 = l3[j];
      const double g0 = l0[j + 1], g1 = l1[j + 1], g2 = l2[j + 1], g3 = l3[j + 1];
      for (std::size_t i = lane_start(j); i < stride; i += kSize) {
        const Vector x0 = load<Vector>(l0 + i), x1 = load<Vector>(l1 + i);
        const Vector x2 = load<Vector>(l2 + i), x3 = load<Vector>(l3 + i);
        store<Vector>(p + i, load<Vector>(p + i) - x0 * f0 - x1 * f1 - x2 * f2 - x3 * f3);
        store<Vector>(q + i, load<Vector>(q + i) - x0 * g0 - x1 * g1 - x2 * g2 - x3 * g3);
      }
    }
    for (; j < size; ++j) {
      double* p = a + j * stride;
      const double f0 = l0[j], f1 = l1[j], f2 = l2[j], f3 = l3[j];
      for (std::size_t i = lane_start(j); i < stride; i += kSize)
        store<Vector>(p + i, load<Vector>(p + i) - load<Vector>(l0 + i) * f0 - load<Vector>(l1 + i) * f1 -
                                 load<Vector>(l2 + i) * f2 - load<Vector>(l3 + i) * f3);
    }
  }
  return true;
}

// Sum of a[i] x[i] from a multiple of kLanes to the end.
template <class Vector>
[[gnu::always_inline]] inline double lane_dot(const double* a, const double* x, std::size_t first,
                                              std::size_t end)
{
  constexpr std::size_t kSize = sizeof(Vector) / sizeof(double);
  constexpr std::size_t kParts = kLanes / kSize;
  Vector sums[kParts] = {};
  for (std::size_t i = first; i < end; i += kLanes) {
    for (std::size_t p = 0; p < kParts; ++p)
      sums[p] += load<Vector>(a + i + p * kSize) * load<Vector>(x + i + p * kSize);
  }
  double lanes[kLanes];
  std::memcpy(lanes, sums, sizeof(lanes));
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

template <class Vector>
[[gnu::always_inline]] inline void solve_in_vectors(const double* a, std::size_t size, std::size_t stride,
                                                    double* x)
{
  constexpr std::size_t kSize = sizeof(Vector) / sizeof(double);
  for (std::size_t k = 0; k < size; ++k) {
    const double* column = a + k * stride;
    const double value = x[k] / column[k];
    x[k] = value;
    const std::size_t lanes = lane_start(k) + kLanes;
    for (std::size_t i = k + 1; i < std::min(lanes, size); ++i) x[i] -= column[i] * value;
    for (std::size_t i = lanes; i < stride; i += kSize)
      store<Vector>(x + i, load<Vector>(x + i) - load<Vector>(column + i) * value);
  }
  for (std::size_t k = size; k-- > 0;) {
    const double* column = a + k * stride;
    const std::size_t lanes = lane_start(k) + kLanes;
    double sum = x[k];
    for (std::size_t i = k + 1; i < std::min(lanes, size); ++i) sum -= column[i] * x[i];
    x[k] = (sum - lane_dot<Vector>(column, x, lanes, stride)) / column[k];
  }
}

template <class Vector>
[[gnu::always_inline]] inline void multiply_in_vectors(const double* a, std::size_t columns,
                                                       std::size_t stride, const double* x, double* out)
{
  constexpr std::size_t kSize = sizeof(Vector) / sizeof(double);
  constexpr std::size_t kTogether = 4;  // vectors that stay in registers
  std::size_t i = 0;
  for (; i + kTogether * kSize <= stride; i += kTogether * kSize) {
    Vector s0{}, s1{}, s2{}, s3{};
    const double* from = a + i;
    for (std::size_t k = 0; k < columns; ++k, from += stride) {
      const double f = x[k];
      s0 += load<Vector>(from) * f;
      s1 += load<Vector>(from + kSize) * f;
      s2 += load<Vector>(from + 2 * kSize) * f;
      s3 += load<Vector>(from + 3 * kSize) * f;
    }
    store<Vector>(out + i, s0);
    store<Vector>(out + i + kSize, s1);
    store<Vector>(out + i + 2 * kSize, s2);
    store<Vector>(out + i + 3 * kSize, s3);
  }
  for (; i < stride; i += kSize) {
    Vector sum{};
    const double* from = a + i;
    for (std::size_t k = 0; k < columns; ++k, from += stride) sum += load<Vector>(from) * x[k];
    store<Vector>(out + i, sum);
  }
}

template <class Vector>
[[gnu::always_inline]] inline double dot_in_vectors(const double* a, const double* b, std::size_t count)
{
  const std::size_t whole = lane_start(count);
  double sum = lane_dot<Vector>(a, b, 0, whole);
  for (std::size_t i = whole; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

template <class Vector>
[[gnu::always_inline]] inline void add_in_vectors(const double* a, double factor, double* to,
                                                  std::size_t count)
{
  constexpr std::size_t kSize = sizeof(Vector) / sizeof(double);
  const std::size_t whole = lane_start(count);
  for (std::size_t i = 0; i < whole; i += kSize)
    store<Vector>(to + i, load<Vector>(to + i) + load<Vector>(a + i) * factor);
  for (std::size_t i = whole; i < count; ++i) to[i] += a[i] * factor;
}

/// The loops for vectors of one width.
struct Loops {
  bool (*factor)(double*, std::size_t, std::size_t);
  void (*solve)(const double*, std::size_t, std::size_t, double*);
  void (*multiply)(const double*, std::size_t, std::size_t, const double*, double*);
  double (*dot)(const double*, const double*, std::size_t);
  void (*add)(const double*, double, double*, std::size_t);
};

bool factor_in_pairs(double* a, std::size_t size, std::size_t stride)
{
  return factor_in_vectors<Double2>(a, size, stride);
}
void solve_in_pairs(const double* a, std::size_t size, std::size_t stride, double* x)
{
  solve_in_vectors<Double2>(a, size, stride, x);
}
void multiply_in_pairs(const double* a, std::size_t columns, std::size_t stride, const double* x, double* out)
{
  multiply_in_vectors<Double2>(a, columns, stride, x, out);
}
double dot_in_pairs(const double* a, const double* b, std::size_t count)
{
  return dot_in_vectors<Double2>(a, b, count);
}
void add_in_pairs(const double* a, double factor, double* to, std::size_t count)
{
  add_in_vectors<Double2>(a, factor, to, count);
}

#if defined(__x86_64__)
// Without fma: products are rounded as everywhere else.
[[gnu::target("avx2")]] bool factor_in_fours(double* a, std::size_t size, std::size_t stride)
{
  return factor_in_vectors<Double4>(a, size, stride);
}
[[gnu::target("avx2")]] void solve_in_fours(const double* a, std::size_t size, std::size_t stride, double* x)
{
  solve_in_vectors<Double4>(a, size, stride, x);
}
[[gnu::target("avx2")]] void multiply_in_fours(const double* a, std::size_t columns, std::size_t stride,
                                               const double* x, double* out)
{
  multiply_in_vectors<Double4>(a, columns, stride, x, out);
}
[[gnu::target("avx512f")]] bool factor_in_eights(double* a, std::size_t size, std::size_t stride)
{
  return factor_in_vectors<Double8>(a, size, stride);
}
[[gnu::target("avx512f")]] void solve_in_eights(const double* a, std::size_t size, std::size_t stride,
                                                double* x)
{
  solve_in_vectors<Double8>(a, size, stride, x);
}
[[gnu::target("avx512f")]] void multiply_in_eights(const double* a, std::size_t columns, std::size_t stride,
                                                   const double* x, double* out)
{
  multiply_in_vectors<Double8>(a, columns, stride, x, out);
}
[[gnu::target("avx2")]] double dot_in_fours(const double* a, const double* b, std::size_t count)
{
  return dot_in_vectors<Double4>(a, b, count);
}
[[gnu::target("avx2")]] void add_in_fours(const double* a, double factor, double* to, std::size_t count)
{
  add_in_vectors<Double4>(a, factor, to, count);
}
[[gnu::target("avx512f")]] double dot_in_eights(const double* a, const double* b, std::size_t count)
{
  return dot_in_vectors<Double8>(a, b, count);
}
[[gnu::target("avx512f")]] void add_in_eights(const double* a, double factor, double* to, std::size_t count)
{
  add_in_vectors<Double8>(a, factor, to, count);
}
#endif

const Loops& loops_for(VectorWidth width)
{
  static const Loops pairs{factor_in_pairs, solve_in_pairs, multiply_in_pairs, dot_in_pairs, add_in_pairs};
#if defined(__x86_64__)
  static const Loops fours{factor_in_fours, solve_in_fours, multiply_in_fours, dot_in_fours, add_in_fours};
  static const Loops eights{factor_in_eights, solve_in_eights, multiply_in_eights, dot_in_eights,
                            add_in_eights};
  static const bool has_eights = __builtin_cpu_supports("avx512f") != 0;
  static const bool has_fours = __builtin_cpu_supports("avx2") != 0;
  if (width == VectorWidth::eights && has_eights) return eights;
  if (width != VectorWidth::pairs && has_fours) return fours;
#else
  (void)width;
#endif
  return pairs;
}

std::size_t padded(std::size_t size)
{
  return (size + kLanes - 1) / kLanes * kLanes;
}

}  // namespace

void SmallCholesky::resize(std::size_t size)
{
  size_ = size;
  stride_ = padded(size);
  values_.resize(size_ * stride_);
  // Rows below the last are read and must not disturb.
  for (std::size_t k = 0; k < size_; ++k) std::fill_n(column(k) + size_, stride_ - size_, 0.0);
}

bool SmallCholesky::compute()
{
  return loops_for(width_).factor(values_.data(), size_, stride_);
}

void SmallCholesky::solve_in_place(VecX& x)
{
  x_.assign(stride_, 0.0);
  std::copy_n(x.data(), size_, x_.data());
  loops_for(width_).solve(values_.data(), size_, stride_, x_.data());
  std::copy_n(x_.data(), size_, x.data());
}

void WideMatrix::assign(const MatX& matrix)
{
  rows_ = static_cast<std::size_t>(matrix.rows());
  columns_ = static_cast<std::size_t>(matrix.cols());
  stride_ = padded(rows_);
  values_.assign(columns_ * stride_, 0.0);
  for (std::size_t k = 0; k < columns_; ++k)
    std::copy_n(matrix.data() + k * rows_, rows_, &values_[k * stride_]);
  out_.resize(stride_);
}

void WideMatrix::multiply(const VecX& x, VecX& out)
{
  loops_for(width_).multiply(values_.data(), columns_, stride_, x.data(), out_.data());
  out.resize(static_cast<Eigen::Index>(rows_));
  std::copy_n(out_.data(), rows_, out.data());
}

double wide_dot(const double* a, const double* b, std::size_t count)
{
  static const auto dot = loops_for(VectorWidth::eights).dot;
  return dot(a, b, count);
}

void wide_add(const double* a, double factor, double* to, std::size_t count)
{
  static const auto add = loops_for(VectorWidth::eights).add;
  add(a, factor, to, count);
}

}  // namespace thrum::numerics
