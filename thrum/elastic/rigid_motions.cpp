// SPDX-License-Identifier: MIT
#include "thrum/elastic/rigid_motions.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/elastic/tetrahedron_element.h"
#include "thrum/elastic/wedge_element.h"

namespace thrum::elastic {

namespace {

// A motion whose component at the fixed unknowns is smaller than this (relative, squared) is possible.
constexpr double kRigidMotionTolerance = 1e-12;
// Directions of the trial space with less than this fraction of the mass are linear combinations of the
// others.
constexpr double kDependenceTolerance = 1e-10;
// The number of elements used for the estimate.
constexpr std::size_t kMaxSampledElements = 2000;

Box3 bounds_of(const ElementMesh& mesh)
{
  Box3 box;
  for (const Vec3& p : mesh.nodes) box.extend(p);
  return box;
}

// Three translations and three rotations at a point, in units of the body's size so that both have similar
// magnitude.
Eigen::Matrix<double, 3, 6> motions_at(const Vec3& r)
{
  Eigen::Matrix<double, 3, 6> m;
  m << Mat3::Identity(), -base::skew(r);
  return m;
}

// The ten quadratic monomials and their gradients.
void monomials(const Vec3& x, Eigen::Matrix<double, 10, 1>& value, Eigen::Matrix<double, 10, 3>& gradient)
{
  value << 1, x.x(), x.y(), x.z(), x.x() * x.x(), x.y() * x.y(), x.z() * x.z(), x.y() * x.z(), x.x() * x.z(),
      x.x() * x.y();
  gradient << 0, 0, 0,  //
      1, 0, 0,          //
      0, 1, 0,          //
      0, 0, 1,          //
      2 * x.x(), 0, 0,  //
      0, 2 * x.y(), 0,  //
      0, 0, 2 * x.z(),  //
      0, x.z(), x.y(),  //
      x.z(), 0, x.x(),  //
      x.y(), x.x(), 0;
}

// Adds the energy and mass of the 30 fields (monomial m along axis a is field 3 m + a) at one point of weight
// `weight`.
void add_point(const Vec3& x, double scale, double weight, const LameConstants& lame, double density,
               MatX& stiffness, MatX& mass)
{
  Eigen::Matrix<double, 10, 1> value;
  Eigen::Matrix<double, 10, 3> gradient;
  monomials(x, value, gradient);
  gradient /= scale;
  for (int m = 0; m < 10; ++m) {
    for (int n = 0; n < 10; ++n) {
      // Eq. (1) of tetrahedron_element.h with the gradients of the monomials.
      const Mat3 products = gradient.row(m).transpose() * gradient.row(n);
      stiffness.block<3, 3>(3 * m, 3 * n) += weight * stiffness_block(lame, products);
      mass.block<3, 3>(3 * m, 3 * n).diagonal().array() += weight * density * value[m] * value[n];
    }
  }
}

// Adds the energy and mass of the 30 fields in a cut element or a wedge, which represent them exactly: a
// tetrahedron of any degree as the quadratic one.
void add_quadratic_element(const ElementMesh& mesh, std::size_t e, const model::Material& material,
                           const Box3& box, double size, MatX& stiffness, MatX& mass)
{
  const Index* n = mesh.element(e);
  const auto node = [&](int k) -> const Vec3& {
    return mesh.nodes[at(n[k])];
  };
  const bool is_wedge = mesh.kind == ElementKind::wedge15;
  std::vector<Vec3> points;
  for (int k = 0; k < (is_wedge ? 15 : 4); ++k) points.push_back(node(k));
  if (!is_wedge)
    for (const auto& edge : kElementEdges) points.push_back(0.5 * (node(edge[0]) + node(edge[1])));
  MatX fields = MatX::Zero(3 * static_cast<Eigen::Index>(points.size()), 30);
  Eigen::Matrix<double, 10, 1> value;
  Eigen::Matrix<double, 10, 3> gradient;
  for (std::size_t k = 0; k < points.size(); ++k) {
    monomials((points[k] - box.center()) / size, value, gradient);
    for (int m = 0; m < 10; ++m)
      for (int axis = 0; axis < 3; ++axis)
        fields(3 * static_cast<Eigen::Index>(k) + axis, 3 * m + axis) = value[m];
  }
  if (is_wedge) {
    const WedgeElement wedge(std::array<Vec3, 6>{node(0), node(1), node(2), node(3), node(4), node(5)});
    stiffness += fields.transpose() * wedge.stiffness_matrix(lame_constants(material)) * fields;
    mass += fields.transpose() * wedge.mass_matrix(material.density) * fields;
    return;
  }
  const TetrahedronGeometry tet = tetrahedron_geometry(node(0), node(1), node(2), node(3));
  const CutElement* cut = mesh.cut(e);
  stiffness +=
      fields.transpose() * element_stiffness(ElementKind::tet10, tet, lame_constants(material), cut) * fields;
  mass += fields.transpose() * element_mass(ElementKind::tet10, tet, material.density, cut) * fields;
}

// What springs do to the motions, relative to their whole area.
void add_springs(const ElementMesh& mesh, const Box3& box, double size,
                 Eigen::Matrix<double, 6, 6>& forbidden)
{
  double area = 0;
  Eigen::Matrix<double, 6, 6> sum = Eigen::Matrix<double, 6, 6>::Zero();
  for (std::size_t e = 0; e < mesh.springs.size(); ++e) {
    for (const ElementSprings& s : mesh.springs[e]) {
      // Rigid motions are linear, so a row at each node and the integrals between nodes are exact.
      area += s.areas.sum();
      for (int axis = 0; axis < 3; ++axis) {
        if (!s.axes[at(axis)]) continue;
        Eigen::Matrix<double, Eigen::Dynamic, 6> rows(s.areas.rows(), 6);
        for (Eigen::Index a = 0; a < rows.rows(); ++a) {
          const Vec3& p = mesh.nodes[at(mesh.element(e)[a])];
          rows.row(a) = motions_at((p - box.center()) / size).row(axis);
        }
        sum += rows.transpose() * s.areas * rows;
      }
    }
  }
  if (area > 0) forbidden += sum / area;
}

}  // namespace

MatX rigid_motions(const ElementMesh& mesh, const FreeUnknowns& unknowns)
{
  const Box3 box = bounds_of(mesh);
  const double size = 0.5 * box.sizes().norm();
  // The constraints of the supports: the component of each motion at fixed unknowns.
  Eigen::Matrix<double, 6, 6> forbidden = Eigen::Matrix<double, 6, 6>::Zero();
  MatX motions(unknowns.count, 6);
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n) {
    const Eigen::Matrix<double, 3, 6> rows = motions_at((mesh.nodes[n] - box.center()) / size);
    for (int axis = 0; axis < 3; ++axis) {
      const Index at = unknowns.index[3 * n + static_cast<std::size_t>(axis)];
      if (at == FreeUnknowns::kHeld)
        forbidden += rows.row(axis).transpose() * rows.row(axis);
      else
        motions.row(at) = rows.row(axis);
    }
  }
  add_springs(mesh, box, size, forbidden);
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 6, 6>> solver(forbidden);
  int possible = 0;
  const double largest = std::max(solver.eigenvalues().maxCoeff(), 1.0);
  while (possible < 6 && solver.eigenvalues()[possible] <= kRigidMotionTolerance * largest) ++possible;
  return motions * solver.eigenvectors().leftCols(possible);
}

double estimate_lowest_eigenvalue(const ElementMesh& mesh, std::span<const model::Material> materials)
{
  const Box3 box = bounds_of(mesh);
  const double size = 0.5 * box.sizes().norm();
  MatX stiffness = MatX::Zero(30, 30);
  MatX mass = MatX::Zero(30, 30);
  const std::size_t stride = std::max<std::size_t>(1, mesh.element_count() / kMaxSampledElements);
  for (std::size_t e = 0; e < mesh.element_count(); e += stride) {
    const Index* n = mesh.element(e);
    const auto node = [&](int k) -> const Vec3& {
      return mesh.nodes[at(n[k])];
    };
    const model::Material& material = materials[at(mesh.region(e))];
    if (mesh.cut(e) != nullptr || mesh.kind == ElementKind::wedge15) {
      add_quadratic_element(mesh, e, material, box, size, stiffness, mass);
      continue;
    }
    const double volume = tetrahedron_geometry(node(0), node(1), node(2), node(3)).volume;
    // The four-point rule, exact for the squares of linear strains.
    constexpr double kNear = 0.5854101966249685;
    constexpr double kFar = 0.1381966011250105;
    const Vec3 sum = kFar * (node(0) + node(1) + node(2) + node(3));
    for (int q = 0; q < 4; ++q) {
      const Vec3 x = sum + (kNear - kFar) * node(q);
      add_point((x - box.center()) / size, size, volume / 4, lame_constants(material), material.density,
                stiffness, mass);
    }
  }
  // Work in directions that have mass; the six rigid motions among them have no energy, the next one is the
  // estimate.
  const Eigen::SelfAdjointEigenSolver<MatX> masses(mass);
  int first = 0;
  while (first < 29 && masses.eigenvalues()[first] <= kDependenceTolerance * masses.eigenvalues()[29])
    ++first;
  const MatX basis = masses.eigenvectors().rightCols(30 - first) *
                     masses.eigenvalues().tail(30 - first).cwiseSqrt().cwiseInverse().asDiagonal();
  const VecX values =
      Eigen::SelfAdjointEigenSolver<MatX>(basis.transpose() * stiffness * basis, Eigen::EigenvaluesOnly)
          .eigenvalues();
  return values[std::min<Eigen::Index>(6, values.size() - 1)];
}

}  // namespace thrum::elastic
