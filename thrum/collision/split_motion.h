// SPDX-License-Identifier: MIT
// A rigid motion split into a translation followed by a rotation [Forgue91, sec. 2].
//
//   first  p(s) = p + s d,                            s in [0, 1]      (d the way of the centre)
//   then   p(r) = c + rot(axis, r angle) (p + d - c), r in [0, 1]      (c the centre after the translation)
//
// Every point moves on a segment and then on an arc of a circle, so the tests of boyse.h have closed forms.
#pragma once

#include <algorithm>
#include <cmath>

#include "thrum/base/vec.h"

namespace thrum::collision {

struct SplitMotion {
  Pose start;                       ///< axes of the moving body to those of the other, at the beginning
  Vec3 translation = Vec3::Zero();  ///< of the centre [m]
  Vec3 centre = Vec3::Zero();       ///< of the rotation, after the translation, in axes of the other [m]
  Vec3 axis = Vec3::UnitZ();        ///< unit
  double angle = 0;                 ///< in [0, pi] [rad]

  /// After the share s of the translation.
  [[nodiscard]] Pose translated(double s) const { return {start.position + s * translation, start.rotation}; }
  /// After the translation and the share r of the rotation.
  [[nodiscard]] Pose rotated(double r) const
  {
    const Quat turn(Eigen::AngleAxisd(r * angle, axis));
    return {centre + turn * (start.position + translation - centre), (turn * start.rotation).normalized()};
  }
  [[nodiscard]] Pose end() const { return rotated(1); }
};

/// The motion between two poses. `centre` is the point that only translates, in axes of the moving body:
/// usually the centre of mass.
[[nodiscard]] inline SplitMotion split_motion(const Pose& from, const Pose& to, const Vec3& centre)
{
  SplitMotion motion;
  motion.start = from;
  motion.centre = to.point(centre);
  motion.translation = motion.centre - from.point(centre);
  Quat turn = to.rotation * from.rotation.conjugate();
  if (turn.w() < 0) turn.coeffs() = -turn.coeffs();
  const double sine = turn.vec().norm();
  if (sine > 0) {
    motion.axis = turn.vec() / sine;
    motion.angle = 2 * std::atan2(sine, turn.w());
  }
  return motion;
}

/// The motion between two poses with the centre on the axis of the screw that makes it: the translation is
/// along the axis, and a body that only turns about some axis does not translate at all.
[[nodiscard]] inline SplitMotion screw_motion(const Pose& from, const Pose& to)
{
  /// Below this the axis is too far away to be of use [rad].
  constexpr double kMinAngle = 1e-7;
  const SplitMotion motion = split_motion(from, to, Vec3::Zero());
  if (motion.angle < kMinAngle) return motion;
  // The point of the axis: c = m + (k x t) / (2 tan(angle / 2)), with m halfway and t the way across the
  // axis.
  const Vec3 across = motion.translation - motion.axis * motion.axis.dot(motion.translation);
  const Vec3 halfway = from.position + 0.5 * across;
  const Vec3 centre = halfway + motion.axis.cross(across) / (2 * std::tan(0.5 * motion.angle));
  return split_motion(from, to, from.point_to_local(centre));
}

/// The same motion of the other body, as the moving one sees it.
[[nodiscard]] inline SplitMotion seen_from_mover(const SplitMotion& motion)
{
  const Quat back = motion.start.rotation.conjugate();
  SplitMotion seen;
  seen.start = motion.start.inverse();
  seen.translation = -(back * motion.translation);
  seen.centre = motion.translated(1).point_to_local(motion.centre);
  seen.axis = -(back * motion.axis);
  seen.angle = motion.angle;
  return seen;
}

}  // namespace thrum::collision
