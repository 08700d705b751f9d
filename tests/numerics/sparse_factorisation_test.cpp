// SPDX-License-Identifier: MIT
#include "thrum/numerics/sparse_factorisation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <random>
#include <thread>

#include "thrum/base/error.h"

namespace thrum::numerics {
namespace {

std::vector<FactorisationBackend> backends(MatrixKind kind)
{
  std::vector<FactorisationBackend> all = {FactorisationBackend::automatic, FactorisationBackend::eigen_ldlt};
  if (has_backend(FactorisationBackend::cholmod_simplicial)) {
    all.push_back(FactorisationBackend::cholmod_simplicial);
    if (kind == MatrixKind::positive_definite) all.push_back(FactorisationBackend::cholmod_supernodal);
  }
  return all;
}

// The five-point Laplacian on a grid with a shift: eigenvalues 4 - 2 cos(a) - 2 cos(b) + shift are known.
SparseMatrix grid_laplacian(int nx, int ny, double shift)
{
  std::vector<Eigen::Triplet<double>> entries;
  const auto id = [nx](int i, int j) {
    return j * nx + i;
  };
  for (int j = 0; j < ny; ++j) {
    for (int i = 0; i < nx; ++i) {
      entries.emplace_back(id(i, j), id(i, j), 4 + shift);
      if (i > 0) entries.emplace_back(id(i, j), id(i - 1, j), -1);
      if (j > 0) entries.emplace_back(id(i, j), id(i, j - 1), -1);
    }
  }
  SparseMatrix A(nx * ny, nx * ny);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

int negative_grid_eigenvalues(int nx, int ny, double shift)
{
  int count = 0;
  for (int i = 1; i <= nx; ++i) {
    for (int j = 1; j <= ny; ++j) {
      const double a = std::numbers::pi * i / (nx + 1);
      const double b = std::numbers::pi * j / (ny + 1);
      count += 4 - 2 * std::cos(a) - 2 * std::cos(b) + shift < 0 ? 1 : 0;
    }
  }
  return count;
}

// Lower triangle of a random sparse matrix, diagonally dominant unless `diagonal` is small.
SparseMatrix random_matrix(int n, double diagonal, unsigned seed)
{
  std::mt19937 random(seed);
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < n; ++j) {
    entries.emplace_back(j, j, diagonal * (1 + static_cast<double>(random() % 100) / 100));
    for (int k = 0; k < 3; ++k) {
      const int i = static_cast<int>(random() % static_cast<unsigned>(n));
      if (i > j) entries.emplace_back(i, j, static_cast<double>(random() % 200) / 100 - 1);
    }
  }
  SparseMatrix A(n, n);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

MatX dense(const SparseMatrix& A)
{
  const SparseMatrix full = A.selfadjointView<Eigen::Lower>();
  return MatX(full);
}

RC_GTEST_PROP(SparseFactorisation, SolvesLikeADenseMatrix, ())
{
  const int n = *rc::gen::inRange(1, 120);
  const SparseMatrix A = random_matrix(n, 8, *rc::gen::arbitrary<unsigned>());
  const VecX b = VecX::LinSpaced(n, -1, 2);
  const VecX expected = dense(A).ldlt().solve(b);
  for (const FactorisationBackend backend : backends(MatrixKind::positive_definite)) {
    for (const FillOrdering ordering :
         {FillOrdering::minimum_degree, FillOrdering::nested_dissection, FillOrdering::natural}) {
      SparseFactorisation f;
      const FactorisationResult r = f.factor(A, {.backend = backend, .ordering = ordering});
      RC_ASSERT(r.ok());
      VecX x = b;
      f.solve(x);
      RC_ASSERT((x - expected).norm() <= 1e-12 * expected.norm());
    }
  }
}

TEST(SparseFactorisation, ManyRightHandSidesEqualOneByOne)
{
  const SparseMatrix A = grid_laplacian(23, 17, 0.1);
  for (const FactorisationBackend backend : backends(MatrixKind::positive_definite)) {
    SparseFactorisation f;
    ASSERT_TRUE(f.factor(A, {.backend = backend}).ok());
    MatX X = MatX::Random(A.rows(), 15);
    const MatX B = X;
    f.solve_many(X);
    for (Eigen::Index c = 0; c < X.cols(); ++c) {
      VecX x = B.col(c);
      f.solve(x);
      EXPECT_LE((x - X.col(c)).norm(), 1e-13 * x.norm());
    }
    EXPECT_LE((dense(A) * X - B).norm(), 1e-12 * B.norm());
  }
}

TEST(SparseFactorisation, RefactorKeepsTheOrderAndTakesNewNumbers)
{
  const SparseMatrix A = grid_laplacian(40, 45, 0.5);
  SparseMatrix A2 = 3.0 * A;
  A2.coeffRef(7, 7) += 2;
  for (const FactorisationBackend backend : backends(MatrixKind::positive_definite)) {
    SparseFactorisation f;
    ASSERT_TRUE(f.factor(A, {.backend = backend}).ok());
    const std::vector<int> order = f.permutation();
    ASSERT_TRUE(f.refactor(A2).ok());
    EXPECT_EQ(order, f.permutation());
    const VecX b = VecX::LinSpaced(A.rows(), 1, 2);
    VecX x = b;
    f.solve(x);
    EXPECT_LE((A2.selfadjointView<Eigen::Lower>() * x - b).norm(), 1e-12 * b.norm());
    EXPECT_THROW(static_cast<void>(f.refactor(grid_laplacian(45, 40, 0.5))), Error);
    EXPECT_FALSE(f.has_factor());
  }
}

TEST(SparseFactorisation, TwoMatricesShareAPattern)
{
  const SparseMatrix A = grid_laplacian(40, 45, 0.5);
  const SparseMatrix A2 = grid_laplacian(40, 45, 0.01);
  const VecX b = VecX::LinSpaced(A.rows(), 1, 2);
  for (const FactorisationBackend backend : backends(MatrixKind::positive_definite)) {
    SparseFactorisation first;
    EXPECT_THROW(static_cast<void>(first.same_pattern()), Error);
    ASSERT_TRUE(first.analyse(A, {.backend = backend}).ok());
    EXPECT_FALSE(first.has_factor());
    SparseFactorisation second = first.same_pattern();
    ASSERT_TRUE(first.refactor(A).ok());
    ASSERT_TRUE(second.refactor(A2).ok());
    SparseFactorisation third = first.same_pattern();
    EXPECT_FALSE(third.has_factor());
    ASSERT_TRUE(third.refactor(A2).ok());
    EXPECT_EQ(first.permutation(), second.permutation());
    VecX x = b, x2 = b, x3 = b;
    first.solve(x);
    second.solve(x2);
    third.solve(x3);
    EXPECT_LE((A.selfadjointView<Eigen::Lower>() * x - b).norm(), 1e-12 * b.norm());
    EXPECT_LE((A2.selfadjointView<Eigen::Lower>() * x2 - b).norm(), 1e-11 * b.norm());
    EXPECT_EQ(x2, x3);
  }
}

TEST(SparseFactorisation, HalfSolvesAreTheTwoHalvesOfTheInverse)
{
  const SparseMatrix A = grid_laplacian(12, 9, 0.3);
  for (const FactorisationBackend backend : backends(MatrixKind::positive_definite)) {
    SparseFactorisation f;
    ASSERT_TRUE(f.factor(A, {.backend = backend}).ok());
    const VecX b = VecX::Random(A.rows());
    VecX whole = b;
    f.solve(whole);
    VecX halves = b;
    f.solve_half(halves);
    // |F^-1 b|^2 = b^T A^-1 b.
    EXPECT_NEAR(halves.squaredNorm(), b.dot(whole), 1e-12 * b.dot(whole));
    f.solve_half_transposed(halves);
    EXPECT_LE((halves - whole).norm(), 1e-13 * whole.norm());
  }
}

TEST(SparseFactorisation, InertiaCountsTheEigenvaluesBelowAShift)
{
  for (const double shift : {-0.05, -0.7, -2.03, -3.9, -6.1}) {
    const SparseMatrix A = grid_laplacian(13, 11, shift);
    for (const FactorisationBackend backend : backends(MatrixKind::indefinite)) {
      SparseFactorisation f;
      ASSERT_TRUE(f.factor(A, {.backend = backend, .kind = MatrixKind::indefinite}).ok());
      const std::optional<Inertia> inertia = f.inertia();
      ASSERT_TRUE(inertia.has_value());
      EXPECT_EQ(inertia->negative, negative_grid_eigenvalues(13, 11, shift))
          << f.backend_name() << " " << shift;
      EXPECT_EQ(inertia->negative + inertia->positive, 13 * 11);
    }
  }
}

TEST(SparseFactorisation, SolvesQuasiDefiniteSystems)
{
  // [H B^T; B -C] with H, C positive definite has an L D L^T for every ordering.
  const int n = 60;
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, 2.0 + i % 3);
    entries.emplace_back(n + i, n + i, -0.5);
    entries.emplace_back(n + i, i, 1.0);
    if (i > 0) entries.emplace_back(n + i, i - 1, -1.0);
  }
  SparseMatrix A(2 * n, 2 * n);
  A.setFromTriplets(entries.begin(), entries.end());
  for (const FactorisationBackend backend : backends(MatrixKind::indefinite)) {
    SparseFactorisation f;
    ASSERT_TRUE(f.factor(A, {.backend = backend, .kind = MatrixKind::indefinite}).ok());
    const VecX b = VecX::LinSpaced(2 * n, 0, 1);
    VecX x = b;
    f.solve(x);
    EXPECT_LE((dense(A) * x - b).norm(), 1e-12 * b.norm());
    EXPECT_EQ(f.inertia()->negative, n);
    EXPECT_THROW(f.solve_half(x), Error);
  }
}

TEST(SparseFactorisation, FailureReportsThePivot)
{
  // Unknown 3 is alone and has a negative diagonal, so every ordering must stop at it.
  SparseMatrix A(6, 6);
  for (int i = 0; i < 6; ++i) A.insert(i, i) = i == 3 ? -1.0 : 2.0;
  A.makeCompressed();
  for (const FactorisationBackend backend : backends(MatrixKind::positive_definite)) {
    SparseFactorisation f;
    const FactorisationResult r = f.factor(A, {.backend = backend});
    EXPECT_EQ(r.status, FactorisationStatus::not_positive_definite) << to_string(backend);
    EXPECT_EQ(r.pivot, 3) << to_string(backend);
    VecX x = VecX::Ones(6);
    EXPECT_THROW(f.solve(x), Error);
    EXPECT_FALSE(f.inertia().has_value());
    // The same object works again with a valid matrix.
    SparseMatrix good = A;
    good.coeffRef(3, 3) = 2.0;
    ASSERT_TRUE(f.refactor(good).ok());
    f.solve(x);
    EXPECT_LE((x - VecX::Constant(6, 0.5)).norm(), 1e-15);
  }
}

TEST(SparseFactorisation, FindsAMatrixThatIsSingularUpToRounding)
{
  // A path of springs fixed nowhere: constants are in the kernel. Stiffnesses without exact binary fractions.
  const int n = 50;
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i + 1 < n; ++i) {
    const double k = 0.1 * (1 + i % 7);
    entries.emplace_back(i, i, k);
    entries.emplace_back(i + 1, i + 1, k);
    entries.emplace_back(i + 1, i, -k);
  }
  SparseMatrix A(n, n);
  A.setFromTriplets(entries.begin(), entries.end());
  for (const MatrixKind kind : {MatrixKind::positive_definite, MatrixKind::indefinite}) {
    for (const FactorisationBackend backend : backends(kind)) {
      SparseFactorisation f;
      const FactorisationResult r = f.factor(A, {.backend = backend, .kind = kind});
      EXPECT_EQ(r.status, kind == MatrixKind::indefinite ? FactorisationStatus::singular
                                                         : FactorisationStatus::not_positive_definite);
      EXPECT_GE(r.pivot, 0);
    }
  }
}

TEST(SparseFactorisation, BackendsAgreeOnALargerGridAndReportTheirCost)
{
  const SparseMatrix A = grid_laplacian(70, 60, 0.01);
  const VecX b = VecX::LinSpaced(A.rows(), -1, 1);
  VecX first;
  for (const FactorisationBackend backend : backends(MatrixKind::positive_definite)) {
    SparseFactorisation f;
    const FactorisationResult r = f.factor(A, {.backend = backend});
    ASSERT_TRUE(r.ok());
    EXPECT_GE(r.factor_entries, static_cast<double>(A.nonZeros()));
    EXPECT_GE(r.flops, r.factor_entries);
    EXPECT_GE(r.memory, 8 * r.factor_entries);
    VecX x = b;
    f.solve(x);
    if (first.size() == 0) first = x;
    EXPECT_LE((x - first).norm(), 1e-11 * first.norm());
  }
}

// The seven-point Laplacian on a cube of n^3 unknowns, shifted.
SparseMatrix cube_laplacian(int n, double shift)
{
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < n * n * n; ++i) {
    entries.emplace_back(i, i, 6 + shift);
    if (i % n > 0) entries.emplace_back(i, i - 1, -1);
    if (i / n % n > 0) entries.emplace_back(i, i - n, -1);
    if (i / (n * n) > 0) entries.emplace_back(i, i - n * n, -1);
  }
  SparseMatrix A(n * n * n, n * n * n);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

TEST(SparseFactorisation, SmallAndLargeSupernodalFactorsAgree)
{
  if (!has_backend(FactorisationBackend::cholmod_supernodal)) GTEST_SKIP() << "built without CHOLMOD";
  // Small factors are filled by our own kernels, large ones by CHOLMOD; these cubes are far on either side of
  // the limit.
  constexpr double kClearlySmall = 5e7, kClearlyLarge = 5e8;  // operations
  for (const int n : {9, 12, 24}) {
    const SparseMatrix A = cube_laplacian(n, 0.1);
    SparseFactorisation f;
    const FactorisationResult r = f.factor(A, {.backend = FactorisationBackend::cholmod_supernodal});
    ASSERT_TRUE(r.ok());
    EXPECT_TRUE(n == 24 ? r.flops > kClearlyLarge : r.flops < kClearlySmall) << n << ": " << r.flops;
    const VecX b = VecX::LinSpaced(A.rows(), -1, 1);
    VecX x = b;
    f.solve(x);
    EXPECT_LE((A.selfadjointView<Eigen::Lower>() * x - b).norm(), 1e-13 * b.norm()) << n;

    // A pivot that the couplings make negative stops both, and the same object works again afterwards.
    SparseMatrix bad = A;
    bad.coeffRef(A.rows() / 2, A.rows() / 2) = 0.01;
    EXPECT_EQ(f.refactor(bad).status, FactorisationStatus::not_positive_definite) << n;
    ASSERT_TRUE(f.refactor(A).ok());
    VecX again = b;
    f.solve(again);
    EXPECT_EQ(again, x) << n;
  }
}

// A matrix that is not needed again has the same factor, and is gone before its numbers are allocated.
TEST(SparseFactorisation, FactorsAMatrixThatItFrees)
{
  for (const FactorisationBackend backend : backends(MatrixKind::positive_definite)) {
    for (const int n : {4, 9, 24}) {
      const SparseMatrix A = cube_laplacian(n, 0.1);
      SparseFactorisation kept, once;
      ASSERT_TRUE(kept.factor(A, {.backend = backend}).ok());
      SparseMatrix used = A;
      ASSERT_TRUE(once.factor_once(std::move(used), {.backend = backend}).ok());
      const bool is_freed = once.backend_name() == "cholmod_supernodal" && n == 24;
      EXPECT_EQ(used.size() == 0, is_freed) << to_string(backend) << ", " << n;
      VecX x = VecX::LinSpaced(A.rows(), -1, 1);
      VecX y = x;
      kept.solve(x);
      once.solve(y);
      EXPECT_EQ(x, y) << to_string(backend) << ", " << n;
      // Its pattern was not kept.
      EXPECT_THROW(static_cast<void>(once.refactor(A)), Error);

      SparseMatrix bad = A;
      bad.coeffRef(A.rows() / 2, A.rows() / 2) = 0.01;
      EXPECT_EQ(once.factor_once(std::move(bad), {.backend = backend}).status,
                FactorisationStatus::not_positive_definite)
          << to_string(backend) << ", " << n;
    }
  }
}

TEST(SparseFactorisation, GivenOrderIsUsed)
{
  const SparseMatrix A = grid_laplacian(5, 4, 1);
  std::vector<int> order(20);
  for (int k = 0; k < 20; ++k) order[static_cast<std::size_t>(k)] = 19 - k;
  SparseFactorisation f;
  ASSERT_TRUE(f.factor(A, {.backend = FactorisationBackend::eigen_ldlt,
                           .ordering = FillOrdering::given,
                           .permutation = order})
                  .ok());
  EXPECT_EQ(f.permutation(), order);
  order[4] = 7;
  for (const FactorisationBackend backend : backends(MatrixKind::positive_definite)) {
    EXPECT_THROW(static_cast<void>(f.factor(
                     A, {.backend = backend, .ordering = FillOrdering::given, .permutation = order})),
                 Error);
  }
}

TEST(SparseFactorisation, RejectsInvalidMatrices)
{
  SparseFactorisation f;
  EXPECT_THROW(static_cast<void>(f.factor(SparseMatrix(3, 4))), Error);
  SparseMatrix A = grid_laplacian(3, 3, 0);
  A.valuePtr()[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(f.factor(A)), Error);
  EXPECT_THROW(static_cast<void>(f.refactor(A)), Error);
  ASSERT_TRUE(f.factor(grid_laplacian(3, 3, 0)).ok());
  VecX wrong = VecX::Ones(8);
  EXPECT_THROW(f.solve(wrong), Error);
  SparseFactorisation moved = std::move(f);
  EXPECT_TRUE(moved.has_factor());
  EXPECT_FALSE(f.has_factor());
}

TEST(SparseFactorisation, EmptyAndSingleUnknown)
{
  for (const FactorisationBackend backend : backends(MatrixKind::positive_definite)) {
    SparseFactorisation f;
    ASSERT_TRUE(f.factor(grid_laplacian(1, 1, 0), {.backend = backend}).ok());
    VecX x = VecX::Constant(1, 8.0);
    f.solve(x);
    EXPECT_NEAR(x[0], 2.0, 1e-15);
    SparseMatrix empty(0, 0);
    empty.makeCompressed();
    EXPECT_TRUE(f.factor(empty, {.backend = backend}).ok());
    VecX none(0);
    f.solve(none);
  }
}

TEST(SparseFactorisation, ThreadsSolveAtOnceWithTheSameBits)
{
  const SparseMatrix A = grid_laplacian(60, 50, 0.01);
  SparseFactorisation f;
  ASSERT_TRUE(f.factor(A).ok());
  const VecX b = VecX::LinSpaced(A.rows(), -1, 1);
  VecX expected = b;
  f.solve(expected);
  std::vector<VecX> results(4, b);
  std::vector<std::thread> threads;
  for (VecX& x : results) {
    threads.emplace_back([&f, &x, &A] {
      f.solve(x);
      // A separate factorisation gives the same bits as the shared one.
      SparseFactorisation own;
      if (!own.factor(A).ok()) x.setZero();
      VecX again = VecX::LinSpaced(A.rows(), -1, 1);
      own.solve(again);
      if (again != x) x.setZero();
    });
  }
  for (std::thread& t : threads) t.join();
  for (const VecX& x : results) EXPECT_EQ(x, expected);
}

}  // namespace
}  // namespace thrum::numerics
