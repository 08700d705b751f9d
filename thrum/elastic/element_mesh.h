// SPDX-License-Identifier: MIT
// The finite-element mesh: straight-sided tetrahedra with 4, 10, 20 or 35 nodes, or wedges with 15
// (wedge_element.h). Tetrahedra of degree two and above may be partly inside the body (tets/cut_cells.h).
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
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/element_kind.h"
#include "thrum/mesh/tetrahedral_mesh.h"
#include "thrum/tets/cut_cells.h"

namespace thrum::elastic {

/// Local corners of the edge that carries node 4 + k.
inline constexpr std::array<std::array<int, 2>, 6> kElementEdges = {
    {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

/// The integrals of a tetrahedron over its part inside the body, for a tetrahedron of unit volume.
struct CutElement {
  double volume = 0;
  std::array<double, 4> firsts{};                   ///< of L_i
  std::array<std::array<double, 4>, 4> seconds{};   ///< of L_i L_j
  std::array<std::array<double, 10>, 10> masses{};  ///< of N_a N_b of the quadratic element
  std::vector<double> monomials;  ///< of monomials (tets/monomial_moments.h); empty for degree two
};

/// Springs that hold a part of the surface, as in penalty methods: integrals of N_a N_b over the part of the
/// surface in one element.
struct ElementSprings {
  std::array<bool, 3> axes{};
  double stiffness = 0;  ///< [N/m^3]
  MatX areas;            ///< [m^2]
};

struct ElementMesh {
  ElementKind kind = ElementKind::tet10;
  std::vector<Vec3> nodes;       ///< [m]
  std::size_t corner_count = 0;  ///< nodes before this one are vertices of the mesh
  /// Nodes follow the corners in this order; for each its edge, face or element, by its corners.
  std::vector<std::array<Index, 2>> edges;    ///< empty for tet4
  std::vector<std::array<Index, 3>> faces;    ///< of nodes within faces
  std::vector<std::array<Index, 4>> insides;  ///< of nodes within elements
  std::vector<Index> connectivity;            ///< nodes_of(kind) entries per element
  std::vector<Index> regions;                 ///< per element; empty: all in region 0
  std::vector<Index> cut_of;                  ///< per element an index into `cuts`, or -1; empty: no cuts
  std::vector<CutElement> cuts;
  std::vector<std::vector<ElementSprings>> springs;  ///< per element; empty: none

  [[nodiscard]] std::size_t element_count() const
  {
    return connectivity.size() / static_cast<std::size_t>(nodes_of(kind));
  }
  [[nodiscard]] const Index* element(std::size_t e) const
  {
    return connectivity.data() + e * static_cast<std::size_t>(nodes_of(kind));
  }
  /// Null when all of the element is inside.
  [[nodiscard]] const CutElement* cut(std::size_t e) const
  {
    return cut_of.empty() || cut_of[e] < 0 ? nullptr : &cuts[static_cast<std::size_t>(cut_of[e])];
  }
  [[nodiscard]] Index region(std::size_t e) const { return regions.empty() ? 0 : regions[e]; }
};

[[nodiscard]] ElementMesh build_element_mesh(const mesh::TetrahedralMesh& mesh, ElementKind kind);

/// Elements of the degree of the cells, with the integrals over their inside parts. An element with little
/// material in it would make the matrices nearly singular, so the outside part has kCutStabilisation of the
/// stiffness and density of the inside.
[[nodiscard]] ElementMesh build_element_mesh(const tets::CutCells& cells);
inline constexpr double kCutStabilisation = 1e-9;

/// The shape functions of a tetrahedron at barycentric coordinates, one for each node.
[[nodiscard]] VecX shape_functions(ElementKind kind, const Vec4& at);

/// The elements around each node: entries [first[n], first[n + 1]) of `elements` and `local`, ordered by
/// element.
struct NodeElements {
  std::vector<Index> first;
  std::vector<Index> elements;
  std::vector<std::uint8_t> local;  ///< which node of that element
};

[[nodiscard]] NodeElements elements_around_nodes(const ElementMesh& mesh);

}  // namespace thrum::elastic
