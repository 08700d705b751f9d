// SPDX-License-Identifier: MIT
// Regular tetrahedral meshes of shapes whose geometry is exact or known in closed form: boxes, swept planar
// regions, discs, rings and balls. Used for the tests against analytical modes, and for plates and thin
// shells, where a lattice that does not follow the thickness would need far more tetrahedra.
//
// Every shape is centred at the origin, in metres, with positive tetrahedra.
//
// Hexahedra and prisms are cut by pulling their vertex of smallest index: each quadrilateral face gets the
// diagonal that starts at the face's smallest vertex, so that two cells which share a face always agree,
// whatever the block structure. A hexahedron gives 6 tetrahedra, a triangular prism 3.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::tets {

/// How a cell of a regular grid is cut.
enum class BoxSplit {
  six,   ///< 6 congruent tetrahedra around the cell's diagonal; all cells equal, slightly anisotropic
  five,  ///< 5 tetrahedra, mirrored from cell to cell like a chessboard; no preferred direction
};

/// A box of size `size` [m], cells[i] equal cells along axis i. Vertex (i, j, k) has index i + (nx+1) (j +
/// (ny+1) k).
[[nodiscard]] mesh::TetrahedralMesh tetrahedralise_box(const Vec3& size, const std::array<int, 3>& cells,
                                                       BoxSplit split = BoxSplit::six);

/// A planar region cut into triangles, counter-clockwise.
struct PlanarTriangulation {
  std::vector<Vec2> vertices;  ///< [m]
  std::vector<Triangle> triangles;
};

/// `rings` rings of triangles around the centre, 6 n vertices on ring n. Boundary vertices lie on the circle.
[[nodiscard]] PlanarTriangulation triangulate_disc(double radius, int rings);

/// Between two circles: `around` cells along the circle, `across` between inner and outer.
[[nodiscard]] PlanarTriangulation triangulate_annulus(double inner_radius, double outer_radius, int around,
                                                      int across);

/// The region swept along z from -height/2 to +height/2 in `layers` equal layers. Layer n holds a copy of the
/// region's vertices at index n * base.vertices.size().
[[nodiscard]] mesh::TetrahedralMesh tetrahedralise_prism(const PlanarTriangulation& base, double height,
                                                         int layers);

/// A ball: an inflated cube of cells^3 hexahedra in the middle, six blocks of hexahedra from its faces to the
/// sphere. About 24 cells^3 tetrahedra. Boundary vertices lie on the sphere to rounding.
[[nodiscard]] mesh::TetrahedralMesh tetrahedralise_ball(double radius, int cells);

/// Corners of a hexahedron: 0-3 around the bottom counter-clockwise seen from above, 4-7 above them.
using Hexahedron = std::array<Index, 8>;
/// Corners of a triangular prism: 0-2 the bottom counter-clockwise seen from above, 3-5 above them.
using Prism = std::array<Index, 6>;

/// Appends the chessboard split of a cell: a tetrahedron on four alternate corners and a corner piece at each
/// of the other four. Cells that share a face must differ in `mirrored`, so that the diagonals meet.
void append_five(const Hexahedron& cell, bool mirrored, std::vector<Tetrahedron>& out);

/// Cuts cells into tetrahedra by pulling the smallest vertex; neighbours agree on their common face.
[[nodiscard]] std::vector<Tetrahedron> split_hexahedra(std::span<const Hexahedron> cells);
[[nodiscard]] std::vector<Tetrahedron> split_prisms(std::span<const Prism> cells);

/// Maps every vertex by `map` and reorders tetrahedra that the map mirrored: for example bends a box into a
/// shell or a bar into a ring. Throws Error when the map flattens or folds the mesh (some tetrahedra
/// positive, others negative or flat).
void map_vertices(mesh::TetrahedralMesh& mesh, const std::function<Vec3(const Vec3&)>& map);

}  // namespace thrum::tets
