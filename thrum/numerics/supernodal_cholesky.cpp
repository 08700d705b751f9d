// SPDX-License-Identifier: MIT
#include "thrum/numerics/supernodal_cholesky.h"

#include <algorithm>
#include <cstddef>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/numerics/supernodal_kernels.h"

namespace thrum::numerics {

namespace {

// One supernode of the pattern.
struct Shape {
  int first_column;
  int width;
  int height;
  const int* rows;
  std::ptrdiff_t value;

  Shape(const SupernodalFactor& L, int s)
      : first_column(L.column[s]),
        width(L.column[s + 1] - L.column[s]),
        height(L.row[s + 1] - L.row[s]),
        rows(L.rows + L.row[s]),
        value(L.value[s])
  {
  }
};

// For each supernode the list of finished supernodes with pending updates to it, and the next row of each of
// those.
class PendingUpdates {
 public:
  explicit PendingUpdates(int supernodes)
      : first_(at(supernodes), -1), next_(at(supernodes), -1), first_row_(at(supernodes), 0)
  {
  }
  [[nodiscard]] int first(int target) const { return first_[at(target)]; }
  [[nodiscard]] int next(int source) const { return next_[at(source)]; }
  [[nodiscard]] int first_row(int source) const { return first_row_[at(source)]; }
  void add(int source, int target, int first_row)
  {
    first_row_[at(source)] = first_row;
    next_[at(source)] = first_[at(target)];
    first_[at(target)] = source;
  }

 private:
  std::vector<int> first_, next_, first_row_;
};

}  // namespace

SupernodalCholesky::SupernodalCholesky(const SupernodalFactor& pattern, const SparseMatrix& A,
                                       std::span<const int> permutation)
    : target_(at(A.nonZeros()), -1), supernode_(at(pattern.size))
{
  std::vector<int> eliminated(at(pattern.size));
  for (int k = 0; k < pattern.size; ++k) eliminated[at(permutation[at(k)])] = k;
  for (int s = 0; s < pattern.supernodes; ++s)
    std::fill_n(supernode_.begin() + pattern.column[s], pattern.column[s + 1] - pattern.column[s], s);

  // The entries of A, sorted into the supernodes of their columns.
  struct Entry {
    int number, row, column;
  };
  std::vector<int> start(at(pattern.supernodes) + 1, 0);
  std::vector<Entry> entries, sorted;
  entries.reserve(target_.size());
  for (int c = 0; c < A.cols(); ++c) {
    for (int k = A.outerIndexPtr()[c]; k < A.outerIndexPtr()[c + 1]; ++k) {
      if (A.innerIndexPtr()[k] < c) continue;
      const auto [column, row] = std::minmax(eliminated[at(A.innerIndexPtr()[k])], eliminated[at(c)]);
      entries.push_back({k, row, column});
      ++start[at(supernode_[at(column)]) + 1];
    }
  }
  for (std::size_t s = 1; s < start.size(); ++s) start[s] += start[s - 1];
  sorted.resize(entries.size());
  std::vector<int> fill = start;
  for (const Entry& e : entries) sorted[at(fill[at(supernode_[at(e.column)])]++)] = e;

  std::vector<int> place(at(pattern.size));
  for (int s = 0; s < pattern.supernodes; ++s) {
    const Shape shape(pattern, s);
    for (int r = 0; r < shape.height; ++r) place[at(shape.rows[r])] = r;
    for (int k = start[at(s)]; k < start[at(s) + 1]; ++k) {
      const Entry& e = sorted[at(k)];
      target_[at(e.number)] =
          static_cast<int>(shape.value + (e.column - shape.first_column) * std::ptrdiff_t{shape.height}) +
          place[at(e.row)];
    }
  }
}

// Left-looking, a supernode at a time: subtract the updates of the finished supernodes with rows among its
// columns, then factor its own block. [Ng, Peyton 1993, Block sparse Cholesky algorithms on advanced
// uniprocessor computers, sec. 2]
int SupernodalCholesky::factor(const SupernodalFactor& pattern, const SparseMatrix& A,
                               std::span<double> values) const
{
  THRUM_ASSERT(at(A.nonZeros()) == target_.size());
  std::fill(values.begin(), values.end(), 0.0);
  for (std::size_t k = 0; k < target_.size(); ++k)
    if (target_[k] >= 0) values[at(target_[k])] = A.valuePtr()[k];

  PendingUpdates pending(pattern.supernodes);
  std::vector<int> place(at(pattern.size));
  std::vector<double> product;
  for (int s = 0; s < pattern.supernodes; ++s) {
    const Shape shape(pattern, s);
    double* block = values.data() + shape.value;
    for (int r = 0; r < shape.height; ++r) place[at(shape.rows[r])] = r;
    const int columns_end = shape.first_column + shape.width;

    for (int d = pending.first(s), next = -1; d >= 0; d = next) {
      next = pending.next(d);
      const Shape from(pattern, d);
      const int first = pending.first_row(d);
      const int last = static_cast<int>(
          std::lower_bound(from.rows + first, from.rows + from.height, columns_end) - from.rows);
      const int rows = from.height - first;
      product.resize(std::max(product.size(), at(rows) * at(last - first)));
      multiply_trapezoid_wide({values.data() + from.value + first, from.height, rows, from.width},
                              last - first, product.data(), rows);
      for (int c = 0; c < last - first; ++c) {
        double* to = block + std::ptrdiff_t{place[at(from.rows[first + c])]} * shape.height;
        const double* update = product.data() + std::ptrdiff_t{c} * rows;
        for (int r = c; r < rows; ++r) to[place[at(from.rows[first + r])]] -= update[r];
      }
      if (last < from.height) pending.add(d, supernode_[at(from.rows[last])], last);
    }

    const int failed = factor_supernode_wide(block, shape.height, shape.width);
    if (failed >= 0) return shape.first_column + failed;
    if (shape.width < shape.height) pending.add(s, supernode_[at(shape.rows[shape.width])], shape.width);
  }
  return -1;
}

}  // namespace thrum::numerics
