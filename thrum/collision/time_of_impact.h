// SPDX-License-Identifier: MIT
// When two shapes that move and turn first touch, by conservative advancement [Lecture13; Mirtich].
//
// Two shapes that lie apart by s along a unit direction n, from a to b, cannot touch before the gap along n
// is closed. A point of a at r from the centre about which a turns moves along n by at most
//
//     n . v_a + |n x w_a| |r|                                                                     (1)
//
// a second, so the time may advance by
//
//     dt = (s - s_end) / (n . (v_a - v_b) + |n x w_a| R_a + |n x w_b| R_b)                         (2)
//
// without getting nearer than s_end, R being the radius of the core about the centre (the rounding of spheres
// and capsules does not turn). Repeated until the gap is within the tolerance, it comes from before the
// impact and never steps over it. Pairs with a mesh are advanced triangle by triangle, in pieces of the way.
//
// Shapes that touch at the start are in contact already, as are those that the solver lets touch at the end
// of the motion: they only count when they go deeper than `allowed_depth`.
#pragma once

#include <limits>

#include "thrum/collision/pair_table.h"
#include "thrum/collision/prepared_shape.h"

namespace thrum::collision {

/// How a shape moves while a fraction f goes from 0 to 1: its centre goes along move f + bend f^2, and it
/// turns about it by turn f.
struct ShapeMotion {
  Pose X_ws;                   ///< of the shape at the start
  Vec3 centre = Vec3::Zero();  ///< about which it turns, at the start: its centre of mass [m]
  Vec3 move = Vec3::Zero();    ///< [m]
  Vec3 bend = Vec3::Zero();    ///< half the acceleration times the square of the time [m]
  Vec3 turn = Vec3::Zero();    ///< rotation vector in world axes; more than a turn counts as such [rad]

  [[nodiscard]] Pose pose_at(double fraction) const;
};

struct ImpactDesc {
  double touch_gap = 0;      ///< shapes nearer than twice this touch [m]; what is found has about this gap
  double allowed_depth = 0;  ///< to which shapes that touch at the start may overlap [m]
  double max_fraction = 1;   ///< of the motion; later impacts are left out
  bool in_contact = false;   ///< the solver keeps them apart already: as for shapes that touch at the start
};

struct TimeOfImpact {
  /// Of the motion, up to which it was found free of impacts; infinite when all of it is.
  double fraction = std::numeric_limits<double>::infinity();
  /// The search ended at its limit of steps: there may be no impact, but the motion is free only up to there.
  bool limited = false;

  [[nodiscard]] bool found() const { return fraction <= 1; }
};

/// Neither of the two may be a plane that moves. `table` finds the overlap of meshes that touch at the start.
[[nodiscard]] TimeOfImpact time_of_impact(const PreparedShape& a, const ShapeMotion& motion_a,
                                          const PreparedShape& b, const ShapeMotion& motion_b,
                                          const ImpactDesc& desc,
                                          const PairTable& table = default_pair_table());

/// Likewise by bisection [Lecture13, retroactive detection]. Bounds of the motion say when the pair may
/// touch; if it overlaps a quarter of the thinner width later, the time between is halved until it moves
/// by less than `touch_gap` in it, and the end without overlap is returned. A touch that is over by then is
/// returned as the bounds found it, so that none is too short to be seen. Pairs in contact are left out;
/// those within `touch_gap` at the start are looked at in steps of a quarter of the width, and those that
/// overlap there are treated as by time_of_impact().
[[nodiscard]] TimeOfImpact bisect_impact(const PreparedShape& a, const ShapeMotion& motion_a,
                                         const PreparedShape& b, const ShapeMotion& motion_b,
                                         const ImpactDesc& desc,
                                         const PairTable& table = default_pair_table());

/// Whether two shapes overlap at the poses that they have after a fraction of their motions.
[[nodiscard]] bool is_overlapping(const PreparedShape& a, const Pose& X_wa, const PreparedShape& b,
                                  const Pose& X_wb, const PairTable& table = default_pair_table());

/// How far any point of one shape gets against any point of the other, at most [m].
[[nodiscard]] double relative_reach(const PreparedShape& a, const ShapeMotion& motion_a,
                                    const PreparedShape& b, const ShapeMotion& motion_b);

/// Least thickness of the two, which limits how far they may move against each other unseen [m]. Planes,
/// height fields and open meshes have none of their own.
[[nodiscard]] double thinner_width(const PreparedShape& a, const PreparedShape& b);

}  // namespace thrum::collision
