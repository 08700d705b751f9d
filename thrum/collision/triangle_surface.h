// SPDX-License-Identifier: MIT
// What contact with a triangle mesh or a height field needs: a hierarchy, which edges stick out, the corners
// and edges it touches with, and for a closed mesh the distance to it on a grid.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "thrum/collision/prepared_shape.h"
#include "thrum/collision/round_surface.h"
#include "thrum/collision/surface_elements.h"
#include "thrum/distance/mesh_distance.h"
#include "thrum/distance/signed_distance_field.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::collision {

class BoyseSurface;

/// What lies beyond an edge of a triangle.
struct EdgeBend {
  double min_cosine =
      -1;             ///< of the angle by which normals at the edge lean from that of the face; 1: a valley
  Index beyond = -1;  ///< the other triangle; -1: none, or more than one
};

struct TriangleSurface final : ShapeAccelerator {
  /// `given` is used as the field when there is one. Otherwise a closed mesh of at most kMaxFieldTriangles
  /// gets its own.
  explicit TriangleSurface(const mesh::TriangleMesh& mesh,
                           std::shared_ptr<const distance::SignedDistanceField> given = nullptr);
  /// A closed mesh that will bend: all its edges can touch, its distance is that to its triangles.
  struct Deformable {
    double thickness = 0;  ///< [m]
  };
  TriangleSurface(const mesh::TriangleMesh& mesh, Deformable deformable);
  /// Sets new vertex positions of a deformable surface.
  void refit(std::span<const Vec3> vertices);
  TriangleSurface(const TriangleSurface&) = delete;
  TriangleSurface& operator=(const TriangleSurface&) = delete;

  distance::MeshDistance distance;  ///< exact; positive in front of an open mesh
  const mesh::Bvh& bvh;             ///< of `distance`
  SurfaceElements elements;
  bool deformable = false;
  std::shared_ptr<const distance::SignedDistanceField> field;  ///< empty for an open or deformable mesh
  std::unique_ptr<const RoundSurface> round;                   ///< of a closed mesh without sharp edges
  double thickness = 0;       ///< twice the largest depth inside; for an open mesh the mean edge [m]
  double min_thickness = 0;   ///< of the thinnest wall, at most `thickness`; 0: not measured [m]
  std::vector<Vec3> normals;  ///< unit, by triangle
  /// Of edge k (from corner k to k + 1) of each triangle.
  std::vector<std::array<EdgeBend, 3>> edge_bends;
  /// Which of `elements.edges()` are the sides of each triangle, -1 for those that are not among them: for
  /// the contacts of z_list.h.
  std::vector<std::array<Index, 3>> edges_of_faces;
  /// For the tests of boyse.h, as the surface is now: of a deformable one it is made for the caller.
  [[nodiscard]] std::shared_ptr<const BoyseSurface> boyse() const;

 private:
  void find_edge_bends();
  void measure_thickness();
  [[nodiscard]] double thinnest_wall() const;
  void find_edges_of_faces();

  std::shared_ptr<const BoyseSurface> boyse_;  ///< empty for a deformable mesh
};

/// Corners and edges of a convex shape, for its contacts with meshes.
struct ConvexElements final : ShapeAccelerator {
  explicit ConvexElements(const mesh::TriangleMesh& mesh) : elements(mesh) {}
  SurfaceElements elements;
};

}  // namespace thrum::collision
