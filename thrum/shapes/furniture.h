// SPDX-License-Identifier: MIT
// Furniture as one closed mesh each: parts joined exactly (boolean.h), then remeshed to a chosen edge length
// (mesh/remesh.h). They stand on z = 0, centred over the origin.
#pragma once

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::shapes {

/// A top on four square legs, with an apron of four boards between the legs under the top, all flush.
struct TableDesc {
  double length = 1.4;            ///< of the top, along x [m]
  double width = 0.8;             ///< of the top, along y [m]
  double height = 0.74;           ///< [m]
  double top_thickness = 0.025;   ///< [m]
  double leg_thickness = 0.06;    ///< [m]
  double overhang = 0.03;         ///< of the top beyond the legs [m]
  double apron_height = 0.08;     ///< 0: none [m]
  double apron_thickness = 0.02;  ///< outer faces flush with the legs [m]
  double edge_length = 0.04;      ///< 0: as few triangles as possible [m]
};

/// Vertical, longitudinal and transverse solid pipes, and planks on one or two levels. One bay with four
/// uprights, or several in a row.
struct ScaffoldDesc {
  int bays = 2;                   ///< along x
  double bay_length = 1.2;        ///< between uprights along x [m]
  double width = 0.8;             ///< between uprights along y [m]
  double height = 1.8;            ///< of the uprights [m]
  double deck_height = 1.5;       ///< of the planks' underside [m]
  double lower_deck_height = 0;   ///< of a second deck below the first; 0: none [m]
  double pipe_radius = 0.024;     ///< [m]
  int pipe_segments = 12;         ///< around a pipe
  int planks = 3;                 ///< side by side across the width
  double plank_thickness = 0.04;  ///< [m]
  double plank_gap = 0.02;        ///< between planks [m]
  double edge_length = 0.05;      ///< 0: as few triangles as possible [m]
};

/// A tall box on a plinth with a door set off by a groove and a handle on two posts.
struct FridgeDesc {
  double width = 0.6;            ///< along x [m]
  double depth = 0.6;            ///< along y; the door faces -y [m]
  double height = 1.7;           ///< [m]
  double plinth_height = 0.05;   ///< set back by the same amount [m]
  double groove = 0.01;          ///< width and depth of the groove between body and door [m]
  double door_thickness = 0.05;  ///< [m]
  double handle_length = 0.4;    ///< [m]
  double edge_length = 0.05;     ///< 0: as few triangles as possible [m]
};

[[nodiscard]] mesh::TriangleMesh make_table(const TableDesc& desc);
[[nodiscard]] mesh::TriangleMesh make_scaffold(const ScaffoldDesc& desc);
[[nodiscard]] mesh::TriangleMesh make_fridge(const FridgeDesc& desc);

}  // namespace thrum::shapes
