// SPDX-License-Identifier: MIT
// When two meshes that move and turn first touch, by the method of [Forgue91, sec. 2]: the faces that
// interfere in the volume that they sweep (z_list.h), then Boyse's tests on these faces only (boyse.h).
//
// Boyse's tests are for a translation followed by a rotation. Over a part of the motion, from f to f + d,
// that leaves the real way of a point by at most
//
//     e = min(|t|, 2 r sin(angle / 2)) + r (1 - cos(angle / 2)) + d^2 max|x''| / 8                   (1)
//
// t being the translation, r the radius about the axis and x'' the acceleration of a point of a in axes of b:
// the corner between the two, the arc over its chord, and the real way over the same chord. The motion is cut
// in two where faces interfere within e, until e is below a share of the tolerance. What is tested is a
// continuous way through poses of the real motion, so that nothing passes, and touches are found that are
// deeper than e.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "thrum/collision/time_of_impact.h"
#include "thrum/collision/triangle_surface.h"
#include "thrum/collision/z_list.h"
#include "thrum/mesh/bvh.h"

namespace thrum::collision {

/// Decides between two fractions of the motion about faces of which features meet within rounding of a
/// border, where Boyse's tests find a root but the static check no approach.
using DecideImpact =
    std::function<TimeOfImpact(std::span<const mesh::TrianglePair> faces, double from, double to)>;

/// Both shapes are meshes or height fields, apart at the start. (1) is smallest with the smaller one as a.
class MeshImpactSearch {
 public:
  /// Impacts are found up to `tolerance` [m] early.
  MeshImpactSearch(const PreparedShape& a, const ShapeMotion& motion_a, const PreparedShape& b,
                   const ShapeMotion& motion_b, double tolerance, DecideImpact decide);

  /// The first impact between two fractions of the motion.
  [[nodiscard]] TimeOfImpact find(double from, double to);
  /// The longest part of the motion that find() may be asked for.
  [[nodiscard]] double max_part() const;

 private:
  struct Part {
    double from = 0;
    double to = 0;
    int cuts = 0;
    std::vector<Index> faces_a;  ///< that may touch, or
    std::vector<Index> faces_b;
    std::vector<mesh::TrianglePair> pairs;  ///< when there are few
  };

  [[nodiscard]] Pose relative_pose(double f) const;
  [[nodiscard]] double way_over_chord(double from, double to) const;
  [[nodiscard]] double distance_from_b(double f, double way) const;
  [[nodiscard]] double reach_from_middle(double from, double to) const;
  [[nodiscard]] double choose_split(double from, double to, SplitMotion& motion) const;
  [[nodiscard]] bool clip_faces(const SplitMotion& motion, double margin, Part& part) const;
  const ZListResult& draw(const Part& part, const SplitMotion& motion, double margin, double reach);
  void remove_distant(const Part& part, double margin, std::vector<mesh::TrianglePair>& pairs) const;
  [[nodiscard]] TimeOfImpact search(const Part& part);
  [[nodiscard]] TimeOfImpact test(const SplitMotion& motion, const Part& part,
                                  std::span<const mesh::TrianglePair> pairs) const;

  const TriangleSurface& a_;
  const TriangleSurface& b_;
  std::shared_ptr<const BoyseSurface> boyse_a_;
  std::shared_ptr<const BoyseSurface> boyse_b_;
  const ShapeMotion& motion_a_;
  const ShapeMotion& motion_b_;
  double tolerance_;
  DecideImpact decide_;
  Vec3 centre_a_;        ///< about which a turns, in its axes [m]
  double radius_a_;      ///< about it [m]
  double touch_margin_;  ///< [m]
  double speed_;         ///< at most, of a point of one against the other [m per motion]
  double face_size_;     ///< of the mesh with the smaller faces [m]
  ZListBuffer buffer_;
  int searches_ = 0;
};

}  // namespace thrum::collision
