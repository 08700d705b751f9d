// SPDX-License-Identifier: MIT
#include "thrum/numerics/factorisation_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/numerics/supernodal_kernels.h"

namespace thrum::numerics {

namespace {

// Every kernel is written for a fixed number W of right-hand sides, which lie side by side in memory, so that
// each entry of L is read once for W of them.

template <int W>
void lower_columns(const ColumnFactor& L, double* X)
{
  for (int j = 0; j < L.size; ++j) {
    double x[W];
    for (int w = 0; w < W; ++w) x[w] = X[j * W + w];
    for (int k = L.begin[j]; k < L.end[j]; ++k) {
      double* y = X + static_cast<std::ptrdiff_t>(L.rows[k]) * W;
      for (int w = 0; w < W; ++w) y[w] -= L.values[k] * x[w];
    }
  }
}

template <int W>
void upper_columns(const ColumnFactor& L, double* X)
{
  for (int j = L.size - 1; j >= 0; --j) {
    double sum[W] = {};
    for (int k = L.begin[j]; k < L.end[j]; ++k) {
      const double* y = X + static_cast<std::ptrdiff_t>(L.rows[k]) * W;
      for (int w = 0; w < W; ++w) sum[w] += L.values[k] * y[w];
    }
    for (int w = 0; w < W; ++w) X[j * W + w] -= sum[w];
  }
}

// The columns that a supernode has of its own, and its rows and values.
struct Supernode {
  int columns;
  int height;
  const int* rows;
  const double* block;
};

Supernode supernode_of(const SupernodalFactor& L, int s)
{
  return {L.column[s + 1] - L.column[s], L.row[s + 1] - L.row[s], L.rows + L.row[s], L.values + L.value[s]};
}

// The rows of a supernode below its own columns are gathered once into `below`, updated by dense columns, and
// scattered.
template <int W>
void lower_supernodes(const SupernodalFactor& L, double* X)
{
  std::vector<double> below(at(L.max_rows) * W);
  for (int s = 0; s < L.supernodes; ++s) {
    const auto [columns, height, rows, block] = supernode_of(L, s);
    double* own = X + static_cast<std::ptrdiff_t>(L.column[s]) * W;
    double* rest = below.data();
    const int tail = height - columns;
    std::fill(rest, rest + static_cast<std::ptrdiff_t>(tail) * W, 0.0);
    for (int c = 0; c < columns; ++c) {
      const double* column = block + static_cast<std::ptrdiff_t>(c) * height;
      double x[W];
      for (int w = 0; w < W; ++w) x[w] = own[c * W + w] /= column[c];
      for (int r = c + 1; r < columns; ++r)
        for (int w = 0; w < W; ++w) own[r * W + w] -= column[r] * x[w];
      const double* bottom = column + columns;
      for (int r = 0; r < tail; ++r)
        for (int w = 0; w < W; ++w) rest[r * W + w] += bottom[r] * x[w];
    }
    for (int r = 0; r < tail; ++r) {
      double* y = X + static_cast<std::ptrdiff_t>(rows[columns + r]) * W;
      for (int w = 0; w < W; ++w) y[w] -= rest[r * W + w];
    }
  }
}

template <int W>
void upper_supernodes(const SupernodalFactor& L, double* X)
{
  std::vector<double> below(at(L.max_rows) * W);
  for (int s = L.supernodes - 1; s >= 0; --s) {
    const auto [columns, height, rows, block] = supernode_of(L, s);
    double* own = X + static_cast<std::ptrdiff_t>(L.column[s]) * W;
    double* rest = below.data();
    const int tail = height - columns;
    for (int r = 0; r < tail; ++r) {
      const double* y = X + static_cast<std::ptrdiff_t>(rows[columns + r]) * W;
      for (int w = 0; w < W; ++w) rest[r * W + w] = y[w];
    }
    for (int c = columns - 1; c >= 0; --c) {
      const double* column = block + static_cast<std::ptrdiff_t>(c) * height;
      const double* bottom = column + columns;
      // Two alternating sums, so that one addition need not wait for the previous one.
      double even[W] = {};
      double odd[W] = {};
      int r = 0;
      for (; r + 1 < tail; r += 2) {
        for (int w = 0; w < W; ++w) even[w] += bottom[r] * rest[r * W + w];
        for (int w = 0; w < W; ++w) odd[w] += bottom[r + 1] * rest[(r + 1) * W + w];
      }
      if (r < tail)
        for (int w = 0; w < W; ++w) even[w] += bottom[r] * rest[r * W + w];
      for (int k = c + 1; k < columns; ++k)
        for (int w = 0; w < W; ++w) odd[w] += column[k] * own[k * W + w];
      for (int w = 0; w < W; ++w) own[c * W + w] = (own[c * W + w] - (even[w] + odd[w])) / column[c];
    }
  }
}

// Calls kernel with the number of columns as a compile-time constant: 1, 2, 4 or 8.
template <class Kernel>
void with_width(int columns, Kernel kernel)
{
  if (columns == 1) return kernel(std::integral_constant<int, 1>());
  if (columns == 2) return kernel(std::integral_constant<int, 2>());
  if (columns == 4) return kernel(std::integral_constant<int, 4>());
  kernel(std::integral_constant<int, 8>());
}

// Fewer columns than this leave the wide kernels' lanes empty.
constexpr int kMinWideColumns = 4;

bool takes_wide_kernels(int columns)
{
  static const bool wide = has_wide_kernels();
  return wide && columns >= kMinWideColumns;
}

std::vector<double> wide_work(const SupernodalFactor& L, int columns)
{
  return std::vector<double>(at(L.max_rows) * at(columns));
}

}  // namespace

void solve_lower(const ColumnFactor& L, double* X, int columns)
{
  with_width(columns, [&](auto width) { lower_columns<width()>(L, X); });
}

void solve_upper(const ColumnFactor& L, double* X, int columns)
{
  with_width(columns, [&](auto width) { upper_columns<width()>(L, X); });
}

void solve_lower(const SupernodalFactor& L, double* X, int columns)
{
  if (takes_wide_kernels(columns)) return solve_lower_wide(L, X, columns, wide_work(L, columns).data());
  with_width(columns, [&](auto width) { lower_supernodes<width()>(L, X); });
}

void solve_upper(const SupernodalFactor& L, double* X, int columns)
{
  if (takes_wide_kernels(columns)) return solve_upper_wide(L, X, columns, wide_work(L, columns).data());
  with_width(columns, [&](auto width) { upper_supernodes<width()>(L, X); });
}

void require_permutation(const std::vector<int>& permutation, Eigen::Index size)
{
  std::vector<char> seen(at(size), 0);
  bool valid = static_cast<Eigen::Index>(permutation.size()) == size;
  for (std::size_t k = 0; valid && k < permutation.size(); ++k) {
    const int unknown = permutation[k];
    valid = unknown >= 0 && unknown < size && seen[at(unknown)] == 0;
    if (valid) seen[at(unknown)] = 1;
  }
  if (!valid)
    throw Error(fmt::format(
        "The given elimination order must hold each of the {} unknowns once, counted from 0.", size));
}

}  // namespace thrum::numerics
