// SPDX-License-Identifier: MIT
// Tetrahedra for bodies whose faces all lie along the axes: boxes, slabs, tables with straight legs.
//
// The planes of all faces cut space into blocks, each wholly inside or outside. Blocks are divided into cells
// of at most a given size, which may differ between the axes: a slab needs one or two cells through its
// thickness, where the cubes of isosurface stuffing would have to be as small as the slab is thin. The result
// fills the body exactly, edges and corners included.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/tetrahedral_mesh.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::tets {

inline constexpr double kMaxBlockCells = 1e6;  ///< of the whole grid, outside the body too

/// Cells along a slender part with which it can bend.
inline constexpr double kCellsAlongPart = 3;

/// Whether every face lies along x, y and z.
[[nodiscard]] bool is_rectilinear(const mesh::TriangleMesh& surface);

/// Three perpendicular axes along which every face lies, as columns; none when there are none. They belong to
/// the body (mesh/body_axes.h), so that they turn with it, and are exact where it lies along x, y and z.
[[nodiscard]] std::optional<Mat3> rectilinear_axes(const mesh::TriangleMesh& surface);

/// The surface in other axes (columns): x, y and z of the result are along them.
[[nodiscard]] mesh::TriangleMesh in_axes(mesh::TriangleMesh surface, const Mat3& axes);

/// The grid of a body with its tetrahedra.
class BlockGrid {
 public:
  using Planes = std::array<std::vector<double>, 3>;  ///< places along x, y and z [m]

  /// Further planes, such as the limits of supports, divide the grid too. Throws Error when a face does not
  /// lie along the axes or when there would be more than kMaxBlockCells blocks.
  explicit BlockGrid(const mesh::TriangleMesh& surface, const Planes& further = {});

  /// Divides the blocks into equal cells of at most `max_cell` [m] along x, y and z. Throws Error when a size
  /// is not positive, or there would be more than kMaxBlockCells cells.
  [[nodiscard]] Planes even_lines(const Vec3& max_cell) const;

  /// The same with cells of at most `edge` [m], and along slender parts at least kCellsAlongPart times
  /// `refinement` of them, however short the part is.
  [[nodiscard]] Planes even_lines(double edge, double refinement) const;

  /// Cells that are as small as the parts of the body need, and grow away from those that need small ones
  /// (graded_lines.h). With `scale` 1 a part has one cell across, and kCellsAlongPart along it if it is
  /// slender; with less there are 1/scale times as many. Throws Error as even_lines() does.
  [[nodiscard]] Planes graded_lines(double scale) const;

  /// The thickness of the thickest part, as far as the middles of blocks tell, over that of the thinnest.
  [[nodiscard]] double thickness_ratio() const;

  /// How many tetrahedra fill() would make with these lines.
  [[nodiscard]] double count(const Planes& lines) const;

  /// Five tetrahedra a cell, mirrored from cell to cell (BoxSplit::five).
  [[nodiscard]] const mesh::TetrahedralMesh& fill(Planes lines);

  /// A place in the body: a tetrahedron of the last fill() and barycentric coordinates in it.
  struct Place {
    Index tetrahedron = -1;
    Vec4 at = Vec4::Zero();
  };
  /// The tetrahedron that contains a point of the body, or the one closest to containing it.
  [[nodiscard]] Place find(const Vec3& point) const;

 private:
  using Block = std::array<std::size_t, 3>;
  [[nodiscard]] std::size_t index_of(const Block& block) const;
  // How far the body goes on along an axis from each block inside, as long as `is_same(a, b)` for neighbours.
  template <typename IsSame>
  void measure_runs(std::vector<Vec3>& lengths, const IsSame& is_same) const;
  [[nodiscard]] Planes part_sizes(double across, double along) const;

  Planes planes_;             // ascending
  std::vector<char> inside_;  // of each block, x fastest
  std::vector<Vec3> parts_;   // of each block inside: how long its part is along x, y and z
  double thickest_ = 0;       // of all parts [m]
  Planes lines_;              // those of the last fill()
  std::vector<Index> first_;  // of each cell: its first tetrahedron, or -1
  mesh::TetrahedralMesh mesh_;
};

/// Fills the closed surface once: BlockGrid::fill().
[[nodiscard]] mesh::TetrahedralMesh tetrahedralise_blocks(const mesh::TriangleMesh& surface,
                                                          const Vec3& max_cell);

}  // namespace thrum::tets
