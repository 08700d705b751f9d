// SPDX-License-Identifier: MIT
// Working memory of the contact functions. Nothing in it is carried from one pair to the next but the
// capacity of the lists, so results do not depend on it. One thread uses one PairScratch at a time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/collision/shape_distance.h"
#include "thrum/collision/z_list.h"
#include "thrum/model/contact.h"

namespace thrum::collision {

/// Maximum number of patches of a pair; the deepest regions come first.
inline constexpr std::size_t kMaxPatches = 8;
/// The feature of a face of a mesh, or of a round surface as a whole: contacts name what touches it.
inline constexpr std::uint32_t kWholeSurface = 0x80000000;

/// A contact point on its way into a patch.
struct CandidatePoint {
  Vec3 position = Vec3::Zero();  ///< halfway between the surfaces [m]
  double depth = 0.0;            ///< [m]
  std::uint32_t feature_a = 0;
  std::uint32_t feature_b = 0;
};

/// The same with its own direction, from a to b.
struct DirectedPoint {
  Vec3 normal = Vec3::UnitZ();
  CandidatePoint point;
};

/// Points whose directions are nearly the same.
struct NormalGroup {
  Vec3 normal = Vec3::UnitZ();
  std::vector<CandidatePoint> points;
};

/// A corner of the face that is clipped.
struct ClipPoint {
  Vec3 p;
  std::uint32_t incident = 0;   ///< corner, or clipped edge
  std::uint32_t reference = 0;  ///< face, or clipped edge
};

/// Two polygons: that before and that after the next cut.
struct ClipScratch {
  std::vector<ClipPoint> polygon;
  std::vector<ClipPoint> clipped;
};

/// A touching point of a corner or an edge, in the axes of the distance.
struct ElementContact {
  Vec3 point = Vec3::Zero();    ///< on the element [m]
  Vec3 normal = Vec3::UnitZ();  ///< unit, out of the other shape
  double distance = 0;          ///< of the point from the other shape, negative inside [m]
  Index vertex = -1;            ///< which corner, or
  Index edge = -1;              ///< which edge
  std::uint32_t which = 0;      ///< distinguishes points of one edge
  /// (1) of element_contacts.h holds; where it does not, the point counts only if there is no better one
  bool lowest = true;
  bool is_strict = false;  ///< (1) holds with next to no tolerance

  [[nodiscard]] std::uint32_t feature() const
  {
    constexpr std::uint32_t kEdge = 0x40000000;
    return vertex >= 0 ? static_cast<std::uint32_t>(vertex)
                       : kEdge + 8 * static_cast<std::uint32_t>(edge) + which;
  }
};

/// Distances at the corners of a mesh, each computed once per search. A corner is known when it has the stamp
/// of the search.
struct CornerCache {
  struct Corner {
    std::uint32_t stamp = 0;
    Vec3 p;
    DistanceProbe probe;
  };
  std::uint32_t stamp = 0;
  std::vector<Corner> corners;

  /// Makes all corners unknown.
  void begin_search(std::size_t vertex_count)
  {
    if (corners.size() < vertex_count) corners.resize(vertex_count);
    if (++stamp != 0) return;
    for (Corner& c : corners) c.stamp = 0;
    stamp = 1;
  }
};

/// A contact of two meshes in axes of a, normal from a to b.
struct MeshContact {
  Vec3 on_a = Vec3::Zero();
  Vec3 on_b = Vec3::Zero();
  Vec3 normal = Vec3::UnitZ();
  double depth = 0;
  std::uint32_t feature_a = kWholeSurface;
  std::uint32_t feature_b = kWholeSurface;
  Index edge_a = -1;
  Index edge_b = -1;
  bool valid = true;       ///< each body lies on its own side of the contact plane
  bool is_strict = false;  ///< with next to no tolerance
  bool dropped = false;
};

struct MeshScratch {
  std::vector<MeshContact> contacts;
  std::vector<ElementContact> found;
  CornerCache corners;
  ZListBuffer z_list;
  std::vector<Index> edges_a;  ///< of the faces that the z-list left
  std::vector<Index> edges_b;
};

/// Where the search for a contact of round surfaces begins, in axes of a.
struct RoundSeed {
  Vec3 x = Vec3::Zero();        ///< halfway between the surfaces [m]
  Vec3 normal = Vec3::UnitZ();  ///< from a to b
  double gap = 0;               ///< between the ball and the other surface [m]
  std::uint32_t feature_a = kWholeSurface;
  std::uint32_t feature_b = kWholeSurface;
};

/// Balls of one round surface near another.
struct NearBalls {
  std::vector<double> gap;  ///< by ball; infinite where it is not near [m]
  std::vector<Vec3> out;    ///< gradient of the other's distance at the centre, in its axes
  /// By ball, of its centre from a box that holds the other surface [m^2].
  std::vector<float> box_squares;
  double clearance = 0;  ///< of the other surface from what no near ball stands for, at least [m]
};

struct RoundScratch {
  NearBalls near;
  std::vector<RoundSeed> seeds;
  std::vector<Vec3> places;  ///< of the contacts found so far
};

/// All that the contact functions of one thread need.
struct PairScratch {
  std::vector<Index> triangles;
  std::vector<CandidatePoint> points;
  std::vector<DirectedPoint> directed_points;
  std::array<NormalGroup, kMaxPatches> groups;
  ClipScratch clip;
  MeshScratch mesh;
  RoundScratch round;
  std::vector<model::ContactPatch> predicted;
  /// Set by a contact function that found nothing: how far apart the two are at least [m]. Functions that do
  /// not know it leave it.
  double clearance = 0;
  std::uint64_t left_out = 0;  ///< points of pairs that had kMaxPatches patches already
};

}  // namespace thrum::collision
