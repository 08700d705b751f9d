// SPDX-License-Identifier: MIT
// Sums of columns for the substeps of contacts on modes: dozens of contacts times dozens of modes, thousands
// of times in a response.
//
// The processor's vectors of four doubles are used where it has them. Each entry is added in the same order
// either way and without fused products, so that the results have the same bits on every processor.
#pragma once

#include <cstddef>
#include <span>

namespace thrum::elastic {

/// y[i] += c[0] columns[0][i] + c[1] columns[1][i] + ..., added from left to right.
void add_columns(std::span<const double* const> columns, const double* c, std::span<double> y);

/// The same for columns that follow each other in memory, `stride` apart.
void add_columns(const double* first, std::size_t stride, std::span<const double> c, std::span<double> y);

/// y[i] -= (c[0] columns[0][i] + c[1] columns[1][i]) + (c[2] columns[2][i] + c[3] columns[3][i]).
void subtract_four_columns(const double* const columns[4], const double c[4], std::span<double> y);

/// Products of two columns with v.
struct ColumnPair {
  double first = 0;
  double second = 0;
};
[[nodiscard]] ColumnPair dot_two_columns(const double* first, const double* second,
                                         std::span<const double> v);

/// v[i] -= a first[i] + b second[i].
void subtract_two_columns(double a, const double* first, double b, const double* second, std::span<double> v);

/// Free motion of modes over a step: q, v of each become (qq q + qv v) + load_q and (vq q + vv v) + load_v.
struct ModeStep {
  const double *qq, *qv, *vq, *vv;
  const double *load_q, *load_v;
};
void step_modes(const ModeStep& step, std::span<double> q, double* v);

}  // namespace thrum::elastic
