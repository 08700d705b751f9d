// SPDX-License-Identifier: MIT
// The signed distance to a shape, in the shape's own axes: what contact with a mesh asks of the other side.
// Negative inside. All kinds have the same members, so that contact is written once:
//
//   probe(p, reach)    value and direction of growth; quick; beyond `reach` [m] a lower bound is enough
//   exact(p, reach)    the same with the true normal at sharp features
//   squared_box_distance(p) of a box that holds the shape, 0 where there is none [m^2]; quicker than probe()
//   segment_box_distance(p, q, enough) of the segment from p to q from such a box, at least [m]
//   lower_bound(value)    a lower bound of the true distance where probe() gave `value`
//   resolution()         features smaller than this are blurred in probe() [m]
//   unimodal_length()      along a straight line of this length [m] the distance has one minimum
//   is_round()         whether probe() is good enough everywhere, so that exact() is not needed
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/collision/prepared_shape.h"
#include "thrum/collision/triangle_surface.h"
#include "thrum/distance/signed_distance_field.h"
#include "thrum/model/shape.h"

namespace thrum::collision {

struct DistanceProbe {
  double value = 0;              ///< [m]
  Vec3 gradient = Vec3::Zero();  ///< unit or a little shorter
};

/// The distance of the segment from p to q from the box, at least; 0 where they may touch. Where it exceeds
/// `enough`, a smaller lower bound will do [m].
[[nodiscard]] double segment_box_distance(const Box3& box, const Vec3& p, const Vec3& q, double enough);

/// A closed mesh by its field, and by its triangles where they are sharp.
class FieldDistance {
 public:
  explicit FieldDistance(const TriangleSurface& surface)
      : surface_(surface), field_(*surface.field), box_(surface.bvh.bounds()), cell_(field_.spacing())
  {
  }
  [[nodiscard]] double squared_box_distance(const Vec3& p) const { return box_.squaredExteriorDistance(p); }
  [[nodiscard]] double segment_box_distance(const Vec3& p, const Vec3& q, double enough) const
  {
    return collision::segment_box_distance(box_, p, q, enough);
  }
  [[nodiscard]] DistanceProbe probe(const Vec3& p, double) const
  {
    const distance::FieldSample s = field_.sample(p);
    return {s.value, s.direction()};
  }
  [[nodiscard]] DistanceProbe exact(const Vec3& p, double reach) const;
  // Within half a cell of the truth in the fine blocks, which reach at least kFineCells from the surface, and
  // within half a block elsewhere.
  [[nodiscard]] double lower_bound(double value) const
  {
    return std::max(std::min(value, kFineCells * cell_) - 0.5 * cell_, value - kFarCells * cell_);
  }
  [[nodiscard]] bool is_round() const { return !surface_.elements.has_sharp_edges(); }
  [[nodiscard]] double resolution() const { return cell_; }
  [[nodiscard]] double unimodal_length() const { return 0.5 * surface_.thickness; }

 private:
  static constexpr double kFineCells = 3;
  static constexpr double kFarCells = 4.5;
  const TriangleSurface& surface_;
  const distance::SignedDistanceField& field_;
  Box3 box_;
  double cell_;
};

/// A surface that may be open, by its triangles: in front of them positive, behind negative.
class SurfaceDistance {
 public:
  explicit SurfaceDistance(const TriangleSurface& surface) : surface_(surface) {}
  [[nodiscard]] static double squared_box_distance(const Vec3&) { return 0; }
  [[nodiscard]] static double segment_box_distance(const Vec3&, const Vec3&, double) { return 0; }
  [[nodiscard]] DistanceProbe probe(const Vec3& p, double reach) const { return exact(p, reach); }
  [[nodiscard]] DistanceProbe exact(const Vec3& p, double reach) const;
  [[nodiscard]] static double lower_bound(double value) { return value; }
  [[nodiscard]] static bool is_round() { return false; }
  [[nodiscard]] static double resolution() { return 0; }
  [[nodiscard]] double unimodal_length() const { return 0.5 * surface_.thickness; }

 private:
  const TriangleSurface& surface_;
};

/// A closed mesh that bends, by its triangles: far from it as well, so that the edge of a table is led to a
/// ruler that lies across it.
class DeformedDistance {
 public:
  explicit DeformedDistance(const TriangleSurface& surface)
      : surface_(surface),
        box_(surface.bvh.bounds()),
        segment_(std::max(surface.thickness, kSegment * box_.sizes().maxCoeff()))
  {
  }
  [[nodiscard]] double squared_box_distance(const Vec3& p) const { return box_.squaredExteriorDistance(p); }
  [[nodiscard]] double segment_box_distance(const Vec3& p, const Vec3& q, double enough) const
  {
    return collision::segment_box_distance(box_, p, q, enough);
  }
  [[nodiscard]] DistanceProbe probe(const Vec3& p, double reach) const { return exact(p, reach); }
  [[nodiscard]] DistanceProbe exact(const Vec3& p, double reach) const;
  [[nodiscard]] static double lower_bound(double value) { return value; }
  [[nodiscard]] static bool is_round() { return false; }
  [[nodiscard]] static double resolution() { return 0; }
  [[nodiscard]] double unimodal_length() const { return segment_; }

 private:
  /// Share of the size of the mesh over which it bends to one side.
  static constexpr double kSegment = 1.0 / 16;
  const TriangleSurface& surface_;
  Box3 box_;
  double segment_;
};

/// What the exact distances to convex shapes share.
struct ConvexDistanceBase {
  [[nodiscard]] static double squared_box_distance(const Vec3&) { return 0; }
  [[nodiscard]] static double segment_box_distance(const Vec3&, const Vec3&, double) { return 0; }
  [[nodiscard]] static double lower_bound(double value) { return value; }
  [[nodiscard]] static bool is_round() { return false; }
  [[nodiscard]] static double resolution() { return 0; }
  [[nodiscard]] static double unimodal_length() { return std::numeric_limits<double>::infinity(); }
};

struct PlaneDistance : ConvexDistanceBase {
  [[nodiscard]] static DistanceProbe probe(const Vec3& p, double) { return {p.z(), Vec3::UnitZ()}; }
  [[nodiscard]] static DistanceProbe exact(const Vec3& p, double) { return {p.z(), Vec3::UnitZ()}; }
};

struct BoxDistance : ConvexDistanceBase {
  Vec3 half;
  explicit BoxDistance(const model::Box& box) : half(box.half) {}
  [[nodiscard]] DistanceProbe probe(const Vec3& p, double) const;
  [[nodiscard]] DistanceProbe exact(const Vec3& p, double reach) const { return probe(p, reach); }
};

struct CylinderDistance : ConvexDistanceBase {
  double radius;
  double half_length;
  explicit CylinderDistance(const model::Cylinder& c) : radius(c.radius), half_length(c.half_length) {}
  [[nodiscard]] DistanceProbe probe(const Vec3& p, double) const;
  [[nodiscard]] DistanceProbe exact(const Vec3& p, double reach) const { return probe(p, reach); }
};

struct HullDistance : ConvexDistanceBase {
  const model::ConvexPolyhedron& polyhedron;
  explicit HullDistance(const model::ConvexHull& hull) : polyhedron(*hull.polyhedron) {}
  [[nodiscard]] DistanceProbe probe(const Vec3& p, double) const;
  [[nodiscard]] DistanceProbe exact(const Vec3& p, double reach) const { return probe(p, reach); }
};

}  // namespace thrum::collision
