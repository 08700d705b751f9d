// SPDX-License-Identifier: MIT
// A bounding volume hierarchy over the triangles of a mesh.
//
//   Bvh bvh(mesh);                                              // copies the mesh
//   const ClosestPoint s = bvh.closest_point(p);                // always found
//   const ClosestPoint t = bvh.closest_point(q, 0.01, s.triangle);  // at most 1 cm away, warm start
//   if (t.found()) ...
//
// Four children per node, up to four triangles per leaf, both laid out lane by lane so that one SIMD
// instruction works on four boxes or on two or four triangles:
//
//   Node    lower x[4] y[4] z[4]  upper x[4] y[4] z[4]  child[4]      128 bytes, float, rounded outwards
//   Packet  corners a, b, c, 1 / area^2, 1 / edge length^2            448 bytes, double, exact corners
//
// Boxes are stored in "unit" coordinates (mesh centre at 0, half its largest side 1) where a float has a
// known absolute error, so a part that is small or far from the origin loses no accuracy. The triangles are
// tested in double.
//
// Every answer is the same on every run: among triangles that are equally far (within kTieRelative of the
// distance and kTieAbsolute of the mesh size) the one with the lowest index is returned, with or without a
// hint.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"
#include "thrum/mesh/triangle_queries.h"

namespace thrum::mesh {

/// A point of the surface closest to a query.
struct ClosestPoint {
  Vec3 point = Vec3::Zero();                                  ///< [m]
  double distance = std::numeric_limits<double>::infinity();  ///< from the query, unsigned [m]
  Index triangle = -1;                                        ///< -1: nothing within the allowed distance
  Vec3 barycentric = Vec3::Zero();                            ///< weights of the triangle's corners
  Feature feature = Feature::face;
  Index feature_id =
      -1;  ///< vertex: its index; edge: 3 * triangle + k, from corner k to k+1; face: the triangle

  [[nodiscard]] bool found() const { return triangle >= 0; }
};

struct Ray {
  Vec3 origin;     ///< [m]
  Vec3 direction;  ///< any length except zero
  double max_t =
      std::numeric_limits<double>::infinity();  ///< hits lie at origin + t direction, 0 <= t <= max_t
};

struct RayHit {
  double t = std::numeric_limits<double>::infinity();
  Index triangle = -1;  ///< -1: no hit
  Vec3 barycentric = Vec3::Zero();

  [[nodiscard]] bool found() const { return triangle >= 0; }
};

/// A pair of triangles of two hierarchies.
struct TrianglePair {
  Index a;
  Index b;
  friend auto operator<=>(const TrianglePair&, const TrianglePair&) = default;
};

class Bvh {
 public:
  /// Distances that differ by less are a tie: the first is relative to the distance, the second to the mesh
  /// size.
  static constexpr double kTieRelative = 1e-12;
  static constexpr double kTieAbsolute = 1e-14;

  /// Throws Error when the mesh has no triangle, or an index or a coordinate is invalid.
  explicit Bvh(TriangleMesh mesh);

  [[nodiscard]] const TriangleMesh& mesh() const { return mesh_; }
  [[nodiscard]] const Box3& bounds() const { return bounds_; }
  /// Bytes held, the copy of the mesh included.
  [[nodiscard]] std::size_t memory_bytes() const;

  /// The point of the surface closest to p, if it is at most `max_distance` [m] away. `hint` is a triangle
  /// that is probably near (from the last step or a neighbour): it speeds up the search and never changes the
  /// result.
  [[nodiscard]] ClosestPoint closest_point(const Vec3& p,
                                           double max_distance = std::numeric_limits<double>::infinity(),
                                           Index hint = -1) const;

  /// The point of one triangle closest to p, for when the closest triangle is known.
  [[nodiscard]] ClosestPoint closest_point_on(const Vec3& p, Index triangle) const;

  /// First hit of a ray, from either side. Watertight: a ray through a shared edge or vertex hits.
  [[nodiscard]] RayHit first_hit(const Ray& ray) const;
  [[nodiscard]] bool any_hit(const Ray& ray) const;

  /// Triangles whose own bounding boxes touch `box`, ascending. `out` is emptied first.
  void triangles_in_box(const Box3& box, std::vector<Index>& out) const;

  /// Triangles at most `radius` [m] from `centre`, ascending. `out` is emptied first.
  void triangles_in_sphere(const Vec3& centre, double radius, std::vector<Index>& out) const;

  /// Sets new vertex positions (as many as before) and refits all boxes; the tree keeps its shape, so after
  /// large deformations a new Bvh searches faster. Throws Error when the count differs or a coordinate is not
  /// finite.
  void refit(std::span<const Vec3> vertices);

  /// Called with a pair of triangles; returning false ends the traversal.
  using PairCallback = std::function<bool(Index a, Index b)>;

  /// Walks two hierarchies at once, a posed by X_wa and b by X_wb, and calls back for every pair of triangles
  /// that may be within `margin` [m] of each other: all that are, and some of which only the boxes are. The
  /// order is always the same. Returns false when the callback ended it.
  static bool for_each_near_pair(const Bvh& a, const Pose& X_wa, const Bvh& b, const Pose& X_wb,
                                 double margin, const PairCallback& callback);

  /// Exactly the pairs of triangles at most `margin` [m] apart (0: touching or crossing), ascending.
  static void overlapping_pairs(const Bvh& a, const Pose& X_wa, const Bvh& b, const Pose& X_wb, double margin,
                                std::vector<TrianglePair>& out);

  // The layout, public for the other files of the hierarchy and for code that traverses it directly.
  static constexpr int kWidth = 4;
  static constexpr Index kNoChild = std::numeric_limits<Index>::min();

  /// Boxes of four children in unit coordinates. child >= 0: a node; child < 0: the packet ~child; or
  /// kNoChild.
  struct alignas(64) Node {
    float lower[3][kWidth];
    float upper[3][kWidth];
    Index child[kWidth];
  };

  /// Up to four triangles. Unused lanes are NaN, so every comparison with them is false.
  struct alignas(64) Packet {
    double a[3][kWidth], b[3][kWidth], c[3][kWidth];
    double inverse_nn[kWidth];  ///< 1 / (2 area)^2 [1/m^4]; NaN for a triangle without area
    double inverse_ab[kWidth], inverse_ac[kWidth], inverse_bc[kWidth];  ///< 1 / squared edge length [1/m^2]
    Index triangle[kWidth];                                             ///< -1: unused
  };

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Packet> packets() const { return packets_; }
  [[nodiscard]] const Vec3& unit_origin() const { return origin_; }
  [[nodiscard]] double unit_length() const { return unit_; }

 private:
  struct Builder;
  void fit_bounds();
  void fill_packet(Packet& packet) const;
  void prefetch(Index child) const;
  [[nodiscard]] ClosestPoint closest_point_in(const Vec3& p, Index slot) const;
  template <class Leaf>
  void walk_boxes(const float (&lower)[3], const float (&upper)[3], const Leaf& leaf) const;
  template <bool kAnyHit>
  RayHit trace(const Ray& ray) const;

  TriangleMesh mesh_;
  Box3 bounds_;
  Vec3 origin_ = Vec3::Zero();  ///< centre of the bounds [m]
  double unit_ = 1;             ///< one unit [m]
  double tie_ = 0;              ///< absolute tolerance of a tie [m^2]
  std::vector<Node> nodes_;     ///< parents before children
  std::vector<Packet> packets_;
  std::vector<Index> slot_;  ///< triangle -> kWidth * packet + lane
};

}  // namespace thrum::mesh
