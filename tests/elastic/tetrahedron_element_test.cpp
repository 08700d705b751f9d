// SPDX-License-Identifier: MIT
#include "thrum/elastic/tetrahedron_element.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Eigenvalues>

#include "tests/elastic/fem_fixtures.h"

namespace thrum::elastic {
namespace {

using testing::test_steel;

// Corners and mid-edges of a skew tetrahedron.
std::array<Vec3, 4> skew_corners()
{
  return {Vec3(0.1, -0.2, 0.05), Vec3(1.2, 0.1, -0.1), Vec3(0.3, 0.9, 0.2), Vec3(-0.1, 0.3, 1.1)};
}

std::vector<Vec3> node_positions(ElementKind kind, const std::array<Vec3, 4>& p)
{
  std::vector<Vec3> nodes(p.begin(), p.end());
  if (kind == ElementKind::tet10)
    for (const auto& e : kElementEdges)
      nodes.push_back(0.5 * (p[static_cast<std::size_t>(e[0])] + p[static_cast<std::size_t>(e[1])]));
  return nodes;
}

TetrahedronGeometry geometry_of(const std::array<Vec3, 4>& p)
{
  return tetrahedron_geometry(p[0], p[1], p[2], p[3]);
}

class BothKinds : public ::testing::TestWithParam<ElementKind> {};
INSTANTIATE_TEST_SUITE_P(Elements, BothKinds, ::testing::Values(ElementKind::tet4, ElementKind::tet10),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST(TetrahedronGeometry, GradientsAreThoseOfTheBarycentricCoordinates)
{
  const auto p = skew_corners();
  const TetrahedronGeometry tet = geometry_of(p);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      EXPECT_NEAR(tet.gradients[i].dot(p[j] - p[(j + 1) % 4]),
                  (i == j ? 1.0 : 0.0) - (i == (j + 1) % 4 ? 1.0 : 0.0), 1e-14);
  EXPECT_NEAR(tet.volume, (p[1] - p[0]).dot((p[2] - p[0]).cross(p[3] - p[0])) / 6, 1e-15);
}

TEST_P(BothKinds, StiffnessIsSymmetricWithExactlySixRigidMotions)
{
  const MatX K = element_stiffness(GetParam(), geometry_of(skew_corners()), lame_constants(test_steel()));
  EXPECT_LT((K - K.transpose()).norm(), 1e-14 * K.norm());
  const VecX values = Eigen::SelfAdjointEigenSolver<MatX>(K).eigenvalues();
  EXPECT_LT(values.head(6).cwiseAbs().maxCoeff(), 1e-13 * values.maxCoeff());
  EXPECT_GT(values[6], 1e-4 * values.maxCoeff());
}

// The energy of u = A x + (for TET10) a quadratic field must be the integral of stress times strain, which
// for a quadratic field a 4-point rule integrates exactly (strain is linear, its square quadratic).
TEST_P(BothKinds, StiffnessGivesTheStrainEnergyOfPolynomialFields)
{
  const ElementKind kind = GetParam();
  const auto p = skew_corners();
  const TetrahedronGeometry tet = geometry_of(p);
  const LameConstants lame = lame_constants(test_steel());
  Mat3 A;
  A << 1, 2, -1, 0.5, -2, 3, 1, 1, 0.25;
  const double bend = kind == ElementKind::tet10 ? 0.7 : 0.0;
  const auto field = [&](const Vec3& x) -> Vec3 {
    return A * x + bend * Vec3(x.y() * x.z(), x.x() * x.x(), x.x() * x.y() - x.z() * x.z());
  };
  const auto gradient = [&](const Vec3& x) {
    Mat3 g;
    g << 0, x.z(), x.y(), 2 * x.x(), 0, 0, x.y(), x.x(), -2 * x.z();
    return Mat3(A + bend * g);
  };

  const std::vector<Vec3> nodes = node_positions(kind, p);
  VecX u(3 * static_cast<Eigen::Index>(nodes.size()));
  for (std::size_t n = 0; n < nodes.size(); ++n)
    u.segment<3>(3 * static_cast<Eigen::Index>(n)) = field(nodes[n]);

  constexpr double kNear = 0.5854101966249685;  // (5 + 3 sqrt 5)/20
  constexpr double kFar = 0.1381966011250105;   // (5 - sqrt 5)/20
  double expected = 0;
  for (int q = 0; q < 4; ++q) {
    Vec4 at = Vec4::Constant(kFar);
    at[q] = kNear;
    Vec3 x = Vec3::Zero();
    for (int c = 0; c < 4; ++c) x += at[c] * p[static_cast<std::size_t>(c)];
    const Mat3 g = gradient(x);
    const Mat3 strain = 0.5 * (g + g.transpose());
    const Mat3 stress = lame.lambda * strain.trace() * Mat3::Identity() + 2 * lame.mu * strain;
    expected += tet.volume / 4 * (stress.array() * strain.array()).sum();
    // The interpolated gradient is the field's own.
    const Eigen::Map<const Eigen::Matrix<double, 3, Eigen::Dynamic>> columns(u.data(), 3, u.size() / 3);
    EXPECT_LT((displacement_gradient(kind, tet, at, columns) - g).norm(), 1e-12);
  }
  const MatX K = element_stiffness(kind, tet, lame);
  EXPECT_NEAR(u.dot(K * u), expected, 1e-11 * expected);
}

TEST_P(BothKinds, MassIsPositiveAndGivesTheMomentsOfTheBody)
{
  const ElementKind kind = GetParam();
  const auto p = skew_corners();
  const TetrahedronGeometry tet = geometry_of(p);
  const double density = 2.5;
  const MatX M = element_mass(kind, tet, density);
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatX>(M).eigenvalues().minCoeff(), 0);

  // 1^T M 1 = mass and x^T M x = rho times the integral of x^2 = rho V/20 (sum x_i^2 + (sum x_i)^2).
  const std::vector<Vec3> nodes = node_positions(kind, p);
  VecX one = VecX::Zero(M.rows());
  VecX x = VecX::Zero(M.rows());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    one[3 * static_cast<Eigen::Index>(n)] = 1;
    x[3 * static_cast<Eigen::Index>(n)] = nodes[n].x();
  }
  double squares = 0;
  double sum = 0;
  for (const Vec3& corner : p) {
    squares += corner.x() * corner.x();
    sum += corner.x();
  }
  EXPECT_NEAR(one.dot(M * one), density * tet.volume, 1e-14);
  EXPECT_NEAR(x.dot(M * x), density * tet.volume / 20 * (squares + sum * sum), 1e-14);
}

RC_GTEST_PROP(LameConstants, GiveBackYoungAndPoisson, ())
{
  model::Material m = test_steel();
  m.young = 1e6 * *rc::gen::inRange(1, 1000000);
  m.poisson = 0.001 * *rc::gen::inRange(-900, 490);
  const LameConstants l = lame_constants(m);
  const double young = l.mu * (3 * l.lambda + 2 * l.mu) / (l.lambda + l.mu);
  const double poisson = l.lambda / (2 * (l.lambda + l.mu));
  RC_ASSERT(std::abs(young - m.young) < 1e-12 * m.young);
  RC_ASSERT(std::abs(poisson - m.poisson) < 1e-12);
}

}  // namespace
}  // namespace thrum::elastic
