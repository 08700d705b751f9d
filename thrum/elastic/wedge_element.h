// SPDX-License-Identifier: MIT
// The straight wedge with 15 nodes, for sheets: a triangle with a thickness.
//
//        5           Nodes 0-2 are the corners of the lower triangle, 3-5 those of the upper one, 6-8 the
//       /|\          middles of the lower edges 01 12 20, 9-11 of the upper edges 34 45 53, 12-14 of the
//      3-+-4         upright edges 03 14 25. With triangular coordinates L_i and -1 <= z <= 1,
//      | 2 |
//      |/ \|             N = L_i ((2 L_i - 1)(1 -+ z) - (1 - z^2))/2     corners
//      0---1             N = 2 L_i L_j (1 -+ z)                          middles of lower and upper edges
//                        N = L_i (1 - z^2)                               middles of upright edges
//
// The stiffness is integrated at 3 x 2 points instead of the 6 x 3 that would be exact: the exact one is far
// too stiff in bending where an element is wide compared with its thickness (shear and membrane locking).
// The mass is exact. One element alone has three motions without energy besides the rigid ones, two have one,
// and larger patches have none.
#pragma once

#include <array>
#include <span>

#include "thrum/base/vec.h"
#include "thrum/elastic/tetrahedron_element.h"

namespace thrum::elastic {

class WedgeElement {
 public:
  static constexpr int kNodes = 15;
  static constexpr std::size_t kStiffnessPoints = 6;
  static constexpr std::size_t kMassPoints = 18;

  WedgeElement() = default;
  explicit WedgeElement(std::span<const Vec3, 6> corners);

  /// False when it is folded over or flat.
  [[nodiscard]] bool is_positive() const { return positive_; }
  [[nodiscard]] double volume() const { return volume_; }
  /// The integral of grad N_a grad N_b^T [m].
  [[nodiscard]] Mat3 gradient_products(int a, int b) const;
  /// The integral of N_a N_b [m^3].
  [[nodiscard]] double mass(int a, int b) const;
  /// Three rows per node.
  [[nodiscard]] MatX stiffness_matrix(const LameConstants& lame) const;
  [[nodiscard]] MatX mass_matrix(double density) const;
  /// Adds the integrals of 1, x and x x^T, from the origin given.
  void add_moments(std::span<const Vec3, 6> corners, const Vec3& origin, double& zeroth, Vec3& first,
                   Mat3& second) const;

 private:
  std::array<Eigen::Matrix<double, kNodes, 3>, kStiffnessPoints> gradients_{};
  std::array<double, kStiffnessPoints> weights_{};
  std::array<double, kMassPoints> mass_weights_{};
  double volume_ = 0;
  bool positive_ = true;
};

}  // namespace thrum::elastic
