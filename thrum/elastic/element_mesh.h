// SPDX-License-Identifier: MIT
// The finite-element mesh: straight-sided tetrahedra with 4 or 10 nodes.
//
//            3
//           /|\            Nodes 0-3 are the corners, 4-9 the middles of the edges 01 02 03 12 13 23:
//          6 | 9           4 on 01, 5 on 02, 6 on 03, 7 on 12, 8 on 13, 9 on 23. Corner c of element e is
//         / 8|  \          the vertex c of tetrahedron e, so the first nodes of the mesh are the vertices of
//        /   |   \         the tetrahedral mesh, and the mid-edge nodes follow, sorted by edge. Edge 02
//       0----|-5--2        is behind edge 13.
//        \   |   /
//         4  |  7
//          \ | /
//            1
//
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::elastic {

enum class ElementKind {
  tet4,   ///< linear: cheap per node, far too stiff in bending
  tet10,  ///< quadratic
};

[[nodiscard]] constexpr int nodes_of(ElementKind kind)
{
  return kind == ElementKind::tet4 ? 4 : 10;
}
[[nodiscard]] constexpr std::string_view name_of(ElementKind kind)
{
  return kind == ElementKind::tet4 ? "tet4" : "tet10";
}

/// Local corners of the edge that carries node 4 + k.
inline constexpr std::array<std::array<int, 2>, 6> kElementEdges = {
    {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

struct ElementMesh {
  ElementKind kind = ElementKind::tet10;
  std::vector<Vec3> nodes;                  ///< [m]
  std::size_t corner_count = 0;             ///< nodes before this one are vertices of the tetrahedral mesh
  std::vector<std::array<Index, 2>> edges;  ///< ends of the edge of node corner_count + k; empty for tet4
  std::vector<Index> connectivity;          ///< nodes_of(kind) entries per element
  std::vector<Index> regions;               ///< per element; empty: all in region 0

  [[nodiscard]] std::size_t element_count() const
  {
    return connectivity.size() / static_cast<std::size_t>(nodes_of(kind));
  }
  [[nodiscard]] const Index* element(std::size_t e) const
  {
    return connectivity.data() + e * static_cast<std::size_t>(nodes_of(kind));
  }
  [[nodiscard]] Index region(std::size_t e) const { return regions.empty() ? 0 : regions[e]; }
};

[[nodiscard]] ElementMesh build_element_mesh(const mesh::TetrahedralMesh& mesh, ElementKind kind);

/// The elements around each node: entries [first[n], first[n + 1]) of `elements` and `local`, ordered by
/// element.
struct NodeElements {
  std::vector<Index> first;
  std::vector<Index> elements;
  std::vector<std::uint8_t> local;  ///< which node of that element
};

[[nodiscard]] NodeElements elements_around_nodes(const ElementMesh& mesh);

}  // namespace thrum::elastic
