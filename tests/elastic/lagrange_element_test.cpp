// SPDX-License-Identifier: MIT
#include "thrum/elastic/lagrange_element.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/elastic/fem_fixtures.h"
#include "thrum/base/random.h"
#include "thrum/elastic/assembly.h"
#include "thrum/elastic/rigid_motions.h"
#include "thrum/shapes/shapes.h"
#include "thrum/tets/cut_cells.h"

namespace thrum::elastic {
namespace {

TEST(LagrangeBasis, IsOneAtItsNodeAndZeroAtTheOthers)
{
  for (const int degree : {3, 4}) {
    const LagrangeBasis& basis = LagrangeBasis::of(degree);
    ASSERT_EQ(basis.node_count(), nodes_of(tetrahedron_of(degree)));
    for (int n = 0; n < basis.node_count(); ++n) {
      const auto& c = basis.nodes()[static_cast<std::size_t>(n)];
      const VecX values = basis.shape(Vec4(c[0], c[1], c[2], c[3]) / degree);
      EXPECT_LT((values - VecX::Unit(basis.node_count(), n)).norm(), 1e-12);
    }
    EXPECT_NEAR(basis.shape(Vec4(0.1, 0.2, 0.3, 0.4)).sum(), 1, 1e-12);
  }
}

// In a thousand copies of a flat element the energy of a unit displacement adds up: it must vanish far below
// the rounding error of one entry.
TEST(LagrangeElement, DisplacementWithoutStrainHasNoEnergyInFlatElements)
{
  base::Random random(11);
  for (int trial = 0; trial < 20; ++trial) {
    std::array<Vec3, 4> p = {Vec3(0, 0, 0), Vec3(0.03, 0, 0), Vec3(0, 0.03, 0), Vec3(0, 0, 1e-3)};
    for (Vec3& v : p) v += Vec3(random.uniform(-0.01, 0.01), random.uniform(-0.01, 0.01), 0);
    const LagrangeElement element(3, tetrahedron_geometry(p[0], p[1], p[2], p[3]), {});
    Vec3 sum = Vec3::Zero();
    double largest = 0;
    for (int a = 0; a < 20; ++a)
      for (int b = 0; b < 20; ++b) {
        sum += element.gradient_products(a, b).diagonal();
        largest = std::max(largest, element.gradient_products(a, b).diagonal().maxCoeff());
      }
    EXPECT_LT(sum.norm(), 3e-15 * largest);
  }
}

// Energies of a field that each of the elements can represent.
struct Energies {
  double elastic = 0;
  double kinetic = 0;
};

Energies energies(const ElementMesh& mesh, const std::function<Vec3(const Vec3&)>& field)
{
  const AssembledSystem system = assemble(mesh, std::vector{testing::test_steel()});
  VecX x(system.unknowns.count);
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n)
    x.segment<3>(3 * static_cast<Eigen::Index>(n)) = field(mesh.nodes[n]);
  return {x.dot(system.stiffness.selfadjointView<Eigen::Lower>() * x),
          x.dot(system.mass.selfadjointView<Eigen::Lower>() * x)};
}

Vec3 quadratic(const Vec3& p)
{
  return {p.x() * p.y() + 2 * p.z(), p.z() * p.z() - p.x(), p.y() * p.y() + 3 * p.x() * p.z() + 0.1};
}
Vec3 cubic(const Vec3& p)
{
  return quadratic(p) + 5 * Vec3(p.x() * p.y() * p.z(), std::pow(p.x(), 3), p.y() * p.y() * p.z());
}

TEST(LagrangeElement, HasTheEnergiesOfQuadraticElementsInMeshes)
{
  const mesh::TetrahedralMesh mesh = testing::perturbed_box({0.3, 0.2, 0.1}, {2, 2, 2}, 5);
  const Energies expected = energies(build_element_mesh(mesh, ElementKind::tet10), quadratic);
  const Energies of_cubic = energies(build_element_mesh(mesh, ElementKind::tet20), cubic);
  for (const ElementKind kind : {ElementKind::tet20, ElementKind::tet35}) {
    const Energies found = energies(build_element_mesh(mesh, kind), quadratic);
    EXPECT_NEAR(found.elastic, expected.elastic, 1e-9 * expected.elastic);
    EXPECT_NEAR(found.kinetic, expected.kinetic, 1e-9 * expected.kinetic);
    const Energies higher = energies(build_element_mesh(mesh, kind), cubic);
    EXPECT_NEAR(higher.elastic, of_cubic.elastic, 1e-9 * of_cubic.elastic);
    EXPECT_NEAR(higher.kinetic, of_cubic.kinetic, 1e-9 * of_cubic.kinetic);
  }
  // The cubic field in other tetrahedra of the same body.
  const Energies other = energies(
      build_element_mesh(testing::perturbed_box({0.3, 0.2, 0.1}, {3, 1, 2}, 9), ElementKind::tet20), cubic);
  EXPECT_NEAR(other.elastic, of_cubic.elastic, 1e-9 * of_cubic.elastic);
  EXPECT_NEAR(other.kinetic, of_cubic.kinetic, 1e-9 * of_cubic.kinetic);
}

TEST(LagrangeElement, IntegratesTheInsideOfCutCells)
{
  // The same box in cut cells, turned against the lattice or not: kCutStabilisation is what is added outside.
  const Vec3 size(0.3, 0.2, 0.1);
  const mesh::TetrahedralMesh fitted = testing::perturbed_box(size, {2, 2, 2}, 5);
  const Energies expected = energies(build_element_mesh(fitted, ElementKind::tet20), cubic);
  const distance::MeshDistance box(shapes::generate(shapes::BoxDesc{.size = size}));
  for (const int degree : {3, 4}) {
    const tets::CutCells cells(box, {.spacing = 0.09, .degree = degree});
    const Energies found = energies(build_element_mesh(cells), cubic);
    EXPECT_NEAR(found.elastic, expected.elastic, 1e-6 * expected.elastic);
    EXPECT_NEAR(found.kinetic, expected.kinetic, 1e-6 * expected.kinetic);
    const std::vector<std::uint8_t> levels(cells.mesh().tetrahedra.size(), 1);
    const Energies finer = energies(build_element_mesh(*cells.refined(box, levels)), cubic);
    EXPECT_NEAR(finer.elastic, expected.elastic, 1e-6 * expected.elastic);
  }
}

}  // namespace
}  // namespace thrum::elastic
