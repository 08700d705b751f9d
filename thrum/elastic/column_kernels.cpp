// SPDX-License-Identifier: MIT
#include "thrum/elastic/column_kernels.h"

namespace thrum::elastic {

namespace {

// Vectors of four doubles, at any place: one register with AVX2, two without it.
using Double4 __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double)), may_alias)) = double;
constexpr std::size_t kLanes = 4;

#define THRUM_INLINE inline __attribute__((always_inline))

THRUM_INLINE const Double4& four(const double* from)
{
  return *reinterpret_cast<const Double4*>(from);
}

THRUM_INLINE Double4& four(double* at)
{
  return *reinterpret_cast<Double4*>(at);
}

// kVectors vectors of y stay in registers over all columns.
template <std::size_t kVectors, class ColumnAt>
THRUM_INLINE void add_to_block(std::size_t count, const ColumnAt& column, const double* c, std::size_t begin,
                               double* y)
{
  Double4 sum[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = four(y + begin + v * kLanes);
  for (std::size_t j = 0; j < count; ++j) {
    const double* from = column(j) + begin;
    for (std::size_t v = 0; v < kVectors; ++v) sum[v] += c[j] * four(from + v * kLanes);
  }
  for (std::size_t v = 0; v < kVectors; ++v) four(y + begin + v * kLanes) = sum[v];
}

template <class ColumnAt>
THRUM_INLINE void add_all(std::size_t count, const ColumnAt& column, const double* c, std::span<double> y)
{
  const std::size_t n = y.size();
  std::size_t i = 0;
  for (; i + 8 * kLanes <= n; i += 8 * kLanes) add_to_block<8>(count, column, c, i, y.data());
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) add_to_block<4>(count, column, c, i, y.data());
  for (; i + kLanes <= n; i += kLanes) add_to_block<1>(count, column, c, i, y.data());
  for (; i < n; ++i) {
    double sum = y[i];
    for (std::size_t j = 0; j < count; ++j) sum += c[j] * column(j)[i];
    y[i] = sum;
  }
}

THRUM_INLINE void subtract_four(const double* const columns[4], const double c[4], std::span<double> y)
{
  const std::size_t n = y.size();
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    four(&y[i]) -= (c[0] * four(columns[0] + i) + c[1] * four(columns[1] + i)) +
                   (c[2] * four(columns[2] + i) + c[3] * four(columns[3] + i));
  for (; i < n; ++i)
    y[i] -= (c[0] * columns[0][i] + c[1] * columns[1][i]) + (c[2] * columns[2][i] + c[3] * columns[3][i]);
}

THRUM_INLINE ColumnPair dot_two(const double* first, const double* second, std::span<const double> v)
{
  const std::size_t n = v.size();
  Double4 a{}, b{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Double4 x = four(&v[i]);
    a += four(first + i) * x;
    b += four(second + i) * x;
  }
  // As two lanes, which take a pair that is left.
  double even[2] = {a[0] + a[2], b[0] + b[2]};
  double odd[2] = {a[1] + a[3], b[1] + b[3]};
  if (i + 2 <= n) {
    even[0] += first[i] * v[i];
    even[1] += second[i] * v[i];
    odd[0] += first[i + 1] * v[i + 1];
    odd[1] += second[i + 1] * v[i + 1];
    i += 2;
  }
  ColumnPair sum{even[0] + odd[0], even[1] + odd[1]};
  for (; i < n; ++i) {
    sum.first += first[i] * v[i];
    sum.second += second[i] * v[i];
  }
  return sum;
}

THRUM_INLINE void subtract_two(double a, const double* first, double b, const double* second,
                               std::span<double> v)
{
  const std::size_t n = v.size();
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) four(&v[i]) -= a * four(first + i) + b * four(second + i);
  for (; i < n; ++i) v[i] -= a * first[i] + b * second[i];
}

THRUM_INLINE void move_modes(const ModeStep& s, std::span<double> q, double* v)
{
  const std::size_t n = q.size();
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Double4 q0 = four(&q[i]);
    const Double4 v0 = four(v + i);
    four(&q[i]) = four(s.qq + i) * q0 + four(s.qv + i) * v0 + four(s.load_q + i);
    four(v + i) = four(s.vq + i) * q0 + four(s.vv + i) * v0 + four(s.load_v + i);
  }
  for (; i < n; ++i) {
    const double q0 = q[i];
    q[i] = s.qq[i] * q0 + s.qv[i] * v[i] + s.load_q[i];
    v[i] = s.vq[i] * q0 + s.vv[i] * v[i] + s.load_v[i];
  }
}

struct Listed {
  const double* const* columns;
  THRUM_INLINE const double* operator()(std::size_t j) const { return columns[j]; }
};

struct Adjacent {
  const double* first;
  std::size_t stride;
  THRUM_INLINE const double* operator()(std::size_t j) const { return first + j * stride; }
};

#if defined(__x86_64__)
// The same code once more for newer processors.
#define THRUM_WIDE __attribute__((target("avx2")))
THRUM_WIDE void add_listed_wide(std::size_t count, Listed columns, const double* c, std::span<double> y)
{
  add_all(count, columns, c, y);
}
THRUM_WIDE void add_adjacent_wide(std::size_t count, Adjacent columns, const double* c, std::span<double> y)
{
  add_all(count, columns, c, y);
}
THRUM_WIDE void subtract_four_wide(const double* const columns[4], const double c[4], std::span<double> y)
{
  subtract_four(columns, c, y);
}
THRUM_WIDE ColumnPair dot_two_wide(const double* first, const double* second, std::span<const double> v)
{
  return dot_two(first, second, v);
}
THRUM_WIDE void subtract_two_wide(double a, const double* first, double b, const double* second,
                                  std::span<double> v)
{
  subtract_two(a, first, b, second, v);
}
THRUM_WIDE void move_modes_wide(const ModeStep& step, std::span<double> q, double* v)
{
  move_modes(step, q, v);
}
#undef THRUM_WIDE
const bool has_wide_vectors = __builtin_cpu_supports("avx2") != 0;
#else
constexpr bool has_wide_vectors = false;
constexpr auto add_listed_wide = &add_all<Listed>;
constexpr auto add_adjacent_wide = &add_all<Adjacent>;
constexpr auto subtract_four_wide = &subtract_four;
constexpr auto dot_two_wide = &dot_two;
constexpr auto subtract_two_wide = &subtract_two;
constexpr auto move_modes_wide = &move_modes;
#endif

#undef THRUM_INLINE

}  // namespace

void add_columns(std::span<const double* const> columns, const double* c, std::span<double> y)
{
  if (has_wide_vectors) return add_listed_wide(columns.size(), {columns.data()}, c, y);
  add_all(columns.size(), Listed{columns.data()}, c, y);
}

void add_columns(const double* first, std::size_t stride, std::span<const double> c, std::span<double> y)
{
  if (has_wide_vectors) return add_adjacent_wide(c.size(), {first, stride}, c.data(), y);
  add_all(c.size(), Adjacent{first, stride}, c.data(), y);
}

void subtract_four_columns(const double* const columns[4], const double c[4], std::span<double> y)
{
  if (has_wide_vectors) return subtract_four_wide(columns, c, y);
  subtract_four(columns, c, y);
}

ColumnPair dot_two_columns(const double* first, const double* second, std::span<const double> v)
{
  if (has_wide_vectors) return dot_two_wide(first, second, v);
  return dot_two(first, second, v);
}

void subtract_two_columns(double a, const double* first, double b, const double* second, std::span<double> v)
{
  if (has_wide_vectors) return subtract_two_wide(a, first, b, second, v);
  subtract_two(a, first, b, second, v);
}

void step_modes(const ModeStep& step, std::span<double> q, double* v)
{
  if (has_wide_vectors) return move_modes_wide(step, q, v);
  move_modes(step, q, v);
}

}  // namespace thrum::elastic
