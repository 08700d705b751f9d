// SPDX-License-Identifier: MIT
#include "thrum/elastic/tetrahedron_element.h"

#include "thrum/base/index.h"

namespace thrum::elastic {

namespace {

// One term (constant + slope L_by) g_along of the gradient of a shape function.
struct GradientTerm {
  int along = 0;
  int by = 0;
  double constant = 0;
  double slope = 0;
};

struct NodeGradient {
  std::array<GradientTerm, 2> terms{};
  int count = 0;
};

constexpr NodeGradient node_gradient(ElementKind kind, int node)
{
  NodeGradient g;
  if (kind == ElementKind::tet4) {
    g.terms[0] = {node, node, 1, 0};
    g.count = 1;
  } else if (node < 4) {
    // grad L (2 L - 1) = (4 L - 1) grad L
    g.terms[0] = {node, node, -1, 4};
    g.count = 1;
  } else {
    // grad 4 L_p L_q = 4 L_q grad L_p + 4 L_p grad L_q
    const auto& edge = kElementEdges[at(node - 4)];
    g.terms[0] = {edge[0], edge[1], 0, 4};
    g.terms[1] = {edge[1], edge[0], 0, 4};
    g.count = 2;
  }
  return g;
}

// A constant multiple of g_i g_j^T in G_ab, for unit volume.
struct ProductTerm {
  int i = 0;
  int j = 0;
  double weight = 0;
};

struct ProductSum {
  std::array<ProductTerm, 4> terms{};
  int count = 0;
};

using ProductTable = std::array<std::array<ProductSum, 10>, 10>;

constexpr ProductTable product_table(ElementKind kind)
{
  ProductTable table{};
  const int nodes = nodes_of(kind);
  for (int a = 0; a < nodes; ++a) {
    for (int b = 0; b < nodes; ++b) {
      ProductSum sum;
      const NodeGradient ga = node_gradient(kind, a);
      const NodeGradient gb = node_gradient(kind, b);
      for (int s = 0; s < ga.count; ++s) {
        for (int t = 0; t < gb.count; ++t) {
          const GradientTerm& x = ga.terms[at(s)];
          const GradientTerm& y = gb.terms[at(t)];
          // Eq. (2) of the header, for (c_x + s_x L_x)(c_y + s_y L_y).
          const double same = x.by == y.by ? 2.0 : 1.0;
          const double weight = x.constant * y.constant + (x.constant * y.slope + x.slope * y.constant) / 4 +
                                x.slope * y.slope * same / 20;
          sum.terms[at(sum.count++)] = {x.along, y.along, weight};
        }
      }
      table[at(a)][at(b)] = sum;
    }
  }
  return table;
}

constexpr ProductTable kLinearProducts = product_table(ElementKind::tet4);
constexpr ProductTable kQuadraticProducts = product_table(ElementKind::tet10);

// 420 x the integral of N_a N_b over a quadratic tetrahedron of unit volume: it depends only on the local
// positions of the nodes.
constexpr double quadratic_mass(int a, int b)
{
  if (a == b) return a < 4 ? 6 : 32;
  if (a < 4 && b < 4) return 1;
  if (a >= 4 && b >= 4) {
    const auto& p = kElementEdges[at(a - 4)];
    const auto& q = kElementEdges[at(b - 4)];
    const bool touching = p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1];
    return touching ? 16 : 8;
  }
  const int corner = a < 4 ? a : b;
  const auto& edge = kElementEdges[at((a < 4 ? b : a) - 4)];
  return corner == edge[0] || corner == edge[1] ? -4 : -6;
}

}  // namespace

LameConstants lame_constants(const model::Material& material)
{
  const double nu = material.poisson;
  return {.lambda = material.young * nu / ((1 + nu) * (1 - 2 * nu)), .mu = material.young / (2 * (1 + nu))};
}

TetrahedronGeometry tetrahedron_geometry(const Vec3& p0, const Vec3& p1, const Vec3& p2, const Vec3& p3)
{
  // Each gradient is the inward area vector of the face opposite to its corner over three volumes.
  const Vec3 a = p1 - p0;
  const Vec3 b = p2 - p0;
  const Vec3 c = p3 - p0;
  const Vec3 bc = b.cross(c);
  const double six_times_volume = a.dot(bc);
  TetrahedronGeometry tet;
  tet.volume = six_times_volume / 6;
  tet.gradients[1] = bc / six_times_volume;
  tet.gradients[2] = c.cross(a) / six_times_volume;
  tet.gradients[3] = a.cross(b) / six_times_volume;
  tet.gradients[0] = -(tet.gradients[1] + tet.gradients[2] + tet.gradients[3]);
  return tet;
}

void add_gradient_products(ElementKind kind, const TetrahedronGeometry& tet, int a, int b, double weight,
                           Mat3& sum)
{
  const ProductTable& table = kind == ElementKind::tet4 ? kLinearProducts : kQuadraticProducts;
  const ProductSum& products = table[at(a)][at(b)];
  for (int k = 0; k < products.count; ++k) {
    const ProductTerm& term = products.terms[at(k)];
    const Vec3 scaled = (weight * tet.volume * term.weight) * tet.gradients[at(term.i)];
    sum.noalias() += scaled * tet.gradients[at(term.j)].transpose();
  }
}

void add_gradient_products(const CutElement& cut, const TetrahedronGeometry& tet, int a, int b, double weight,
                           Mat3& sum)
{
  const NodeGradient ga = node_gradient(ElementKind::tet10, a);
  const NodeGradient gb = node_gradient(ElementKind::tet10, b);
  for (int s = 0; s < ga.count; ++s) {
    for (int t = 0; t < gb.count; ++t) {
      const GradientTerm& x = ga.terms[at(s)];
      const GradientTerm& y = gb.terms[at(t)];
      const auto i = at(x.by);
      const auto j = at(y.by);
      const double integral = x.constant * y.constant * cut.volume + x.constant * y.slope * cut.firsts[j] +
                              x.slope * y.constant * cut.firsts[i] + x.slope * y.slope * cut.seconds[i][j];
      const Vec3 scaled = (weight * tet.volume * integral) * tet.gradients[at(x.along)];
      sum.noalias() += scaled * tet.gradients[at(y.along)].transpose();
    }
  }
}

Mat3 stiffness_block(const LameConstants& lame, const Mat3& gradient_products)
{
  Mat3 block = lame.lambda * gradient_products + lame.mu * gradient_products.transpose();
  block.diagonal().array() += lame.mu * gradient_products.trace();
  return block;
}

double unit_mass(ElementKind kind, int a, int b)
{
  if (kind == ElementKind::tet4) return a == b ? 2.0 / 20 : 1.0 / 20;
  return quadratic_mass(a, b) / 420;
}

MatX element_stiffness(ElementKind kind, const TetrahedronGeometry& tet, const LameConstants& lame,
                       const CutElement* cut)
{
  const int nodes = nodes_of(kind);
  MatX matrix(3 * nodes, 3 * nodes);
  for (int a = 0; a < nodes; ++a) {
    for (int b = 0; b < nodes; ++b) {
      Mat3 products = Mat3::Zero();
      if (cut != nullptr)
        add_gradient_products(*cut, tet, a, b, 1.0, products);
      else
        add_gradient_products(kind, tet, a, b, 1.0, products);
      matrix.block<3, 3>(3 * a, 3 * b) = stiffness_block(lame, products);
    }
  }
  return matrix;
}

MatX element_mass(ElementKind kind, const TetrahedronGeometry& tet, double density, const CutElement* cut)
{
  const int nodes = nodes_of(kind);
  MatX matrix = MatX::Zero(3 * nodes, 3 * nodes);
  for (int a = 0; a < nodes; ++a)
    for (int b = 0; b < nodes; ++b) {
      const double mass = cut != nullptr ? cut->masses[at(a)][at(b)] : unit_mass(kind, a, b);
      matrix.block<3, 3>(3 * a, 3 * b).diagonal().setConstant(density * tet.volume * mass);
    }
  return matrix;
}

Mat3 displacement_gradient(ElementKind kind, const TetrahedronGeometry& tet, const Vec4& at,
                           const Eigen::Ref<const Eigen::Matrix<double, 3, Eigen::Dynamic>>& displacements)
{
  Mat3 gradient = Mat3::Zero();
  for (int a = 0; a < nodes_of(kind); ++a) {
    const NodeGradient g = node_gradient(kind, a);
    Vec3 direction = Vec3::Zero();
    for (int k = 0; k < g.count; ++k) {
      const GradientTerm& term = g.terms[static_cast<std::size_t>(k)];
      direction +=
          (term.constant + term.slope * at[term.by]) * tet.gradients[static_cast<std::size_t>(term.along)];
    }
    gradient += displacements.col(a) * direction.transpose();
  }
  return gradient;
}

}  // namespace thrum::elastic
