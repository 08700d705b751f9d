// SPDX-License-Identifier: MIT
#include "thrum/vibration/one_sided.h"

#include <gtest/gtest.h>

#include "thrum/base/random.h"

namespace thrum::vibration {
namespace {

MatX random_definite(base::Random& random, Eigen::Index n)
{
  MatX B(n, n);
  for (Eigen::Index i = 0; i < B.size(); ++i) B.data()[i] = random.uniform(-1, 1);
  return B * B.transpose() + 0.1 * MatX::Identity(n, n);
}

// The fallback finds what pivoting would have found; what neither finds is counted.
TEST(OneSided, FallsBackToSweepsAndCountsWhatIsNotSolved)
{
  base::Random random(4);
  for (int trial = 0; trial < 50; ++trial) {
    const Eigen::Index n = 3 + trial % 5;
    const MatX A = random_definite(random, n);
    VecX b(n);
    for (Eigen::Index i = 0; i < n; ++i) b[i] = random.uniform(-1, 1);
    b[0] = 1;
    int unsolved = 0;
    const VecX exact = solve_one_sided(A, b, unsolved);
    EXPECT_EQ(unsolved, 0);
    EXPECT_GE(exact.minCoeff(), 0);
    const VecX w = A * exact - b;
    for (Eigen::Index i = 0; i < n; ++i) {
      EXPECT_GE(w[i], -1e-7);
      EXPECT_NEAR(w[i] * exact[i], 0, 1e-7);
    }
    OneSidedDesc without_pivots;
    without_pivots.pivoting.iterations = 0;
    without_pivots.sweeps.iterations = 100000;
    EXPECT_LT((solve_one_sided(A, b, unsolved, without_pivots) - exact).norm(), 1e-5 * (1 + exact.norm()));
    EXPECT_EQ(unsolved, 0);
    without_pivots.sweeps.iterations = 1;
    without_pivots.sweeps.tolerance = 0;
    const VecX rough = solve_one_sided(A, b, unsolved, without_pivots);
    EXPECT_EQ(unsolved, 1);
    EXPECT_GE(rough.minCoeff(), 0);
  }
}

}  // namespace
}  // namespace thrum::vibration
