// SPDX-License-Identifier: MIT
// Shapes by their dimensions. Every generator returns one closed mesh, facing outwards, with shared vertices.
//
// `edge_length` is the target length of a triangle's edge [m]; counts are rounded, so edges are within about
// a third of it wherever the shape allows. Zero means: as few triangles as a flat shape needs, and
// kDefaultSegments around for a round one. Vertices lie on the true surface, so a round shape loses volume of
// order (edge / radius)^2.
//
// Shapes are centred at the origin; the axis of those of revolution is z. A lathe, an extrusion and a helix
// stay where their outline puts them.
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::shapes {

inline constexpr int kDefaultSegments = 48;  ///< around a round shape when no edge length is given
inline constexpr int kMinSegments = 8;       ///< around, however coarse the edge length

struct BoxDesc {
  Vec3 size = Vec3(1, 1, 1);  ///< [m]
  double rounding = 0;        ///< radius of edges and corners, at most half the smallest dimension [m]
  double edge_length = 0;     ///< [m]
};

enum class SphereGrid {
  icosahedron,  ///< subdivided icosahedron: the most uniform triangles
  cube          ///< subdivided cube: symmetric in the three axes
};

struct SphereDesc {
  double radius = 0.5;     ///< [m]
  double edge_length = 0;  ///< [m]
  SphereGrid grid = SphereGrid::icosahedron;
};

struct CylinderDesc {
  double radius = 0.5;     ///< [m]
  double height = 1;       ///< along z [m]
  double edge_length = 0;  ///< [m]
  int segments = 0;        ///< around; 0: from edge_length
};

struct CapsuleDesc {
  double radius = 0.25;    ///< [m]
  double height = 0.5;     ///< of the cylindrical part; the whole is 2 radius longer [m]
  double edge_length = 0;  ///< [m]
  int segments = 0;        ///< around; 0: from edge_length
};

struct TorusDesc {
  double major_radius = 0.5;   ///< from the axis to the middle of the tube [m]
  double minor_radius = 0.15;  ///< of the tube [m]
  double edge_length = 0;      ///< [m]
  int major_segments = 0;      ///< around the axis; 0: from edge_length. 25 x 10 segments make 500 triangles
  int minor_segments = 0;      ///< around the tube; 0: from edge_length
};

struct ConeDesc {
  double bottom_radius = 0.5;  ///< [m]
  double top_radius = 0;       ///< 0: a point; otherwise a frustum [m]
  double height = 1;           ///< along z [m]
  double edge_length = 0;      ///< [m]
  int segments = 0;            ///< around; 0: from edge_length
};

/// A solid of revolution about z. The profile is a closed outline in the half-plane (r, z), r >= 0, in either
/// orientation. It either stays off the axis (a ring) or has exactly two neighbouring points on it; the last
/// point is joined to the first by a straight line.
struct LatheDesc {
  std::vector<Vec2> profile;  ///< (r, z) [m]
  double edge_length = 0;     ///< 0 with segments > 0: the points of the profile are the rings [m]
  int segments = 0;           ///< around; 0: each ring from edge_length
};

/// A prism over a polygon, holes allowed, from z = 0 to z = height.
struct ExtrusionDesc {
  std::vector<Vec2> outline = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};  ///< simple polygon, either orientation [m]
  std::vector<std::vector<Vec2>> holes;  ///< inside the outline, apart from each other [m]
  double height = 1;                     ///< [m]
  double edge_length = 0;                ///< [m]
};

/// A round pipe along a path, mitred at its bends.
struct TubeDesc {
  std::vector<Vec3> path = {{0, 0, 0}, {0, 0, 1}};  ///< [m]
  bool closed = false;                              ///< the last point is joined to the first
  double radius = 0.02;                             ///< [m]
  double inner_radius = 0;                          ///< 0: solid [m]
  double edge_length = 0;                           ///< [m]
  int segments = 0;                                 ///< around; 0: from edge_length
};

/// An outline swept along a helix about z, its sections in planes through the axis: a spring, a slide, the
/// track of marbles. Points (x, y) of the outline are those outwards from the helix and above it. It begins
/// on the x axis at z = 0 and turns counter-clockwise.
struct HelixDesc {
  std::vector<Vec2> outline = {{-0.01, 0}, {0.01, 0}, {0.01, 0.01}, {-0.01, 0.01}};  ///< [m]
  double radius = 0.1;     ///< from the axis to the origin of the outline [m]
  double pitch = 0.05;     ///< rise in a whole turn; below 0 it falls [m]
  double turns = 1;        ///< may be a part of one
  double edge_length = 0;  ///< [m]
  int segments = 0;        ///< in a whole turn; 0: from edge_length
};

/// A ground with side walls down to a flat bottom. `heights` is row-major, x running fastest.
struct HeightFieldDesc {
  int columns = 2;                             ///< samples in x
  int rows = 2;                                ///< samples in y
  double spacing = 1;                          ///< between samples [m]
  std::vector<double> heights = {1, 1, 1, 1};  ///< [m]
  double bottom = 0;                           ///< below all heights [m]
};

struct ConvexHullDesc {
  std::vector<Vec3> points;  ///< any order; duplicates and coplanar points are fine [m]
};

[[nodiscard]] mesh::TriangleMesh generate(const BoxDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const SphereDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const CylinderDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const CapsuleDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const TorusDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const ConeDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const LatheDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const ExtrusionDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const TubeDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const HelixDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const HeightFieldDesc& desc);
[[nodiscard]] mesh::TriangleMesh generate(const ConvexHullDesc& desc);

}  // namespace thrum::shapes
