// SPDX-License-Identifier: MIT
// What a body looks like to contact. Each shape lives in its own axes; BodyProperties::X_bs puts it into the
// body.
//
// Round shapes have their axis along z. A plane and a height field are solid below. Meshes must be closed
// when they move; a fixed mesh may be open, and then only its front faces push.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::distance {
class SignedDistanceField;
}

namespace thrum::model {

struct Sphere {
  double radius = 0.5;  ///< [m]
};

struct Box {
  Vec3 half = Vec3::Constant(0.5);  ///< half of each edge [m]
};

/// All points within `radius` of the segment from -half_length to +half_length on the z axis.
struct Capsule {
  double radius = 0.5;       ///< [m]
  double half_length = 0.5;  ///< half the distance between the two centres [m]
};

struct Cylinder {
  double radius = 0.5;       ///< [m]
  double half_length = 0.5;  ///< half the height [m]
};

/// A convex polyhedron. Faces are planar polygons, counter-clockwise from outside: face f has the corners
/// face_corners[face_begin[f] .. face_begin[f + 1]).
struct ConvexPolyhedron {
  std::vector<Vec3> vertices;            ///< [m]
  std::vector<std::int32_t> face_begin;  ///< one more than there are faces
  std::vector<std::int32_t> face_corners;
  std::vector<Vec3> face_normals;                       ///< unit, outward
  std::vector<double> face_offsets;                     ///< normal . x of the face's points [m]
  std::vector<std::array<std::int32_t, 2>> edges;       ///< the two corners of each edge
  std::vector<std::array<std::int32_t, 2>> edge_faces;  ///< the two faces that meet in it

  [[nodiscard]] std::size_t face_count() const { return face_normals.size(); }
};

struct ConvexHull {
  std::shared_ptr<const ConvexPolyhedron> polyhedron;
};

/// A triangle mesh, and for moving bodies the distance to it (negative inside) on a grid.
struct Mesh {
  std::shared_ptr<const mesh::TriangleMesh> triangles;
  std::shared_ptr<const distance::SignedDistanceField> distance;  ///< may be empty for a fixed mesh
};

/// The half-space z <= 0. Fixed bodies only.
struct Plane {};

/// Heights over a grid in x and y whose first corner is the origin; solid below. Fixed bodies only.
struct HeightField {
  std::int32_t columns = 0;                            ///< samples along x
  std::int32_t rows = 0;                               ///< samples along y
  double spacing = 1.0;                                ///< between samples [m]
  std::shared_ptr<const std::vector<double>> heights;  ///< heights[row * columns + column] [m]
};

struct Shape;

struct CompoundPart {
  Pose X_sp;  ///< part axes to the compound's axes
  std::shared_ptr<const Shape> shape;
};

/// Several shapes held together. Parts may not be compounds themselves.
struct Compound {
  std::vector<CompoundPart> parts;
};

/// The order of the alternatives, for tables indexed by kind.
enum class ShapeKind : std::uint8_t {
  sphere,
  box,
  capsule,
  cylinder,
  hull,
  mesh,
  compound,
  plane,
  height_field
};
inline constexpr std::size_t kShapeKinds = 9;

struct Shape {
  std::variant<Sphere, Box, Capsule, Cylinder, ConvexHull, Mesh, Compound, Plane, HeightField> geometry;

  [[nodiscard]] ShapeKind kind() const { return static_cast<ShapeKind>(geometry.index()); }
};

}  // namespace thrum::model
