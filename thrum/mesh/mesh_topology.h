// SPDX-License-Identifier: MIT
// The connectivity of a triangle mesh: edges with their triangles, and connected components.
#pragma once

#include <span>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// One side of one triangle. `forward`: the triangle runs from low to high.
struct EdgeUse {
  Index low;
  Index high;
  Index triangle;
  bool forward;
};

/// All sides, grouped by edge (low, high), within an edge by triangle. Sides from a vertex to itself are left
/// out.
[[nodiscard]] std::vector<EdgeUse> edge_uses(const TriangleMesh& mesh);

/// Calls `work` with the uses of each edge: one for an open edge, two for a manifold one, or more.
template <class Work>
void for_each_edge(std::span<const EdgeUse> uses, Work&& work)
{
  for (std::size_t i = 0; i < uses.size();) {
    std::size_t end = i + 1;
    while (end < uses.size() && uses[end].low == uses[i].low && uses[end].high == uses[i].high) ++end;
    work(uses.subspan(i, end - i));
    i = end;
  }
}

struct MeshComponents {
  std::vector<Index> of_triangle;  ///< numbered by first appearance
  std::size_t count = 0;
};

/// Triangles joined by common edges.
[[nodiscard]] MeshComponents edge_components(const TriangleMesh& mesh, std::span<const EdgeUse> uses);

/// The triangles of each component, ascending.
[[nodiscard]] std::vector<std::vector<Index>> triangles_by_component(const MeshComponents& components);

/// Whether every edge has two triangles.
[[nodiscard]] bool has_two_triangles_at_every_edge(const TriangleMesh& mesh);

[[nodiscard]] double mean_edge_length(const TriangleMesh& mesh);  ///< over the sides of all triangles [m]

/// Is the triangle degenerate: a repeated corner, or a height below `kFlatHeight` of its longest side?
inline constexpr double kFlatHeight = 1e-9;  ///< relative to the longest side
enum class TriangleKind { valid, repeated_corner, flat };
[[nodiscard]] TriangleKind triangle_kind(const TriangleMesh& mesh, std::size_t triangle);

}  // namespace thrum::mesh
