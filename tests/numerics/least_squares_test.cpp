// SPDX-License-Identifier: MIT
#include "thrum/numerics/least_squares.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "thrum/base/error.h"

namespace thrum::numerics {
namespace {

MatX random_matrix(Eigen::Index rows, Eigen::Index columns, std::mt19937& random)
{
  MatX A(rows, columns);
  for (Eigen::Index k = 0; k < A.size(); ++k) A.data()[k] = static_cast<double>(random() % 20001) / 10000 - 1;
  return A;
}

RC_GTEST_PROP(LeastSquares, ResidualIsOrthogonalToTheColumns, ())
{
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  const int n = *rc::gen::inRange(1, 12);
  const int m = n + *rc::gen::inRange(0, 20);
  const MatX A = random_matrix(m, n, random);
  const VecX b = random_matrix(m, 1, random);
  const LeastSquaresResult plain = solve_least_squares(A, b);
  RC_ASSERT((A.transpose() * (A * plain.x - b)).norm() <= 1e-9 * (1 + b.norm()));
  // With a ridge r: A^T (A x - b) + r^2 x = 0.
  const double ridge = 0.7;
  const LeastSquaresResult regular = solve_least_squares(A, b, {.ridge = ridge});
  RC_ASSERT((A.transpose() * (A * regular.x - b) + ridge * ridge * regular.x).norm() <=
            1e-10 * (1 + b.norm()));
  RC_ASSERT(regular.x.norm() <= plain.x.norm() * (1 + 1e-9) + 1e-12);
}

RC_GTEST_PROP(LeastSquares, NonNegativeMeetsItsConditions, ())
{
  // x >= 0, gradient g = A^T (A x - b) >= 0, g_i x_i = 0.
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  const int n = *rc::gen::inRange(1, 15);
  const int m = *rc::gen::inRange(1, 25);
  const MatX A = random_matrix(m, n, random);
  const VecX b = random_matrix(m, 1, random);
  const double ridge = *rc::gen::inRange(0, 3) * 0.2;
  const LeastSquaresResult result = solve_least_squares(A, b, {.ridge = ridge, .non_negative = true});
  RC_ASSERT(result.ok());
  const VecX g = A.transpose() * (A * result.x - b) + ridge * ridge * result.x;
  RC_ASSERT(result.x.minCoeff() >= 0);
  RC_ASSERT(g.minCoeff() >= -1e-8);
  RC_ASSERT(std::abs(g.dot(result.x)) <= 1e-8);
}

TEST(LeastSquares, ShortestSolutionWhereColumnsRepeat)
{
  // Two equal columns get equal coefficients.
  MatX A(3, 2);
  A << 1, 1, 2, 2, 2, 2;
  const VecX b = 3 * A.col(0);
  const LeastSquaresResult result = solve_least_squares(A, b);
  EXPECT_EQ(result.rank, 1);
  EXPECT_LE((result.x - VecX::Constant(2, 1.5)).norm(), 1e-12);
  EXPECT_LE(result.relative_residual, 1e-14);
}

TEST(LeastSquares, RecoversAKnownNonNegativeVector)
{
  std::mt19937 random(7);
  const MatX A = random_matrix(30, 10, random);
  VecX x0 = VecX::Zero(10);
  x0[2] = 1;
  x0[7] = 0.25;
  const LeastSquaresResult result = solve_least_squares(A, A * x0, {.non_negative = true});
  EXPECT_LE((result.x - x0).norm(), 1e-10);
}

TEST(LeastSquares, RejectsInvalidInput)
{
  EXPECT_THROW(static_cast<void>(solve_least_squares(MatX::Ones(3, 2), VecX::Ones(2))), Error);
  EXPECT_THROW(static_cast<void>(solve_least_squares(MatX::Ones(3, 2), VecX::Ones(3), {.ridge = -1})), Error);
  MatX bad = MatX::Ones(2, 2);
  bad(0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(solve_least_squares(bad, VecX::Ones(2))), Error);
  EXPECT_EQ(solve_least_squares(MatX(0, 3), VecX(0)).x, VecX::Zero(3));
}

}  // namespace
}  // namespace thrum::numerics
