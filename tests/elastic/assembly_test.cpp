// SPDX-License-Identifier: MIT
#include "thrum/elastic/assembly.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "tests/elastic/fem_fixtures.h"
#include "thrum/base/parallel.h"
#include "thrum/elastic/tetrahedron_element.h"

namespace thrum::elastic {
namespace {

using testing::dense;
using testing::perturbed_box;
using testing::test_steel;

class Assembly : public ::testing::TestWithParam<ElementKind> {
 protected:
  ElementMesh mesh_ = build_element_mesh(perturbed_box(Vec3(0.3, 0.2, 0.1), {3, 2, 2}, 7), GetParam());
  std::vector<model::Material> steel_ = {test_steel()};
};
INSTANTIATE_TEST_SUITE_P(Elements, Assembly, ::testing::Values(ElementKind::tet4, ElementKind::tet10),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

VecX linear_field(const ElementMesh& mesh, const Mat3& A)
{
  VecX u(3 * static_cast<Eigen::Index>(mesh.nodes.size()));
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n)
    u.segment<3>(3 * static_cast<Eigen::Index>(n)) = A * mesh.nodes[n];
  return u;
}

TEST_P(Assembly, EqualsTheSumOfTheElements)
{
  const AssembledSystem system = assemble(mesh_, steel_);
  const auto n = static_cast<Eigen::Index>(3 * mesh_.nodes.size());
  MatX K = MatX::Zero(n, n);
  MatX M = MatX::Zero(n, n);
  for (std::size_t e = 0; e < mesh_.element_count(); ++e) {
    const Index* nodes = mesh_.element(e);
    const auto at = [&](int k) {
      return mesh_.nodes[static_cast<std::size_t>(nodes[k])];
    };
    const TetrahedronGeometry tet = tetrahedron_geometry(at(0), at(1), at(2), at(3));
    const MatX Ke = element_stiffness(mesh_.kind, tet, lame_constants(steel_[0]));
    const MatX Me = element_mass(mesh_.kind, tet, steel_[0].density);
    for (int a = 0; a < nodes_of(mesh_.kind); ++a)
      for (int b = 0; b < nodes_of(mesh_.kind); ++b) {
        K.block<3, 3>(3 * nodes[a], 3 * nodes[b]) += Ke.block<3, 3>(3 * a, 3 * b);
        M.block<3, 3>(3 * nodes[a], 3 * nodes[b]) += Me.block<3, 3>(3 * a, 3 * b);
      }
  }
  EXPECT_LT((dense(system.stiffness) - K).norm(), 1e-13 * K.norm());
  EXPECT_LT((dense(system.mass) - M).norm(), 1e-13 * M.norm());
}

TEST_P(Assembly, PassesThePatchTest)
{
  // A linear displacement has constant stress, so there is no force at an inner node, and the energy is
  // volume x stress x strain.
  const AssembledSystem system = assemble(mesh_, steel_);
  Mat3 A;
  A << 1, 2, -1, 0.5, -2, 3, 1, 1, 0.25;
  const VecX u = linear_field(mesh_, A);
  const VecX force = dense(system.stiffness) * u;
  const Vec3 half(0.15, 0.1, 0.05);
  int inner = 0;
  for (std::size_t n = 0; n < mesh_.nodes.size(); ++n) {
    if (((mesh_.nodes[n].cwiseAbs() - half).array() > -1e-9).any()) continue;
    ++inner;
    EXPECT_LT(force.segment<3>(3 * static_cast<Eigen::Index>(n)).norm(), 1e-12 * force.norm())
        << "node " << n;
  }
  EXPECT_GT(inner, 0);
  const LameConstants lame = lame_constants(steel_[0]);
  const Mat3 strain = 0.5 * (A + A.transpose());
  const Mat3 stress = lame.lambda * strain.trace() * Mat3::Identity() + 2 * lame.mu * strain;
  const double energy = 0.3 * 0.2 * 0.1 * (stress.array() * strain.array()).sum();
  EXPECT_NEAR(u.dot(force), energy, 1e-12 * energy);
}

TEST_P(Assembly, HasTheSixRigidMotionsAsNullSpaceAndNothingElse)
{
  const AssembledSystem system = assemble(mesh_, steel_);
  const MatX K = dense(system.stiffness);
  const VecX values = Eigen::SelfAdjointEigenSolver<MatX>(K, Eigen::EigenvaluesOnly).eigenvalues();
  EXPECT_LT(values.head(6).cwiseAbs().maxCoeff(), 1e-12 * values.maxCoeff());
  EXPECT_GT(values[6], 1e-8 * values.maxCoeff());
  const VecX turn = linear_field(mesh_, base::skew(Vec3(0.3, -1, 2)));
  EXPECT_LT((K * turn).norm(), 1e-13 * K.norm() * turn.norm());
}

TEST_P(Assembly, WeighsTheBodyWithItsRegions)
{
  std::vector<model::Material> two = {test_steel(), test_steel()};
  two[1].density = 1000;
  two[1].young = 1e9;
  mesh_.regions.assign(mesh_.element_count(), 0);
  double expected = 0;
  for (std::size_t e = 0; e < mesh_.element_count(); ++e) {
    mesh_.regions[e] = static_cast<Index>(e % 2);
    const Index* n = mesh_.element(e);
    const auto at = [&](int k) {
      return mesh_.nodes[static_cast<std::size_t>(n[k])];
    };
    expected += two[e % 2].density * tetrahedron_geometry(at(0), at(1), at(2), at(3)).volume;
  }
  const AssembledSystem system = assemble(mesh_, two);
  VecX along = VecX::Zero(system.mass.rows());
  for (Eigen::Index i = 1; i < along.size(); i += 3) along[i] = 1;
  EXPECT_NEAR(along.dot(dense(system.mass) * along), expected, 1e-12 * expected);
}

TEST_P(Assembly, OmitsFixedUnknowns)
{
  std::vector<std::array<bool, 3>> held(mesh_.nodes.size(), {false, false, false});
  held[2] = {true, true, true};
  held[5] = {false, false, true};
  const AssembledSystem whole = assemble(mesh_, steel_);
  const AssembledSystem part = assemble(mesh_, steel_, held);
  ASSERT_EQ(part.unknowns.count, whole.unknowns.count - 4);
  const MatX K = dense(whole.stiffness);
  const MatX k = dense(part.stiffness);
  const MatX M = dense(whole.mass);
  const MatX m = dense(part.mass);
  for (std::size_t i = 0; i < part.unknowns.index.size(); ++i)
    for (std::size_t j = 0; j < part.unknowns.index.size(); ++j) {
      const Index a = part.unknowns.index[i];
      const Index b = part.unknowns.index[j];
      if (a == FreeUnknowns::kHeld || b == FreeUnknowns::kHeld) continue;
      ASSERT_EQ(k(a, b), K(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
      ASSERT_EQ(m(a, b), M(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
    }
  const MatX back = expand_to_nodes(part.unknowns, MatX::Ones(part.unknowns.count, 2));
  EXPECT_EQ(back(6, 0), 0);
  EXPECT_EQ(back(17, 1), 0);
  EXPECT_EQ(back.sum(), 2.0 * part.unknowns.count);
}

TEST_P(Assembly, GivesTheSameBitsForEveryNumberOfThreads)
{
  const ElementMesh larger = build_element_mesh(perturbed_box(Vec3(1, 1, 1), {10, 9, 8}, 3), GetParam());
  base::set_thread_count(1);
  const AssembledSystem one = assemble(larger, steel_);
  base::set_thread_count(2);
  const AssembledSystem two = assemble(larger, steel_);
  base::set_thread_count(0);
  ASSERT_EQ(one.stiffness.nonZeros(), two.stiffness.nonZeros());
  for (int k = 0; k < one.stiffness.nonZeros(); ++k) {
    ASSERT_EQ(one.stiffness.valuePtr()[k], two.stiffness.valuePtr()[k]);
    ASSERT_EQ(one.stiffness.innerIndexPtr()[k], two.stiffness.innerIndexPtr()[k]);
  }
}

}  // namespace
}  // namespace thrum::elastic
