// SPDX-License-Identifier: MIT
#include "thrum/numerics/complementarity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <random>

#include "thrum/base/error.h"

namespace thrum::numerics {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double uniform(std::mt19937& random)
{
  return static_cast<double>(random() % 20001) / 10000 - 1;
}

// J W J^T with a small diagonal, as for contacts with compliance.
MatX random_matrix(Index n, Index bodies, std::mt19937& random)
{
  MatX J(n, bodies);
  for (Eigen::Index k = 0; k < J.size(); ++k) J.data()[k] = uniform(random);
  MatX A = J * J.transpose();
  A.diagonal().array() += 0.05 * static_cast<double>(n);
  return A;
}

VecX random_vector(Index n, std::mt19937& random)
{
  VecX v(n);
  for (double& value : v) value = uniform(random);
  return v;
}

// Each row is of one kind: a contact, a joint without bounds, a motor, a fixed value.
ComplementarityBounds random_bounds(Index n, std::mt19937& random)
{
  ComplementarityBounds bounds{VecX::Zero(n), VecX::Zero(n)};
  for (Index i = 0; i < n; ++i) {
    switch (random() % 5) {
      case 0:
        bounds.lo[i] = -kInfinity, bounds.hi[i] = kInfinity;
        break;
      case 1:
        bounds.lo[i] = -0.1, bounds.hi[i] = 0.15;
        break;
      case 2:
        bounds.lo[i] = bounds.hi[i] = 0.02;
        break;
      default:
        bounds.hi[i] = kInfinity;
        break;
    }
  }
  return bounds;
}

// The conditions themselves, not the residual of the library.
void expect_conditions(const MatX& A, const VecX& b, const VecX& lo, const VecX& hi, const VecX& x,
                       double slack)
{
  const VecX w = A * x - b;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    RC_ASSERT(x[i] >= lo[i]);
    RC_ASSERT(x[i] <= hi[i]);
    if (lo[i] == hi[i]) continue;
    if (x[i] > lo[i] + slack) RC_ASSERT(w[i] <= slack);
    if (x[i] < hi[i] - slack) RC_ASSERT(w[i] >= -slack);
  }
}

RC_GTEST_PROP(Complementarity, BothSolversMeetTheConditionsAndAgree, ())
{
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  const Index n = *rc::gen::inRange<Index>(1, 40);
  const MatX A = random_matrix(n, n, random);
  const VecX b = random_vector(n, random);
  const ComplementarityBounds bounds = random_bounds(n, random);
  const ComplementarityResult pivoted = solve_by_pivoting(A, b, bounds);
  RC_ASSERT(pivoted.ok());
  expect_conditions(A, b, bounds.lo, bounds.hi, pivoted.x, 1e-9);
  const ComplementarityResult swept =
      solve_by_sweeps(A, b, bounds, {}, {.iterations = 20000, .tolerance = 1e-11});
  RC_ASSERT(swept.ok());
  RC_ASSERT((swept.x - pivoted.x).norm() <= 1e-7 * (1 + pivoted.x.norm()));
  RC_ASSERT(complementarity_residual(A, b, bounds, pivoted.x) <= 1e-9);
}

RC_GTEST_PROP(Complementarity, RowsGivenByFunctionsSweepLikeTheMatrix, ())
{
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  const Index n = *rc::gen::inRange<Index>(1, 25);
  const Index bodies = 8;
  MatX J(n, bodies);
  for (Eigen::Index k = 0; k < J.size(); ++k) J.data()[k] = uniform(random);
  const double compliance = 0.3;
  const MatX A = J * J.transpose() + compliance * MatX::Identity(n, n);
  const VecX b = random_vector(n, random);
  const ComplementarityBounds bounds = random_bounds(n, random);
  // Velocities v = J^T x are kept up to date instead of A.
  VecX x = VecX::Zero(n);
  VecX v = VecX::Zero(bodies);
  const ComplementarityRows rows{A.diagonal(), [&](Index i) { return J.row(i).dot(v) + compliance * x[i]; },
                                 [&](Index i, double change) {
                                   x[i] += change;
                                   v += change * J.row(i).transpose();
                                 }};
  const SweepDesc desc{.iterations = 50, .tolerance = 0};
  const ComplementarityResult by_rows = solve_by_sweeps(rows, b, bounds, VecX::Zero(n), desc);
  const ComplementarityResult by_matrix = solve_by_sweeps(A, b, bounds, {}, desc);
  RC_ASSERT((by_rows.x - by_matrix.x).norm() <= 1e-10 * (1 + by_matrix.x.norm()));
}

TEST(Complementarity, WithoutBoundsItIsALinearSystem)
{
  std::mt19937 random(3);
  const MatX A = random_matrix(30, 30, random);
  const VecX b = random_vector(30, random);
  const ComplementarityBounds none{VecX::Constant(30, -kInfinity), VecX::Constant(30, kInfinity)};
  const ComplementarityResult result = solve_by_pivoting(A, b, none);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.iterations, 1);
  EXPECT_LE((A * result.x - b).norm(), 1e-12 * b.norm());
}

TEST(Complementarity, SolvesDegenerateRowsAtTheirBoundWithoutForce)
{
  // b = A x0 with x0 on its bounds: x0 is the solution and w is zero everywhere.
  std::mt19937 random(5);
  const Index n = 20;
  const MatX A = random_matrix(n, n, random);
  VecX x0 = random_vector(n, random).cwiseMax(0);
  const ComplementarityBounds bounds{VecX::Zero(n), VecX::Constant(n, kInfinity)};
  const VecX b = A * x0;
  const ComplementarityResult pivoted = solve_by_pivoting(A, b, bounds);
  const ComplementarityResult swept =
      solve_by_sweeps(A, b, bounds, {}, {.iterations = 20000, .tolerance = 1e-12});
  ASSERT_TRUE(pivoted.ok());
  ASSERT_TRUE(swept.ok());
  EXPECT_LE((pivoted.x - x0).norm(), 1e-9);
  EXPECT_LE((swept.x - x0).norm(), 1e-7);
}

TEST(Complementarity, RedundantContactsHaveTheRightSum)
{
  // Four equal contacts carry one body of weight 1: A is all ones, of rank 1, and only the sum is determined.
  const MatX A = MatX::Ones(4, 4);
  const VecX b = VecX::Ones(4);
  const ComplementarityBounds bounds{VecX::Zero(4), VecX::Constant(4, kInfinity)};
  for (const ComplementarityResult& result :
       {solve_by_pivoting(A, b, bounds), solve_by_sweeps(A, b, bounds)}) {
    ASSERT_TRUE(result.ok()) << result.residual;
    EXPECT_NEAR(result.x.sum(), 1, 1e-8);
    EXPECT_GE(result.x.minCoeff(), 0);
  }
}

TEST(Complementarity, BlockOnAnInclineSticksOrSlides)
{
  // One contact, unit mass: the right-hand side of the normal row is cos(a), of the friction row -sin(a); it
  // sticks when tan(a) <= mu.
  const MatX A = MatX::Identity(2, 2);
  for (const double angle : {0.2, 0.5, 0.9}) {
    const VecX b = Eigen::Vector2d(std::cos(angle), -std::sin(angle));
    ComplementarityBounds bounds{VecX::Zero(2), VecX::Constant(2, kInfinity)};
    bounds.normal_row.assign(2, -1);
    bounds.normal_row[1] = 0;
    bounds.friction = Eigen::Vector2d(0, 0.6);
    const double expected = -std::min(std::sin(angle), 0.6 * std::cos(angle));
    for (const ComplementarityResult& result :
         {solve_by_pivoting(A, b, bounds), solve_by_sweeps(A, b, bounds)}) {
      ASSERT_TRUE(result.ok());
      EXPECT_NEAR(result.x[0], std::cos(angle), 1e-9);
      EXPECT_NEAR(result.x[1], expected, 1e-9);
    }
  }
}

RC_GTEST_PROP(Complementarity, BothSolversAgreeWithBoxFriction, ())
{
  // Three rows per contact: the normal and two tangents, acting on the same bodies.
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  const Index contacts = *rc::gen::inRange<Index>(1, 8);
  const Index n = 3 * contacts;
  MatX A = random_matrix(n, n, random);
  A.diagonal().array() += static_cast<double>(n);  // weak coupling: the box model then has a unique solution
  const VecX b = 5 * random_vector(n, random);
  ComplementarityBounds bounds{VecX::Zero(n), VecX::Constant(n, kInfinity)};
  bounds.normal_row.assign(static_cast<std::size_t>(n), -1);
  bounds.friction = VecX::Zero(n);
  for (Index i = 0; i < n; ++i) {
    if (i % 3 == 0) continue;
    bounds.normal_row[static_cast<std::size_t>(i)] = i - i % 3;
    bounds.friction[i] = 0.3;
  }
  const ComplementarityResult pivoted = solve_by_pivoting(A, b, bounds, {}, {.tolerance = 1e-10});
  const ComplementarityResult swept =
      solve_by_sweeps(A, b, bounds, {}, {.iterations = 20000, .tolerance = 1e-12});
  RC_ASSERT(pivoted.ok());
  RC_ASSERT(swept.ok());
  RC_ASSERT((pivoted.x - swept.x).norm() <= 1e-7 * (1 + swept.x.norm()));
  for (Index i = 0; i < n; ++i)
    if (i % 3 != 0) RC_ASSERT(std::abs(pivoted.x[i]) <= 0.3 * pivoted.x[i - i % 3] + 1e-12);
}

TEST(Complementarity, UnitsOfTheRowsDoNotMatter)
{
  std::mt19937 random(11);
  const Index n = 15;
  const MatX A = random_matrix(n, n, random);
  const VecX b = random_vector(n, random);
  const ComplementarityBounds bounds = random_bounds(n, random);
  VecX s(n);
  for (Index i = 0; i < n; ++i) s[i] = std::pow(10.0, i % 7 - 3);
  // x = S y turns A into S A S, b into S b and the bounds into lo / s.
  const ComplementarityBounds scaled{bounds.lo.cwiseQuotient(s), bounds.hi.cwiseQuotient(s)};
  const ComplementarityResult plain = solve_by_pivoting(A, b, bounds);
  const ComplementarityResult other =
      solve_by_pivoting(s.asDiagonal() * A * s.asDiagonal(), s.cwiseProduct(b), scaled);
  ASSERT_TRUE(plain.ok());
  ASSERT_TRUE(other.ok());
  EXPECT_LE((s.cwiseProduct(other.x) - plain.x).norm(), 1e-10 * plain.x.norm());
}

TEST(Complementarity, AWarmStartSavesIterations)
{
  std::mt19937 random(13);
  const Index n = 60;
  const MatX A = random_matrix(n, n, random);
  const VecX b = random_vector(n, random);
  const ComplementarityBounds bounds{VecX::Zero(n), VecX::Constant(n, kInfinity)};
  const ComplementarityResult cold = solve_by_sweeps(A, b, bounds);
  ASSERT_TRUE(cold.ok());
  const ComplementarityResult warm = solve_by_sweeps(A, b, bounds, cold.x);
  EXPECT_LE(warm.iterations, 2);
  const ComplementarityResult pivoted = solve_by_pivoting(A, b, bounds, cold.x);
  EXPECT_LE(pivoted.iterations, 2);
}

TEST(Complementarity, PivotingHandlesLargeMassRatios)
{
  // A stack: body i rests on body i - 1, the top one 10^5 times as heavy. A is tridiagonal; the force at each
  // contact is the weight above it.
  const Index n = 30;
  VecX mass = VecX::Ones(n);
  mass[n - 1] = 1e5;
  MatX A = MatX::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    A(i, i) = 1 / mass[i] + (i > 0 ? 1 / mass[i - 1] : 0);
    if (i > 0) A(i, i - 1) = A(i - 1, i) = -1 / mass[i - 1];
  }
  VecX b = VecX::Zero(n);
  b[0] = 1;
  const ComplementarityBounds bounds{VecX::Zero(n), VecX::Constant(n, kInfinity)};
  const ComplementarityResult result = solve_by_pivoting(A, b, bounds);
  ASSERT_TRUE(result.ok());
  double above = 0;
  for (Index i = n - 1; i >= 0; --i) {
    above += mass[i];
    EXPECT_NEAR(result.x[i], above, 1e-6 * above);
  }
  // Sweeps do not converge in a thousand iterations, and report that.
  EXPECT_FALSE(solve_by_sweeps(A, b, bounds).ok());
}

TEST(Complementarity, RejectsInvalidInput)
{
  const MatX A = MatX::Identity(2, 2);
  const VecX b = VecX::Ones(2);
  const ComplementarityBounds good{VecX::Zero(2), VecX::Ones(2)};
  EXPECT_THROW(static_cast<void>(solve_by_pivoting(A, VecX::Ones(3), good)), Error);
  EXPECT_THROW(static_cast<void>(solve_by_pivoting(MatX::Zero(2, 2), b, good)), Error);
  EXPECT_THROW(static_cast<void>(solve_by_sweeps(A, b, {VecX::Ones(2), VecX::Zero(2)})), Error);
  EXPECT_THROW(static_cast<void>(solve_by_sweeps(A, b, {VecX::Zero(1), VecX::Ones(1)})), Error);
  ComplementarityBounds friction = good;
  friction.normal_row.assign(2, 0);
  friction.normal_row[0] = 1;
  friction.friction = VecX::Ones(2);
  EXPECT_THROW(static_cast<void>(solve_by_sweeps(A, b, friction)), Error);
  EXPECT_TRUE(solve_by_pivoting(MatX(0, 0), VecX(0), {VecX(0), VecX(0)}).ok());
}

}  // namespace
}  // namespace thrum::numerics
