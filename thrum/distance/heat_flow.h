// SPDX-License-Identifier: MIT
// [Crane13, Algorithm 1] on an intrinsic triangulation. With the lumped mass M, the stiffness L (positive
// semidefinite, cotangent weights) and the time t = factor * h^2,
//
//     (M + t L) u = delta_source                                                        (1)
//     X = -grad u / |grad u|  in each triangle                                          (2)
//     L phi = div X,          (div X)_i = sum over triangles of integral X . grad psi_i (3)
//
// L alone is singular. One vertex of each component is tied to zero by a spring as stiff as its diagonal
// entry: the right-hand side of (3) sums to zero over a component, so the spring carries no load and (3) is
// solved exactly.
#pragma once

#include <string_view>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/distance/heat_geodesics.h"
#include "thrum/distance/intrinsic_triangulation.h"
#include "thrum/distance/surface_laplacian.h"
#include "thrum/numerics/sparse_factorisation.h"

namespace thrum::distance {

class HeatFlow {
 public:
  HeatFlow() = default;

  /// Factors the matrices of (1) and (3). `component` numbers the connected parts by vertex; `mean_edge` is h
  /// [m]; `positions` determine the order of elimination. Throws Error when a matrix cannot be factored.
  HeatFlow(const IntrinsicTriangulation& triangulation, const VertexTriangles& around,
           const std::vector<Index>& component, const std::vector<Vec3>& positions, double mean_edge,
           const HeatGeodesicsDesc& desc);

  /// phi for a heat source at the vertices: the distance, up to a constant in each component [m].
  [[nodiscard]] VecX potential(VecX source) const;

  [[nodiscard]] double length() const { return length_; }  ///< square root of the time [m]
  [[nodiscard]] double factor_entries() const { return factor_entries_; }
  [[nodiscard]] std::string_view backend() const { return insulated_.backend_name(); }

 private:
  // The corners of a triangle in its own plane: a = (0, 0), b = (base, 0), c = (x, y).
  struct Element {
    Index a, b, c;
    double base, x, y;  // [m]
  };
  static std::vector<Element> elements_of(const IntrinsicTriangulation& triangulation);
  [[nodiscard]] VecX heat(VecX source) const;
  [[nodiscard]] VecX divergence_of_directions(const VecX& u) const;

  HeatBoundary boundary_ = HeatBoundary::insulated;
  double length_ = 0;
  double factor_entries_ = 0;
  std::vector<char> is_open_;  // by vertex
  std::vector<Element> elements_;
  numerics::SparseFactorisation insulated_;
  numerics::SparseFactorisation cooled_;  // factored only if heat leaves through open edges
  numerics::SparseFactorisation poisson_;
};

}  // namespace thrum::distance
