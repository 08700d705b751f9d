// SPDX-License-Identifier: MIT
#include "thrum/numerics/generalised_eigen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "thrum/base/error.h"
#include "thrum/base/parallel.h"
#include "thrum/numerics/block_products.h"

namespace thrum::numerics {
namespace {

struct Problem {
  SparseMatrix K;
  SparseMatrix M;
};

SparseMatrix from_triplets(Eigen::Index n, const std::vector<Eigen::Triplet<double>>& triplets)
{
  SparseMatrix matrix(n, n);
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return matrix;
}

// Springs in a row with unit masses: free ends, or a wall at each end. The eigenvalues are known.
Problem chain(Index n, bool walls)
{
  std::vector<Eigen::Triplet<double>> k;
  std::vector<Eigen::Triplet<double>> m;
  for (Index i = 0; i < n; ++i) {
    const bool end = i == 0 || i == n - 1;
    k.emplace_back(i, i, end && !walls ? 1 : 2);
    if (i + 1 < n) k.emplace_back(i + 1, i, -1);
    m.emplace_back(i, i, 1);
  }
  return {from_triplets(n, k), from_triplets(n, m)};
}

double chain_value(Index n, bool walls, Index k)
{
  const double angle = walls ? (k + 1) * std::numbers::pi / (n + 1) : k * std::numbers::pi / n;
  return 4 * std::pow(std::sin(angle / 2), 2);
}

// A cubical grid of springs with walls: values are sums of three chain values, so most occur 3 or 6 times.
Problem grid(Index n)
{
  const Problem line = chain(n, true);
  std::vector<Eigen::Triplet<double>> k;
  std::vector<Eigen::Triplet<double>> m;
  const auto at = [n](Index x, Index y, Index z) {
    return x + n * (y + n * z);
  };
  for (Index z = 0; z < n; ++z)
    for (Index y = 0; y < n; ++y)
      for (Index x = 0; x < n; ++x) {
        const Index i = at(x, y, z);
        // The mass varies so that it is not the identity; scaling both rows keeps the eigenvalues.
        k.emplace_back(i, i, 6);
        m.emplace_back(i, i, 1);
        if (x + 1 < n) k.emplace_back(at(x + 1, y, z), i, -1);
        if (y + 1 < n) k.emplace_back(at(x, y + 1, z), i, -1);
        if (z + 1 < n) k.emplace_back(at(x, y, z + 1), i, -1);
      }
  return {from_triplets(n * n * n, k), from_triplets(n * n * n, m)};
}

std::vector<double> grid_values(Index n)
{
  std::vector<double> all;
  for (Index x = 0; x < n; ++x)
    for (Index y = 0; y < n; ++y)
      for (Index z = 0; z < n; ++z)
        all.push_back(chain_value(n, true, x) + chain_value(n, true, y) + chain_value(n, true, z));
  std::sort(all.begin(), all.end());
  return all;
}

// Independent copies of one chain: every eigenvalue occurs `copies` times.
Problem copies_of_chain(Index n, Index copies)
{
  const Problem one = chain(n, true);
  std::vector<Eigen::Triplet<double>> k;
  std::vector<Eigen::Triplet<double>> m;
  for (Index c = 0; c < copies; ++c) {
    for (int column = 0; column < n; ++column) {
      for (SparseMatrix::InnerIterator it(one.K, column); it; ++it)
        k.emplace_back(static_cast<Index>(it.row()) + c * n, column + c * n, it.value());
      m.emplace_back(column + c * n, column + c * n, 1);
    }
  }
  return {from_triplets(n * copies, k), from_triplets(n * copies, m)};
}

void expect_eigenpairs(const Problem& p, const GeneralisedEigenResult& r)
{
  const SymmetricProduct K(p.K);
  const SymmetricProduct M(p.M);
  const MatX KX = K * r.vectors;
  const MatX MX = M * r.vectors;
  const MatX gram = r.vectors.transpose() * MX;
  EXPECT_LT((gram - MatX::Identity(gram.rows(), gram.cols())).cwiseAbs().maxCoeff(), 1e-10);
  for (Eigen::Index k = 0; k < r.values.size(); ++k) {
    EXPECT_LT((KX.col(k) - r.values[k] * MX.col(k)).norm(), 1e-6 * KX.col(k).norm());
    // Rayleigh's quotient is the eigenvalue.
    EXPECT_NEAR(r.vectors.col(k).dot(KX.col(k)), r.values[k], 1e-9 * r.values[k]);
  }
}

TEST(GeneralisedEigen, FindsTheLowestOfAChainWithWalls)
{
  const Index n = 700;
  const Problem p = chain(n, true);
  const GeneralisedEigenResult r =
      solve_generalised_eigen(p.K, p.M, {.count = 25, .method = EigenMethod::block_lanczos});
  ASSERT_TRUE(r.ok()) << to_string(r.status);
  ASSERT_EQ(r.values.size(), 25);
  EXPECT_TRUE(r.verified);
  EXPECT_EQ(r.converged, 25);
  EXPECT_LE(r.residuals.maxCoeff(), 1e-8);
  for (Index k = 0; k < 25; ++k)
    EXPECT_NEAR(r.values[k], chain_value(n, true, k), 1e-10 * chain_value(n, true, k));
  expect_eigenpairs(p, r);
}

TEST(GeneralisedEigen, LeavesTheNullSpaceOut)
{
  const Index n = 500;
  const Problem p = chain(n, false);
  GeneralisedEigenDesc desc{.count = 10, .shift = -1e-5, .null_space = MatX::Ones(n, 1)};
  for (const EigenMethod method : {EigenMethod::block_lanczos, EigenMethod::spectra, EigenMethod::dense}) {
    desc.method = method;
    const GeneralisedEigenResult r = solve_generalised_eigen(p.K, p.M, desc);
    ASSERT_TRUE(r.ok());
    ASSERT_EQ(r.values.size(), 10);
    for (Index k = 0; k < 10; ++k)
      EXPECT_NEAR(r.values[k], chain_value(n, false, k + 1), 1e-8 * chain_value(n, false, k + 1)) << k;
  }
}

TEST(GeneralisedEigen, FindsEveryCopyOfRepeatedValues)
{
  const Index n = 9;
  const Problem p = grid(n);
  const std::vector<double> expected = grid_values(n);
  for (const Index block : {1, 3, 8}) {
    const GeneralisedEigenResult r = solve_generalised_eigen(
        p.K, p.M, {.count = 60, .method = EigenMethod::block_lanczos, .block_size = block});
    ASSERT_TRUE(r.ok()) << "block " << block;
    for (Index k = 0; k < 60; ++k)
      EXPECT_NEAR(r.values[k], expected[static_cast<std::size_t>(k)], 1e-9) << block;
    expect_eigenpairs(p, r);
  }
}

TEST(GeneralisedEigen, FindsMoreCopiesThanTheBlockHasVectors)
{
  // Twelve times the same value and blocks of four: one block Krylov space holds only four copies, the probe
  // finds the rest.
  const Problem p = copies_of_chain(40, 12);
  const GeneralisedEigenResult r =
      solve_generalised_eigen(p.K, p.M, {.count = 30, .method = EigenMethod::block_lanczos, .block_size = 4});
  ASSERT_TRUE(r.ok());
  for (Index k = 0; k < 30; ++k) EXPECT_NEAR(r.values[k], chain_value(40, true, k / 12), 1e-9);
  expect_eigenpairs(p, r);
}

TEST(GeneralisedEigen, CountsBySturm)
{
  const Problem p = grid(8);
  const GeneralisedEigenResult r = solve_generalised_eigen(
      p.K, p.M,
      {.count = 40, .method = EigenMethod::block_lanczos, .verification = EigenVerification::sturm});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.expected_count, 40);
  EXPECT_TRUE(r.verified);
}

TEST(GeneralisedEigen, FindsAllBelowALimit)
{
  const Index n = 9;
  const Problem p = grid(n);
  const std::vector<double> all = grid_values(n);
  for (const double limit : {0.5, 1.0, 2.0}) {
    const auto expected = static_cast<Index>(std::lower_bound(all.begin(), all.end(), limit) - all.begin());
    const GeneralisedEigenResult r = solve_generalised_eigen(
        p.K, p.M, {.count = 1000, .below = limit, .method = EigenMethod::block_lanczos});
    ASSERT_TRUE(r.ok()) << limit;
    EXPECT_EQ(r.values.size(), expected) << limit;
  }
  const GeneralisedEigenResult none =
      solve_generalised_eigen(p.K, p.M, {.count = 10, .below = 0.01, .method = EigenMethod::block_lanczos});
  EXPECT_TRUE(none.ok());
  EXPECT_EQ(none.values.size(), 0);
}

TEST(GeneralisedEigen, FindsAllBelowALimitWithoutACount)
{
  const Index n = 9;
  const Problem p = grid(n);
  const std::vector<double> all = grid_values(n);
  for (const double limit : {0.01, 0.5, 1.9}) {
    const auto expected = static_cast<Index>(std::lower_bound(all.begin(), all.end(), limit) - all.begin());
    for (const EigenMethod method : {EigenMethod::block_lanczos, EigenMethod::dense}) {
      const GeneralisedEigenResult r =
          solve_generalised_eigen(p.K, p.M, {.count = 0, .below = limit, .method = method});
      ASSERT_TRUE(r.ok()) << limit;
      EXPECT_EQ(r.values.size(), expected) << limit;
    }
  }
  EXPECT_THROW(static_cast<void>(solve_generalised_eigen(p.K, p.M, {.count = 0})), Error);
}

TEST(GeneralisedEigen, RestartsInASmallBasis)
{
  const Index n = 600;
  const Problem p = chain(n, true);
  const GeneralisedEigenResult r = solve_generalised_eigen(
      p.K, p.M, {.count = 12, .method = EigenMethod::block_lanczos, .block_size = 2, .max_basis_size = 20});
  ASSERT_TRUE(r.ok());
  EXPECT_GT(r.restarts, 0);
  for (Index k = 0; k < 12; ++k)
    EXPECT_NEAR(r.values[k], chain_value(n, true, k), 1e-9 * chain_value(n, true, k));
}

TEST(GeneralisedEigen, GivesTheSameBitsForEveryNumberOfThreads)
{
  const Problem p = grid(18);
  base::set_thread_count(1);
  const GeneralisedEigenResult one = solve_generalised_eigen(p.K, p.M, {.count = 12});
  base::set_thread_count(2);
  const GeneralisedEigenResult two = solve_generalised_eigen(p.K, p.M, {.count = 12});
  base::set_thread_count(0);
  EXPECT_TRUE((one.vectors.array() == two.vectors.array()).all());
  EXPECT_TRUE((one.values.array() == two.values.array()).all());
}

// Matrices that are freed on the way have the same eigenpairs, also where masses couple what no spring does.
TEST(GeneralisedEigen, OfMatricesThatAreFreedIsTheSame)
{
  Problem wide = grid(12);
  wide.M.coeffRef(1000, 500) = 0.1;
  wide.M.coeffRef(1000, 501) = 0.1;
  wide.M.makeCompressed();
  for (const Problem& p : {grid(12), wide})
    for (const double shift : {0.0, -0.05})
      for (const EigenVerification verification : {EigenVerification::probe, EigenVerification::sturm}) {
        const GeneralisedEigenDesc desc = {
            .count = 12, .shift = shift, .method = EigenMethod::block_lanczos, .verification = verification};
        Problem freed = p;
        const GeneralisedEigenResult kept = solve_generalised_eigen(p.K, p.M, desc);
        const GeneralisedEigenResult once =
            solve_generalised_eigen(std::move(freed.K), std::move(freed.M), desc);
        ASSERT_TRUE(kept.ok());
        EXPECT_TRUE(once.verified);
        EXPECT_EQ(kept.values, once.values) << shift;
        EXPECT_EQ(kept.vectors, once.vectors) << shift;
        expect_eigenpairs(p, once);
      }
}

TEST(GeneralisedEigen, ReportsWhatFailed)
{
  const Problem p = chain(400, false);
  // A shift above the lowest eigenvalue.
  const GeneralisedEigenResult indefinite =
      solve_generalised_eigen(p.K, p.M, {.count = 5, .shift = 0.5, .method = EigenMethod::block_lanczos});
  EXPECT_EQ(indefinite.status, EigenStatus::factorisation_failed);

  GeneralisedEigenDesc stop{.count = 5, .shift = -0.1, .method = EigenMethod::block_lanczos};
  stop.progress = [](const EigenProgress& progress) {
    return progress.stage != "iterate";
  };
  EXPECT_EQ(solve_generalised_eigen(p.K, p.M, stop).status, EigenStatus::cancelled);

  GeneralisedEigenDesc loose_tolerance{.count = 20,
                                       .shift = -1e-4,
                                       .method = EigenMethod::block_lanczos,
                                       .max_basis_size = 32,
                                       .max_restarts = 0};
  const GeneralisedEigenResult early = solve_generalised_eigen(p.K, p.M, loose_tolerance);
  EXPECT_EQ(early.status, EigenStatus::not_converged);
  EXPECT_LT(early.converged, 20);

  EXPECT_THROW(static_cast<void>(solve_generalised_eigen(p.K, chain(5, true).M)), Error);
  EXPECT_THROW(static_cast<void>(solve_generalised_eigen(p.K, p.M, {.count = 0})), Error);
  EXPECT_THROW(static_cast<void>(solve_generalised_eigen(p.K, p.M, {.null_space = MatX::Ones(3, 1)})), Error);
}

TEST(SymmetricProduct, MultipliesByBothTriangles)
{
  const Problem p = grid(5);
  const MatX half(p.K);
  MatX full = half + half.transpose();
  full.diagonal() = half.diagonal();
  const MatX X = MatX::Random(full.rows(), 13);
  EXPECT_LT((SymmetricProduct(p.K) * X - full * X).norm(), 1e-12 * X.norm());
}

TEST(BlockProducts, AgreeWithEigenProducts)
{
  const MatX A = MatX::Random(9001, 7);
  const MatX B = MatX::Random(9001, 3);
  const MatX X = MatX::Random(7, 3);
  EXPECT_LT((transposed_product(A, B) - A.transpose() * B).norm(), 1e-11);
  MatX C = B;
  subtract_product(A, X, C);
  EXPECT_LT((C - (B - A * X)).norm(), 1e-11);
  MatX D = A;
  multiply_in_place(D, X);
  EXPECT_LT((D.leftCols(3) - A * X).norm(), 1e-11);
}

}  // namespace
}  // namespace thrum::numerics
