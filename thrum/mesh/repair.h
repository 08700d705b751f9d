// SPDX-License-Identifier: MIT
// Makes a mesh from a file usable, and reports every change.
//
//   const RepairResult fixed = repair_mesh(read_mesh("cup.obj"));
//   for (const std::string& line : fixed.report.lines) fmt::print("{}\n", line);
//
// In this order: weld vertices, drop triangles with a repeated corner, flip the long edge of flat triangles,
// drop duplicates, split edges where parts touch, orient consistently and outwards per component, drop unused
// vertices. Holes are filled only by fill_holes(), crossings are not resolved; mesh_report.h reports both.
// docs/methods/mesh_repair.md explains the choices.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// Vertices closer than this are merged, relative to the diagonal of the bounding box: a hundred times the
/// rounding of 32-bit floats, and a tenth of a micrometre for an object of 10 cm.
inline constexpr double kWeldTolerance = 1e-6;

struct RepairDesc {
  bool weld = true;
  double weld_tolerance =
      kWeldTolerance;  ///< relative to the diagonal of the bounding box; 0: equal points only
  bool drop_degenerate = true;
  bool drop_duplicates = true;
  bool split_edges = true;  ///< of four triangles or more, by adding vertices at the same points
  bool orient = true;
  bool drop_unused_vertices = true;
};

/// What was changed, in numbers and in words.
struct RepairReport {
  std::size_t welded_vertices = 0;          ///< joined to another one
  double max_weld_distance = 0;             ///< how far a vertex moved [m]
  std::size_t degenerate_triangles = 0;     ///< dropped: a repeated corner
  std::size_t flipped_slivers = 0;          ///< flat triangles whose longest edge was flipped
  std::size_t kept_slivers = 0;             ///< flat triangles that could not be flipped
  std::size_t duplicate_triangles = 0;      ///< dropped: the same three corners as one that stays
  std::size_t opposed_pairs = 0;            ///< dropped, both: the same corners, facing opposite ways
  std::size_t split_edges = 0;              ///< where parts touched, now of two triangles each
  std::size_t kept_edges = 0;               ///< of three triangles or more that could not be split
  std::size_t flipped_triangles = 0;        ///< flipped, alone or with their component
  std::size_t flipped_components = 0;       ///< flipped as a whole
  std::size_t cavities = 0;                 ///< closed components inside another one, facing into their void
  std::size_t unorientable_components = 0;  ///< one-sided, such as a Moebius strip
  std::size_t unused_vertices = 0;          ///< dropped
  std::vector<std::string>
      lines;  ///< one sentence for each of these that happened; empty: nothing was changed or left unrepaired

  [[nodiscard]] bool changed() const;
};

struct RepairResult {
  TriangleMesh mesh;
  RepairReport report;
  std::vector<Index> source_triangles;  ///< per triangle, its triangle in the given mesh
};

/// Throws Error when the mesh has an index out of range or a coordinate that is not finite.
[[nodiscard]] RepairResult repair_mesh(const TriangleMesh& mesh, const RepairDesc& desc = {});

struct FillHolesResult {
  std::size_t filled = 0;  ///< holes
  std::size_t new_triangles = 0;
  std::size_t kept = 0;            ///< borders that are not simple loops, left open
  std::vector<std::string> lines;  ///< one sentence for each hole that was filled or left, largest first
};

/// Each loop of edges with one triangle is closed by triangles to a new vertex at its middle, or by one
/// triangle where it has three edges. The vertices of the mesh stay as they are. Expects neighbours to face
/// the same way, as after repair_mesh(). The caps are flat fans: good for small holes, rough for the mouth
/// of a vessel.
FillHolesResult fill_holes(TriangleMesh& mesh);

}  // namespace thrum::mesh
