// SPDX-License-Identifier: MIT
// Where corners and edges of one shape come near another that is known by its distance.
//
// With phi the distance to the other shape, points of a surface where it touches are minima of phi over that
// surface. To first order that means
//
//     corner x:         grad phi . (y - x) >= 0       for all neighbours y                          (1)
//     point x of an edge: grad phi . d = 0 along it, and (1) for the third corners of its two triangles,  (2)
//
// with a tolerance, so that faces that rest on each other count with all their corners. [Guendelman03, sec.
// 3] takes every corner inside the other and no edges; (1) leaves one region for each place of contact, and
// (2) finds the contacts of meshes whose corners all lie outside.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/collision/pair_scratch.h"
#include "thrum/collision/shape_distance.h"
#include "thrum/collision/surface_elements.h"

namespace thrum::collision {

/// Slope of phi below which (1) and (2) count as satisfied (sine of about 11 degrees).
inline constexpr double kSlopeTolerance = 0.2;
/// Likewise against a round shape: flat facets of a round mesh miss the true minimum by up to half their
/// bend.
inline constexpr double kRoundSlopeTolerance = 0.5;
/// Likewise where one contact is to decide over others.
inline constexpr double kStrictSlopeTolerance = 0.02;

struct ElementSearchDesc {
  double margin = 0;           ///< gap up to which points are wanted [m]
  double depth = 0;            ///< how far inside to look [m]
  double min_edge_length = 0;  ///< edges shorter than this are left to their ends [m]
  /// Instead of (1) and (2): every corner inside, and the lowest points of edges with both ends outside.
  bool every_point = false;
};

template <class Distance>
class ElementSearch {
 public:
  /// `X_de` maps axes of the elements to those of the distance.
  ElementSearch(const SurfaceElements& elements, const Pose& X_de, const Distance& distance,
                const ElementSearchDesc& desc, CornerCache& corners, std::vector<ElementContact>& found)
      : elements_(elements),
        distance_(distance),
        R_(X_de.rotation.toRotationMatrix()),
        t_(X_de.position),
        margin_(desc.margin),
        reach_(std::max(desc.margin, desc.depth)),
        inward_offset_(kInwardOffset * desc.depth),
        min_edge_length_(desc.min_edge_length),
        every_point_(desc.every_point),
        corners_(corners),
        found_(found)
  {
  }

  void run()
  {
    corners_.begin_search(elements_.vertices().size());
    const auto balls = elements_.balls();
    for (std::size_t i = 0; i < balls.size();) {
      const ElementBall& ball = balls[i];
      const double near = ball.radius + margin_;
      const Vec3 centre = R_ * ball.centre + t_;
      const double box_square = distance_.squared_box_distance(centre);
      const double least = box_square > near * near
                               ? std::sqrt(box_square)
                               : distance_.lower_bound(distance_.probe(centre, near).value);
      if (least > near) {
        clearance_ = std::min(clearance_, least - ball.radius);
        i = static_cast<std::size_t>(ball.skip);
        continue;
      }
      for (Index e = ball.first_edge; e < ball.end_edge; ++e) visit_edge(e);
      ++i;
    }
  }

  /// How far the elements that run() went over are from the other shape, at least [m]; only where nothing was
  /// found.
  [[nodiscard]] double clearance() const { return clearance_; }

  /// The same for edges found in another way.
  void run(std::span<const Index> edges)
  {
    corners_.begin_search(elements_.vertices().size());
    for (const Index e : edges) visit_edge(e);
  }

 private:
  /// How far to look from a corner towards its own inside, as a share of the depth looked at.
  static constexpr double kInwardOffset = 0.2;
  static constexpr int kBisections = 14;
  static constexpr int kSecants = 5;
  static constexpr int kMaxSegments = 64;
  /// Slope along an edge at which the search for a minimum ends.
  static constexpr double kEdgeSlopeTolerance = 0.02;
  /// Two ends of a level stretch closer than this share of the edge are one point.
  static constexpr double kMergeShare = 0.02;

  [[nodiscard]] Vec3 place(Index vertex) const { return R_ * elements_.vertices()[at(vertex)] + t_; }

  const CornerCache::Corner& visit_corner(Index v)
  {
    CornerCache::Corner& corner = corners_.corners[at(v)];
    if (corner.stamp == corners_.stamp) return corner;
    corner.stamp = corners_.stamp;
    corner.p = place(v);
    corner.probe = distance_.probe(corner.p, reach_);
    const double least = distance_.lower_bound(corner.probe.value);
    clearance_ = std::min(clearance_, least);
    if (least <= margin_) {
      ElementContact contact;
      contact.point = corner.p;
      contact.vertex = v;
      accept(contact, corner.probe, elements_.neighbours(v));
    }
    return corner;
  }

  void visit_edge(Index e)
  {
    const SurfaceEdge& edge = elements_.edges()[at(e)];
    // An edge of a long wall passes most bodies at a distance; its ends are then far away as well.
    const double beyond = distance_.segment_box_distance(place(edge.ends[0]), place(edge.ends[1]), margin_);
    if (beyond > margin_) {
      clearance_ = std::min(clearance_, beyond);
      return;
    }
    const CornerCache::Corner& u = visit_corner(edge.ends[0]);
    const CornerCache::Corner& v = visit_corner(edge.ends[1]);
    const Vec3 along = v.p - u.p;
    const double length = along.norm();
    // The distance changes by at most the way gone.
    const double lowest =
        0.5 * (distance_.lower_bound(u.probe.value) + distance_.lower_bound(v.probe.value) - length);
    if (lowest > margin_) clearance_ = std::min(clearance_, lowest);
    if (lowest > margin_ || !(length > min_edge_length_)) return;
    if (every_point_ && (u.probe.value < margin_ || v.probe.value < margin_)) return;
    const int segments = static_cast<int>(
        std::clamp(std::ceil(length / distance_.unimodal_length()), 1.0, static_cast<double>(kMaxSegments)));
    const Vec3 d = along / length;
    std::uint32_t which = 0;
    double t0 = 0;
    double s0 = u.probe.gradient.dot(d);
    double value = u.probe.value;
    for (int k = 1; k <= segments; ++k) {
      const double t1 = length * k / segments;
      const DistanceProbe probe = k == segments ? v.probe : distance_.probe(u.p + t1 * d, reach_);
      const double s1 = probe.gradient.dot(d);
      const double least = least_between(value, s0, probe.value, s1, t1 - t0);
      clearance_ = std::min(clearance_, distance_.lower_bound(least));
      which = minima_between(e, edge, u.p, d, t0, s0, t1, s1, which);
      t0 = t1;
      s0 = s1;
      value = probe.value;
    }
  }

  // A lower bound of phi over a stretch along which its slope does not fall: where the tangents at its two
  // ends meet.
  [[nodiscard]] static double least_between(double value_0, double slope_0, double value_1, double slope_1,
                                            double length)
  {
    if (slope_0 >= 0 || slope_1 <= 0) return std::min(value_0, value_1);
    const double t = (value_1 - value_0 - slope_1 * length) / (slope_0 - slope_1);
    return std::min({value_0, value_1, value_0 + slope_0 * t});
  }

  // Between t0 and t1 the slope along the edge changes from falling to level and from level to rising at most
  // once each. Where it does, phi has a minimum, or begins or ends to be level.
  std::uint32_t minima_between(Index e, const SurfaceEdge& edge, const Vec3& origin, const Vec3& d, double t0,
                               double s0, double t1, double s1, std::uint32_t which)
  {
    const double level = distance_.is_round() ? 0.0 : kSlopeTolerance;
    const bool lands = s0 < -level && s1 >= -level;
    const bool leaves = s0 <= level && s1 > level;
    if (!lands && !leaves) return which;
    if (distance_.is_round()) {
      if (lands && leaves) add_edge_point(e, edge, origin + root(origin, d, t0, s0, t1, s1) * d, which++);
      return which;
    }
    const double landing = lands ? bisect(origin, d, t0, t1, -level) : t0;
    const double leaving = leaves ? bisect(origin, d, t0, t1, level) : t1;
    if (lands && leaves && leaving - landing < kMergeShare * (t1 - t0)) {
      add_edge_point(e, edge, origin + 0.5 * (landing + leaving) * d, which++);
      return which;
    }
    if (lands) add_edge_point(e, edge, origin + landing * d, which++);
    if (leaves) add_edge_point(e, edge, origin + leaving * d, which++);
    return which;
  }

  // Where the slope reaches `level`, which it does once between t0 and t1.
  double bisect(const Vec3& origin, const Vec3& d, double t0, double t1, double level) const
  {
    for (int i = 0; i < kBisections; ++i) {
      const double t = 0.5 * (t0 + t1);
      const double s = distance_.probe(origin + t * d, reach_).gradient.dot(d);
      const bool below = level < 0 ? s < level : s <= level;
      (below ? t0 : t1) = t;
    }
    return level < 0 ? t1 : t0;
  }

  // Zero of the slope by the Illinois form of false position.
  double root(const Vec3& origin, const Vec3& d, double t0, double s0, double t1, double s1) const
  {
    double t = t0;
    for (int i = 0; i < kSecants; ++i) {
      t = t0 - s0 * (t1 - t0) / (s1 - s0);
      const double s = distance_.probe(origin + t * d, reach_).gradient.dot(d);
      if (std::abs(s) < kEdgeSlopeTolerance) break;
      if (s < 0) {
        t0 = t;
        s0 = s;
        s1 *= 0.5;
      } else {
        t1 = t;
        s1 = s;
        s0 *= 0.5;
      }
    }
    return t;
  }

  void add_edge_point(Index e, const SurfaceEdge& edge, const Vec3& p, std::uint32_t which)
  {
    const DistanceProbe probe = distance_.probe(p, reach_);
    if (distance_.lower_bound(probe.value) > margin_) return;
    ElementContact contact;
    contact.point = p;
    contact.edge = e;
    contact.which = which;
    // With its ends among the neighbours, (1) includes the first half of (2).
    std::array<Index, 4> around = {edge.ends[0], edge.ends[1], -1, -1};
    std::size_t count = 2;
    for (const Index v : edge.opposite_vertices) {
      if (v >= 0) around[count++] = v;
    }
    accept(contact, probe, std::span(around).first(count));
  }

  // Eq. (1): no neighbour lies lower.
  [[nodiscard]] bool is_lowest(const Vec3& p, const Vec3& gradient, std::span<const Index> neighbours,
                               double level) const
  {
    const double tolerance = level * gradient.norm();
    for (const Index n : neighbours) {
      const Vec3 away = place(n) - p;
      if (gradient.dot(away) < -tolerance * away.norm()) return false;
    }
    return true;
  }

  void accept(ElementContact& contact, DistanceProbe probe, std::span<const Index> neighbours)
  {
    const Vec3& p = contact.point;
    const bool round = distance_.is_round();
    if (!round) probe = distance_.exact(p, reach_);
    if (every_point_) {
      if (!(probe.value < margin_) || !(probe.gradient.norm() > 0)) return;
      contact.normal = probe.gradient.normalized();
      contact.distance = probe.value;
      found_.push_back(contact);
      return;
    }
    // The lowest point of an edge is known to within the distance's own resolution; it may be needed for a
    // crossing.
    const bool beyond = probe.value > margin_;
    if (beyond && (round || contact.edge < 0 || probe.value > margin_ + distance_.resolution())) return;
    if (beyond) {
      contact.lowest = false;
    } else if (!is_lowest(p, probe.gradient, neighbours, round ? kRoundSlopeTolerance : kSlopeTolerance)) {
      contact.lowest = !round && probe.value > -reach_ && look_further_inside(p, neighbours, probe);
    }
    const double length = probe.gradient.norm();
    if (!(length > 0)) return;
    contact.is_strict = contact.lowest && is_lowest(p, probe.gradient, neighbours, kStrictSlopeTolerance);
    contact.normal = probe.gradient / length;
    contact.distance = probe.value;
    found_.push_back(contact);
  }

  // A corner flush with a side of the other shape is nearer to that side than to the face it rests on. Seen
  // from a little further inside its own shape, the face comes first.
  bool look_further_inside(const Vec3& p, std::span<const Index> neighbours, DistanceProbe& probe) const
  {
    Vec3 inward = Vec3::Zero();
    for (const Index n : neighbours) inward += (place(n) - p).normalized();
    const double length = inward.norm();
    if (!(length > kSlopeTolerance)) return false;
    const Vec3 inside = p + inward_offset_ / length * inward;
    const DistanceProbe other = distance_.exact(inside, reach_);
    const double value = other.value + other.gradient.dot(p - inside);
    if (value > margin_ || value < -reach_ || !is_lowest(p, other.gradient, neighbours, kSlopeTolerance))
      return false;
    probe = {value, other.gradient};
    return true;
  }

  const SurfaceElements& elements_;
  const Distance& distance_;
  Mat3 R_;
  Vec3 t_;
  double margin_;
  double reach_;
  double inward_offset_;
  double min_edge_length_;
  bool every_point_;
  CornerCache& corners_;
  std::vector<ElementContact>& found_;
  double clearance_ = std::numeric_limits<double>::infinity();
};

}  // namespace thrum::collision
