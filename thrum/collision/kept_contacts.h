// SPDX-License-Identifier: MIT
// Contacts that are kept while the two bodies have hardly moved against each other.
//
// Between two steps of a heap at rest nothing changes but the depths, and these by less than rounding of a
// single number. A pair remembers the poses at which its contacts were found (model::PairReference). While
// the bodies have moved against each other by less than a limit and turned by less than another, with d and
// theta their moves and turns since then,
//
//     u(p) = d_b + theta_b x (p - x_b) - d_a - theta_a x (p - x_a),      depth = depth_0 - n . u(p),     (1)
//
// and p goes along with the mean of the two moves. What is left out is of second order: with limits of 1e-4
// of the size, 1e-8 of it. The reference stays where it was, so errors do not add up.
//
// A pair without contacts is not looked at again while it cannot have come near enough for one: the contact
// functions of meshes tell how far apart the two are at least (PairScratch::clearance), which is then the
// margin of the reference.
//
// Spheres, capsules and cylinders touch at points that move over them as they roll: a point that stayed
// behind by a half of the move would drive a ball at rest away. Their contacts are kept only where they have
// three points, as under a cylinder that stands.
#pragma once

#include <algorithm>
#include <span>

#include "thrum/collision/prepared_shape.h"
#include "thrum/model/contact.h"

namespace thrum::collision {

/// How far two bodies may move against each other, and each may turn, before contacts are found again.
struct KeepLimits {
  double move = 0;  ///< [m]
  double turn = 0;  ///< [rad]
};

/// How two bodies have moved since their contacts were found.
struct PairMotion {
  Vec3 move_a;  ///< [m]
  Vec3 turn_a;  ///< [rad]
  Vec3 move_b;
  Vec3 turn_b;
};

// The functions below go by components: Eigen reads two at once, and so has to wait until what a cross
// product has just written one by one has reached the cache. That was two thirds of the time of
// move_patch().

/// The turn from `from` to `to`, exact to first order [rad].
[[nodiscard]] inline Vec3 small_turn(const Quat& from, const Quat& to)
{
  const double sign = from.coeffs().dot(to.coeffs()) < 0 ? -2 : 2;
  const auto component = [&](double p, double q, double cross) {
    return sign * (from.w() * q - to.w() * p + cross);
  };
  return {component(from.x(), to.x(), from.y() * to.z() - from.z() * to.y()),
          component(from.y(), to.y(), from.z() * to.x() - from.x() * to.z()),
          component(from.z(), to.z(), from.x() * to.y() - from.y() * to.x())};
}

[[nodiscard]] inline PairMotion motion_since(const model::PairReference& reference, const Pose& X_wa,
                                             const Pose& X_wb)
{
  return {X_wa.position - reference.X_wa.position, small_turn(reference.X_wa.rotation, X_wa.rotation),
          X_wb.position - reference.X_wb.position, small_turn(reference.X_wb.rotation, X_wb.rotation)};
}

[[nodiscard]] inline bool is_within(const PairMotion& motion, const KeepLimits& limits)
{
  const auto square = [](double x, double y, double z) {
    return x * x + y * y + z * z;
  };
  const Vec3& a = motion.move_a;
  const Vec3& b = motion.move_b;
  const Vec3& turn_a = motion.turn_a;
  const Vec3& turn_b = motion.turn_b;
  return square(b.x() - a.x(), b.y() - a.y(), b.z() - a.z()) <= limits.move * limits.move &&
         std::max(square(turn_a.x(), turn_a.y(), turn_a.z()), square(turn_b.x(), turn_b.y(), turn_b.z())) <=
             limits.turn * limits.turn;
}

/// Eq. (1) for the points of a patch, which go on as not new where they pushed.
void move_patch(const model::PairReference& reference, const PairMotion& motion, model::ContactPatch& patch);

/// Whether contacts of the two shapes, which has these patches, may be kept.
[[nodiscard]] bool is_keepable(const PreparedShape& a, const PreparedShape& b,
                               std::span<const model::ContactPatch> patches);

}  // namespace thrum::collision
