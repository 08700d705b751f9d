// SPDX-License-Identifier: MIT
#include "thrum/numerics/small_cholesky.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <random>

namespace thrum::numerics {
namespace {

constexpr VectorWidth kWidths[] = {VectorWidth::pairs, VectorWidth::fours, VectorWidth::eights};

MatX random_matrix(Eigen::Index rows, Eigen::Index columns, unsigned seed)
{
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  return MatX::NullaryExpr(rows, columns, [&] { return u(random); });
}

void fill(SmallCholesky& factor, const MatX& A)
{
  const auto n = static_cast<std::size_t>(A.rows());
  factor.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k; i < n; ++i)
      factor.column(k)[i] = A(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
  }
}

// Of every size up to some vectors, each solved again by the same object.
TEST(SmallCholesky, SolvesAsTheDenseFactorOfEigenWithTheSameBitsAtEveryWidth)
{
  SmallCholesky pairs(VectorWidth::pairs);
  for (Eigen::Index n = 1; n <= 70; n += n < 20 ? 1 : 7) {
    const MatX B = random_matrix(n, n + 3, static_cast<unsigned>(n));
    const MatX A = MatX::Identity(n, n) * 0.1 + B * B.transpose();
    const VecX b = random_matrix(n, 1, 99);
    const VecX expected = A.llt().solve(b);
    fill(pairs, A);
    ASSERT_TRUE(pairs.compute()) << n;
    VecX narrow = b;
    pairs.solve_in_place(narrow);
    EXPECT_LT((narrow - expected).norm(), 1e-10 * expected.norm()) << n;
    for (const VectorWidth width : kWidths) {
      SmallCholesky wide(width);
      fill(wide, A);
      ASSERT_TRUE(wide.compute()) << n;
      VecX x = b;
      wide.solve_in_place(x);
      EXPECT_EQ(x, narrow) << n;
    }
  }
}

TEST(SmallCholesky, SaysWhatIsNotPositiveDefinite)
{
  for (const VectorWidth width : kWidths) {
    for (const Eigen::Index n : {1, 5, 33}) {
      MatX A = MatX::Identity(n, n);
      A(n - 1, n - 1) = -1e-3;
      SmallCholesky factor(width);
      fill(factor, A);
      EXPECT_FALSE(factor.compute());
      A(n - 1, n - 1) = std::numeric_limits<double>::quiet_NaN();
      fill(factor, A);
      EXPECT_FALSE(factor.compute());
    }
  }
}

TEST(WideMatrix, MultipliesWithTheSameBitsAtEveryWidth)
{
  for (const Eigen::Index rows : {1, 8, 31, 110}) {
    for (const Eigen::Index columns : {1, 17, 110}) {
      const MatX A = random_matrix(rows, columns, 5);
      const VecX x = random_matrix(columns, 1, 6);
      VecX narrow;
      WideMatrix pairs(VectorWidth::pairs);
      pairs.assign(A);
      pairs.multiply(x, narrow);
      EXPECT_LT((narrow - A * x).norm(), 1e-13 * static_cast<double>(columns)) << rows << " " << columns;
      EXPECT_EQ(pairs(rows - 1, columns - 1), A(rows - 1, columns - 1));
      for (const VectorWidth width : kWidths) {
        WideMatrix wide(width);
        wide.assign(A);
        VecX out;
        wide.multiply(x, out);
        EXPECT_EQ(out, narrow) << rows << " " << columns;
      }
    }
  }
}

TEST(WideProducts, AreThoseOfTheDefinitionForEveryLength)
{
  for (Eigen::Index n = 0; n <= 40; ++n) {
    const VecX a = random_matrix(n, 1, 1);
    const VecX b = random_matrix(n, 1, 2);
    const auto count = static_cast<std::size_t>(n);
    double sum = 0;
    for (Eigen::Index i = 0; i < n; ++i) sum += a[i] * b[i];
    EXPECT_NEAR(wide_dot(a.data(), b.data(), count), sum, 1e-14 * static_cast<double>(n)) << n;
    VecX to = b;
    wide_add(a.data(), 0.7, to.data(), count);
    for (Eigen::Index i = 0; i < n; ++i) EXPECT_EQ(to[i], b[i] + a[i] * 0.7) << n;
  }
}

}  // namespace
}  // namespace thrum::numerics
