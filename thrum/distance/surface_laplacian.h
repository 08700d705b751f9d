// SPDX-License-Identifier: MIT
// Linear elements on an intrinsic triangulation: stiffness, lumped mass, and an order of elimination for
// both.
#pragma once

#include <span>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/distance/intrinsic_triangulation.h"
#include "thrum/numerics/sparse_factorisation.h"

namespace thrum::distance {

/// The edges 3 t + k that start at each vertex: one for each corner there, so also the triangles around it.
struct VertexTriangles {
  std::vector<Index> start;
  std::vector<Index> edges;
  [[nodiscard]] std::span<const Index> edges_from(Index vertex) const
  {
    const std::size_t v = at(vertex);
    return {edges.data() + start[v], edges.data() + start[v + 1]};
  }
};
[[nodiscard]] VertexTriangles vertex_triangles(const IntrinsicTriangulation& triangulation);

struct SurfaceLaplacian {
  /// L_ij = -(cot a + cot b) / 2 for an edge with opposite angles a and b, rows sum to zero; lower triangle
  /// with every diagonal entry. Positive semidefinite.
  numerics::SparseMatrix stiffness;
  VecX mass;  ///< a third of the area of the triangles around each vertex [m^2]

  // All with the pattern of `stiffness`, and positive definite; a vertex without a triangle is an independent
  // equation.
  /// M + time L, `time` in [m^2], without edges of negative weight.
  [[nodiscard]] numerics::SparseMatrix heat_matrix(double time) const;
  /// The same with the value fixed to zero at the marked vertices.
  [[nodiscard]] numerics::SparseMatrix cooled_heat_matrix(double time, const std::vector<char>& held) const;
  /// L with the first vertex of each component tied to zero by a spring.
  [[nodiscard]] numerics::SparseMatrix pinned_stiffness(const std::vector<Index>& component) const;
};
[[nodiscard]] SurfaceLaplacian surface_laplacian(const IntrinsicTriangulation& triangulation);

/// Nested dissection by coordinates: cut the vertices in two halves across their longest extent, number the
/// halves first and the vertices between them last, and recurse. Element k of the result is eliminated k-th.
[[nodiscard]] std::vector<int> dissection_order(const std::vector<Vec3>& positions,
                                                const IntrinsicTriangulation& triangulation,
                                                const VertexTriangles& around);

}  // namespace thrum::distance
