// SPDX-License-Identifier: MIT
// Stiffness and consistent mass of one straight-sided tetrahedron, in closed form.
//
// With barycentric coordinates L_0..L_3, their constant gradients g_i, and Lame's constants lambda and mu,
// the 3 x 3 block of the stiffness that joins nodes a and b is
//
//     G_ab = integral of grad N_a grad N_b^T,
//     K_ab = lambda G_ab + mu G_ab^T + mu tr(G_ab) I.                                                    (1)
//
// The shape functions are N_a = L_a (TET4); N_a = L_a (2 L_a - 1) at corners and N_pq = 4 L_p L_q at
// mid-edges (TET10). Their gradients are sums of at most two terms (linear in L) g_i, so G_ab is a sum of at
// most four constant multiples of V g_i g_j^T, from
//
//     integral of L_i = V/4,      integral of L_i L_j = V (1 + delta_ij)/20.                              (2)
//
// No quadrature is needed: (1) is exact. The mass is rho m_ab I, with m_ab a constant multiple of V.
#pragma once

#include <array>

#include "thrum/base/vec.h"
#include "thrum/elastic/element_mesh.h"
#include "thrum/model/material.h"

namespace thrum::elastic {

/// Lame's constants [Pa].
struct LameConstants {
  double lambda = 0;
  double mu = 0;
};

[[nodiscard]] LameConstants lame_constants(const model::Material& material);

/// Volume and barycentric gradients of a straight-sided tetrahedron.
struct TetrahedronGeometry {
  double volume = 0;              ///< signed [m^3]
  std::array<Vec3, 4> gradients;  ///< of L_0..L_3 [1/m]
};

[[nodiscard]] TetrahedronGeometry tetrahedron_geometry(const Vec3& p0, const Vec3& p1, const Vec3& p2,
                                                       const Vec3& p3);

/// The same over the inside part of a quadratic element.
void add_gradient_products(const CutElement& cut, const TetrahedronGeometry& tet, int a, int b, double weight,
                           Mat3& sum);

/// Adds weight x the integral of grad N_a grad N_b^T [m], a and b local nodes.
void add_gradient_products(ElementKind kind, const TetrahedronGeometry& tet, int a, int b, double weight,
                           Mat3& sum);

/// The block K_ab of (1) from G_ab [N/m].
[[nodiscard]] Mat3 stiffness_block(const LameConstants& lame, const Mat3& gradient_products);

/// The integral of N_a N_b over a tetrahedron of unit volume.
[[nodiscard]] double unit_mass(ElementKind kind, int a, int b);

/// Whole matrices, 12 x 12 or 30 x 30, three rows per node; the assembly works block by block instead.
[[nodiscard]] MatX element_stiffness(ElementKind kind, const TetrahedronGeometry& tet,
                                     const LameConstants& lame, const CutElement* cut = nullptr);
[[nodiscard]] MatX element_mass(ElementKind kind, const TetrahedronGeometry& tet, double density,
                                const CutElement* cut = nullptr);

/// Gradient of the displacement at the point with barycentric coordinates `at`; `displacements` has one
/// column per node.
[[nodiscard]] Mat3 displacement_gradient(
    ElementKind kind, const TetrahedronGeometry& tet, const Vec4& at,
    const Eigen::Ref<const Eigen::Matrix<double, 3, Eigen::Dynamic>>& displacements);

}  // namespace thrum::elastic
