// SPDX-License-Identifier: MIT
// Against loops over the entries, for every length of a remainder.
#include "thrum/elastic/column_kernels.h"

#include <gtest/gtest.h>

#include <vector>

#include "thrum/base/random.h"

namespace thrum::elastic {
namespace {

std::vector<double> random_values(base::Random& random, std::size_t count)
{
  std::vector<double> values(count);
  for (double& v : values) v = random.uniform(-1, 1);
  return values;
}

// Entry by entry in the stated order: the same bits.
TEST(ColumnKernels, AddColumnsFromLeftToRight)
{
  base::Random random(7);
  for (std::size_t n = 0; n < 75; ++n) {
    for (const std::size_t count : {0U, 1U, 2U, 7U, 50U}) {
      const std::size_t stride = n + 3;
      const std::vector<double> matrix = random_values(random, count * stride);
      const std::vector<double> c = random_values(random, count);
      const std::vector<double> start = random_values(random, n);
      std::vector<double> expected = start;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < count; ++j) expected[i] += c[j] * matrix[j * stride + i];
      std::vector<double> adjacent = start;
      add_columns(matrix.data(), stride, c, adjacent);
      EXPECT_EQ(adjacent, expected) << n << " x " << count;
      std::vector<const double*> columns;
      for (std::size_t j = 0; j < count; ++j) columns.push_back(matrix.data() + j * stride);
      std::vector<double> listed = start;
      add_columns(columns, c.data(), listed);
      EXPECT_EQ(listed, expected) << n << " x " << count;
    }
  }
}

TEST(ColumnKernels, SubtractFourAndTwoColumns)
{
  base::Random random(8);
  for (std::size_t n = 0; n < 40; ++n) {
    const std::vector<double> a = random_values(random, n), b = random_values(random, n),
                              c = random_values(random, n), d = random_values(random, n),
                              f = random_values(random, 4);
    const double* const columns[4] = {a.data(), b.data(), c.data(), d.data()};
    std::vector<double> four = random_values(random, n);
    std::vector<double> two = four;
    std::vector<double> expected_four = four, expected_two = four;
    for (std::size_t i = 0; i < n; ++i) {
      expected_four[i] -= (f[0] * a[i] + f[1] * b[i]) + (f[2] * c[i] + f[3] * d[i]);
      expected_two[i] -= f[0] * a[i] + f[1] * b[i];
    }
    subtract_four_columns(columns, f.data(), four);
    subtract_two_columns(f[0], a.data(), f[1], b.data(), two);
    EXPECT_EQ(four, expected_four) << n;
    EXPECT_EQ(two, expected_two) << n;
  }
}

// Products of small whole numbers are exact in any order.
TEST(ColumnKernels, DotTwoColumns)
{
  base::Random random(9);
  for (std::size_t n = 0; n < 40; ++n) {
    std::vector<double> a(n), b(n), v(n);
    double first = 0, second = 0;
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = static_cast<double>(random.index(100)) - 50;
      b[i] = static_cast<double>(random.index(100)) - 50;
      v[i] = static_cast<double>(random.index(100)) - 50;
      first += a[i] * v[i];
      second += b[i] * v[i];
    }
    const ColumnPair sum = dot_two_columns(a.data(), b.data(), v);
    EXPECT_EQ(sum.first, first) << n;
    EXPECT_EQ(sum.second, second) << n;
  }
}

TEST(ColumnKernels, StepModesByTheirCoefficients)
{
  base::Random random(10);
  for (std::size_t n = 0; n < 40; ++n) {
    std::vector<std::vector<double>> s;
    for (int k = 0; k < 6; ++k) s.push_back(random_values(random, n));
    std::vector<double> q = random_values(random, n), v = random_values(random, n);
    std::vector<double> q1(n), v1(n);
    for (std::size_t i = 0; i < n; ++i) {
      q1[i] = s[0][i] * q[i] + s[1][i] * v[i] + s[4][i];
      v1[i] = s[2][i] * q[i] + s[3][i] * v[i] + s[5][i];
    }
    step_modes({s[0].data(), s[1].data(), s[2].data(), s[3].data(), s[4].data(), s[5].data()}, q, v.data());
    EXPECT_EQ(q, q1) << n;
    EXPECT_EQ(v, v1) << n;
  }
}

}  // namespace
}  // namespace thrum::elastic
