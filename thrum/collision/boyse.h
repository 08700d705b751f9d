// SPDX-License-Identifier: MIT
// When and where a moving mesh first touches another: Boyse's tests of a moving vertex against a face and of
// a moving edge against an edge, as used by [Forgue91, sec. 2]. The motion is a translation followed by a
// rotation (split_motion.h), so that every vertex moves on a segment and then on an arc:
//
//   vertex p against a face with normal n through a       n . (p(x) - a) = 0                           (1)
//   edge p + u e against an edge r + w f                  e(x) . (f x r) - f . (p(x) x e(x)) = 0       (2)
//
// (2), the reciprocal product of two lines, says that they meet. Both are linear in the moving points and
// directions, hence A + B x in a translation and A + B cos(x) + C sin(x) in a rotation, with at most two
// roots. In a rotation (1) is a circle that meets a plane; (2) is the cone-like surface (a hyperboloid of one
// sheet) that a turning line sweeps, met by another line.
//
//   const BoyseSurface head(head_mesh), ground(ground_mesh);                       // once
//   const auto& near = buffer.find({.mesh = &head_mesh, .motion = &motion}, {&ground_mesh}, {...}).pairs;
//   const BoyseImpact impact = find_first_impact(head, ground, motion, near);
//   if (impact.found) ... impact.X_ba, impact.contacts
//
// Which normal [Forgue91, sec. 2], always out of b:
//
//   vertex / face      that of the face
//   edge / edge        the product of their directions, on the side on which a lies
//   parallel edges     the sum of the normals out of b and into a at the edges, across them; at both ends
//                      of the part that they have in common
//   vertex / edge      the normal into a at the vertex, across the edge, brought between those of the two
//                      faces of the edge
//   vertex / vertex    the sum of the normals out of b and into a there
//
// The last three, for which the paper asks for rules of one's own, count only where there is none of the
// first two. An edge in a flat face counts as the face, an edge of a notch as its two faces.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/collision/split_motion.h"
#include "thrum/distance/pseudonormals.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::collision {

enum class BoyseKind : std::uint8_t { vertex_face, edge_edge, parallel_edges, vertex_edge, vertex_vertex };

/// A mesh with the connections that the tests need. It may be open; its faces push to their front.
class BoyseSurface {
 public:
  explicit BoyseSurface(mesh::TriangleMesh mesh);

  enum class EdgeKind : std::uint8_t { sharp, flat, notch };

  [[nodiscard]] const mesh::TriangleMesh& mesh() const { return mesh_; }
  [[nodiscard]] const distance::Pseudonormals& normals() const { return normals_; }
  [[nodiscard]] const Box3& bounds() const { return bounds_; }
  /// Square root of the mean area of its faces [m].
  [[nodiscard]] double face_size() const { return face_size_; }
  /// Edge k of a face runs from corner k to k + 1.
  [[nodiscard]] EdgeKind edge_kind(Index face, int k) const { return edge_kind_[at_edge(face, k)]; }
  /// The face beyond edge k, or -1 at a border.
  [[nodiscard]] Index neighbour(Index face, int k) const { return neighbour_[at_edge(face, k)]; }
  /// Each edge is tested with one of its faces only, and each vertex likewise.
  [[nodiscard]] bool owns_edge(Index face, int k) const
  {
    return neighbour(face, k) < 0 || face < neighbour(face, k);
  }
  [[nodiscard]] bool owns_vertex(Index face, int k) const;
  /// All faces at the vertex are in one plane.
  [[nodiscard]] bool is_flat(Index vertex) const { return flat_[static_cast<std::size_t>(vertex)] != 0; }
  [[nodiscard]] std::array<Vec3, 3> corners(Index face) const;

 private:
  static std::size_t at_edge(Index face, int k)
  {
    return 3 * static_cast<std::size_t>(face) + static_cast<std::size_t>(k);
  }

  mesh::TriangleMesh mesh_;
  distance::Pseudonormals normals_;
  Box3 bounds_;
  double face_size_ = 0;
  std::vector<EdgeKind> edge_kind_;
  std::vector<Index> neighbour_;
  std::vector<Index> owner_;  ///< of each vertex: its first face
  std::vector<char> flat_;
};

/// How a moves over b, in axes of b: linear at the origin of a, and angular.
struct BoyseVelocity {
  Vec3 linear = Vec3::Zero();  ///< [m/s]
  Vec3 spin = Vec3::Zero();    ///< [rad/s]
};

struct BoyseDesc {
  /// Features closer than this touch [m]. 0: 1e-7 of the size of the smaller body.
  double tolerance = 0;
  /// Vertices up to this far behind a face touch it as well [m]. 0: 1e-3 of the size of the smaller body.
  double max_depth = 0;
  /// What decides between approach and separation, if given; otherwise the split motion, whose two phases may
  /// approach where the whole does not.
  std::optional<BoyseVelocity> velocity = {};
};

/// Two features that touch, in axes of b.
struct BoyseContact {
  Vec3 point = Vec3::Zero();    ///< [m]
  Vec3 normal = Vec3::UnitZ();  ///< unit, out of b
  double depth = 0;             ///< of a vertex behind a face; negative for a gap [m]
  BoyseKind kind = BoyseKind::vertex_face;
  Index face_a = 0;
  Index face_b = 0;
};

struct BoyseImpact {
  bool found = false;
  bool in_rotation = false;
  double share = 0;                    ///< of the translation, or of the rotation after it
  Pose X_ba;                           ///< axes of a to b at the impact; the end of the motion without one
  std::vector<BoyseContact> contacts;  ///< all that touch then, from the static check
  std::size_t unconfirmed = 0;         ///< earlier roots at which the static check found no approach
};

/// The first time at which a touches b and approaches it there. `motion` is that of a in axes of b; `pairs`
/// must hold all pairs of faces that can touch. a and b are apart at the beginning, or touch. Roots of (1)
/// and (2) are confirmed by the static check.
[[nodiscard]] BoyseImpact find_first_impact(const BoyseSurface& a, const BoyseSurface& b,
                                            const SplitMotion& motion,
                                            std::span<const mesh::TrianglePair> pairs,
                                            const BoyseDesc& desc = {});

/// The static check: all features of the pairs that touch at the pose X_ba.
[[nodiscard]] std::vector<BoyseContact> find_touching_features(const BoyseSurface& a, const BoyseSurface& b,
                                                               const Pose& X_ba,
                                                               std::span<const mesh::TrianglePair> pairs,
                                                               const BoyseDesc& desc = {});

/// A contact of `a` moves towards b: speed of its point along the normal, negative when approaching. Per unit
/// of share, in the phase of the motion.
[[nodiscard]] double approach_speed(const SplitMotion& motion, bool in_rotation, const BoyseContact& contact);

// The four tests, in axes of what stands still. Each gives the shares in [0, 1] of its phase, ascending, at
// which the moving feature meets the other.

struct BoyseRoots {
  std::array<double, 2> share{};
  int count = 0;
};

/// A vertex that moves along d crosses the face from its front, within `tolerance` of the face.
[[nodiscard]] BoyseRoots translate_vertex(const Vec3& p, const Vec3& d, const std::array<Vec3, 3>& face,
                                          double tolerance);
/// An edge that moves along d meets the edge r s; parallel edges never do.
[[nodiscard]] BoyseRoots translate_edge(const std::array<Vec3, 2>& edge, const Vec3& d,
                                        const std::array<Vec3, 2>& other, double tolerance);
/// The same for a rotation.
struct BoyseRotation {
  Vec3 centre = Vec3::Zero();
  Vec3 axis = Vec3::UnitZ();  ///< unit
  double angle = 0;           ///< [rad]
};
[[nodiscard]] BoyseRoots rotate_vertex(const Vec3& p, const BoyseRotation& rotation,
                                       const std::array<Vec3, 3>& face, double tolerance);
[[nodiscard]] BoyseRoots rotate_edge(const std::array<Vec3, 2>& edge, const BoyseRotation& rotation,
                                     const std::array<Vec3, 2>& other, double tolerance);

}  // namespace thrum::collision
