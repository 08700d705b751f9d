// SPDX-License-Identifier: MIT
// Straight-sided tetrahedra of degree p = 3 and 4 (20 and 35 nodes), whole or cut.
//
// Nodes are at the barycentric coordinates i/p, and N_a is one at node a and zero at the others: corners,
// then p - 1 nodes an edge in the order of kElementEdges, then those of the faces opposite to corners 0 to 3,
// then those within. With N_a = sum of C_am f_m over the monomials f_m = L_1^a L_2^b L_3^c, and the moments
// H_mn = integral of f_m f_n over the inside part,
//
//     M = rho V C H C^T,   G_ab = V sum_jk (D_j H D_k^T)_ab g_j g_k^T,   D_j: coefficients of dN/dL_j     (1)
//
// and the stiffness follows from G as in tetrahedron_element.h. Where all of the element is inside, the
// moments are known in closed form.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/element_mesh.h"
#include "thrum/elastic/tetrahedron_element.h"

namespace thrum::elastic {

class LagrangeBasis {
 public:
  /// Of degree 3 or 4.
  [[nodiscard]] static const LagrangeBasis& of(int degree);

  [[nodiscard]] int degree() const { return degree_; }
  [[nodiscard]] int node_count() const { return static_cast<int>(nodes_.size()); }
  /// p times the barycentric coordinates of each node.
  [[nodiscard]] const std::vector<std::array<int, 4>>& nodes() const { return nodes_; }
  /// The values of all shape functions at barycentric coordinates.
  [[nodiscard]] VecX shape(const Vec4& at) const;
  /// The coefficients C and D_1, D_2, D_3 of eq. (1).
  [[nodiscard]] const MatX& coefficients() const { return coefficients_; }
  [[nodiscard]] const MatX& derivatives(int axis) const
  {
    return derivatives_[static_cast<std::size_t>(axis)];
  }
  /// The matrix H of eq. (1) for monomials up to `degree`.
  [[nodiscard]] static MatX moment_matrix(int degree, std::span<const double> moments);

 private:
  explicit LagrangeBasis(int degree);

  int degree_;
  std::vector<std::array<int, 4>> nodes_;
  MatX coefficients_;
  std::array<MatX, 3> derivatives_;
};

/// The integrals of one element.
class LagrangeElement {
 public:
  LagrangeElement() = default;
  /// `moments` as CutElement::monomials; empty: whole.
  LagrangeElement(int degree, const TetrahedronGeometry& tet, std::span<const double> moments);

  /// The integral of grad N_a grad N_b^T [m].
  [[nodiscard]] Mat3 gradient_products(int a, int b) const
  {
    const auto& g = products_[index(a, b)];
    return a <= b ? g : Mat3(g.transpose());
  }
  /// The integral of N_a N_b [m^3].
  [[nodiscard]] double mass(int a, int b) const { return masses_[index(a, b)]; }

  /// Both for all pairs a <= b, at index(a, b).
  [[nodiscard]] std::span<const Mat3> all_products() const { return products_; }
  [[nodiscard]] std::span<const double> all_masses() const { return masses_; }
  [[nodiscard]] static std::size_t index(int a, int b)
  {
    const int low = std::min(a, b);
    const int high = std::max(a, b);
    return static_cast<std::size_t>(high * (high + 1) / 2 + low);
  }

 private:
  std::vector<Mat3> products_;  // of a <= b
  std::vector<double> masses_;
};

}  // namespace thrum::elastic
