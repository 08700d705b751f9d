// SPDX-License-Identifier: MIT
// The defects of a mesh, in plain words with counts and places, and what it can be used for without repair.
//
//   const MeshReport report = report_mesh(mesh);
//   fmt::print("{}", to_text(report));
#pragma once

#include <string>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// One kind of defect.
struct MeshFinding {
  std::size_t count = 0;
  std::vector<Vec3> places;  ///< of the first few [m]

  [[nodiscard]] bool found() const { return count > 0; }
};

struct MeshReport {
  std::size_t vertices = 0;
  std::size_t triangles = 0;
  std::size_t components = 0;  ///< triangles joined by common edges
  Box3 box;                    ///< [m]
  double area = 0;             ///< [m^2]
  double volume = 0;           ///< [m^3]; meaningful only when watertight

  MeshFinding open_edges;             ///< edges of one triangle; places are their middles
  std::size_t boundary_loops = 0;     ///< chains of open edges: holes and rims
  MeshFinding non_manifold_edges;     ///< edges of three triangles or more
  MeshFinding non_manifold_vertices;  ///< vertices where two or more fans of triangles meet at a point
  MeshFinding inconsistent_edges;     ///< both triangles run the same way along it
  MeshFinding repeated_corners;       ///< triangles with a vertex twice
  MeshFinding flat_triangles;         ///< slivers without height
  MeshFinding duplicate_triangles;    ///< same three corners as another one
  MeshFinding duplicate_vertices;     ///< at the same point as another one: welding would join them
  MeshFinding unused_vertices;
  MeshFinding self_intersections;   ///< pairs of triangles
  MeshFinding inverted_components;  ///< closed components that face the wrong way
  std::size_t cavities = 0;         ///< closed components inside others

  long euler_characteristic = 0;  ///< vertices in use - edges + triangles
  long genus = -1;                ///< handles of all components together; -1 when not watertight
  /// Each edge is passed as often one way as the other: the surface is the boundary of something. Parts of it
  /// may touch along edges of four triangles.
  bool closed = false;
  bool watertight = false;    ///< closed, and each edge has exactly two triangles
  std::string scale_warning;  ///< a sentence when the size is unlikely for metres; else empty

  bool usable_for_mass = false;  ///< exact volume, centre and inertia
  bool usable_for_distance =
      false;  ///< signed distance by the surface itself; else the winding number is needed
  bool usable_for_tetrahedra = false;  ///< may be filled
};

struct MeshReportDesc {
  bool self_intersections = true;  ///< by far the slowest of the checks
  std::size_t places = 5;          ///< maximum number of places kept for each kind
};

/// Throws Error when the mesh has an index out of range or a coordinate that is not finite.
[[nodiscard]] MeshReport report_mesh(const TriangleMesh& mesh, const MeshReportDesc& desc = {});

/// The report of a surface that may be filled with tetrahedra. For any other, throws Error that says what is
/// wrong with the surface of `name` and that there is no interior that could `use` ("be filled").
MeshReport require_closed(const TriangleMesh& surface, const std::string& name, const std::string& use);

/// The report as lines for a terminal or a log.
[[nodiscard]] std::string to_text(const MeshReport& report);

}  // namespace thrum::mesh
