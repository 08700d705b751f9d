// SPDX-License-Identifier: MIT
#include "thrum/elastic/lagrange_element.h"

#include <Eigen/LU>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/tets/monomial_moments.h"

namespace thrum::elastic {

namespace {

std::vector<std::array<int, 4>> node_list(int p)
{
  std::vector<std::array<int, 4>> nodes;
  for (std::size_t c = 0; c < 4; ++c) {
    nodes.push_back({0, 0, 0, 0});
    nodes.back()[c] = p;
  }
  for (const auto& edge : kElementEdges)
    for (int k = 1; k < p; ++k) {
      nodes.push_back({0, 0, 0, 0});
      nodes.back()[at(edge[0])] = p - k;
      nodes.back()[at(edge[1])] = k;
    }
  // Faces: one node of a cubic element, three of a quartic one, each closest to one of the corners.
  for (std::size_t face = 0; face < 4; ++face)
    for (std::size_t corner = 0; corner < 4; ++corner) {
      if (corner == face) continue;
      nodes.push_back({1, 1, 1, 1});
      nodes.back()[face] = 0;
      if (p == 3) break;
      nodes.back()[corner] = 2;
    }
  if (p == 4) nodes.push_back({1, 1, 1, 1});
  return nodes;
}

}  // namespace

LagrangeBasis::LagrangeBasis(int degree) : degree_(degree), nodes_(node_list(degree))
{
  const auto count = static_cast<Eigen::Index>(nodes_.size());
  THRUM_ASSERT(nodes_.size() == tets::monomial_count(degree));
  MatX values(count, count);  // of monomial m at node a
  std::vector<double> at_node(nodes_.size());
  for (Eigen::Index a = 0; a < count; ++a) {
    const auto& n = nodes_[at(a)];
    tets::evaluate_monomials(degree, Vec3(n[1], n[2], n[3]) / degree, at_node);
    values.row(a) = Eigen::Map<const Eigen::RowVectorXd>(at_node.data(), count);
  }
  // N_a(node b) = delta_ab: C values^T = I. The coefficients are multiples of 1/2 (cubic) or of 1/3
  // (quartic): without the rounding error of the inverse, which is the same in every element, the N_a add up
  // to one.
  constexpr double kCommonDenominator = 6;
  coefficients_ =
      (kCommonDenominator * values.transpose().fullPivLu().inverse()).array().round() / kCommonDenominator;
  const auto lower = static_cast<Eigen::Index>(tets::monomial_count(degree - 1));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    derivatives_[axis] = MatX::Zero(count, lower);
    for (Eigen::Index m = 0; m < count; ++m) {
      tets::Exponents e = tets::monomials()[at(m)];
      if (e[axis] == 0) continue;
      const int factor = e[axis]--;
      derivatives_[axis].col(static_cast<Eigen::Index>(tets::monomial_index(e))) +=
          factor * coefficients_.col(m);
    }
  }
}

const LagrangeBasis& LagrangeBasis::of(int degree)
{
  static const LagrangeBasis kCubic(3);
  static const LagrangeBasis kQuartic(4);
  THRUM_ASSERT(degree == 3 || degree == 4);
  return degree == 3 ? kCubic : kQuartic;
}

VecX LagrangeBasis::shape(const Vec4& at) const
{
  VecX values(coefficients_.cols());
  tets::evaluate_monomials(degree_, at.tail<3>(),
                           std::span(values.data(), static_cast<std::size_t>(values.size())));
  return coefficients_ * values;
}

MatX LagrangeBasis::moment_matrix(int degree, std::span<const double> moments)
{
  const auto count = static_cast<Eigen::Index>(tets::monomial_count(degree));
  MatX matrix(count, count);
  for (Eigen::Index m = 0; m < count; ++m)
    for (Eigen::Index n = m; n < count; ++n) {
      const tets::Exponents& x = tets::monomials()[at(m)];
      const tets::Exponents& y = tets::monomials()[at(n)];
      matrix(m, n) = matrix(n, m) = moments[tets::monomial_index({x[0] + y[0], x[1] + y[1], x[2] + y[2]})];
    }
  return matrix;
}

LagrangeElement::LagrangeElement(int degree, const TetrahedronGeometry& tet, std::span<const double> moments)
{
  const LagrangeBasis& basis = LagrangeBasis::of(degree);
  static const std::vector<double> kWhole = tets::whole_monomial_moments(tets::kMaxMonomialDegree);
  const std::span<const double> of = moments.empty() ? std::span<const double>(kWhole) : moments;
  const MatX low = LagrangeBasis::moment_matrix(degree - 1, of);
  const MatX mass = tet.volume * basis.coefficients() * LagrangeBasis::moment_matrix(degree, of) *
                    basis.coefficients().transpose();
  // Coefficients of the derivatives along x, y and z.
  std::array<MatX, 3> along;
  for (int x = 0; x < 3; ++x)
    along[at(x)] = tet.gradients[1][x] * basis.derivatives(0) + tet.gradients[2][x] * basis.derivatives(1) +
                   tet.gradients[3][x] * basis.derivatives(2);
  std::array<std::array<MatX, 3>, 3> products;
  for (int x = 0; x < 3; ++x) {
    const MatX half = tet.volume * along[at(x)] * low;
    for (int y = 0; y < 3; ++y) products[at(x)][at(y)].noalias() = half * along[at(y)].transpose();
  }
  const int nodes = basis.node_count();
  for (int b = 0; b < nodes; ++b)
    for (int a = 0; a <= b; ++a) {
      Mat3 g;
      for (int x = 0; x < 3; ++x)
        for (int y = 0; y < 3; ++y) g(x, y) = products[at(x)][at(y)](a, b);
      products_.push_back(g);
      masses_.push_back(mass(a, b));
    }
  // The gradients of all N_b add up to nothing. What rounding leaves is the same in all elements of one shape
  // and holds a thin body like springs to the ground.
  for (int a = 0; a < nodes; ++a) {
    Mat3 others = Mat3::Zero();
    for (int b = 0; b < nodes; ++b)
      if (b != a) others += gradient_products(a, b);
    products_[index(a, a)] = -0.5 * (others + others.transpose());
  }
}

}  // namespace thrum::elastic
