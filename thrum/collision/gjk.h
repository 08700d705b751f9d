// SPDX-License-Identifier: MIT
// Distance between two convex cores (Gilbert, Johnson and Keerthi) or, where they overlap, the shortest way
// out (expanding polytope). Both work on the support points of the difference set A - B in the axes of A.
#pragma once

#include "thrum/collision/convex.h"

namespace thrum::collision {

struct ConvexDistance {
  double distance = 0.0;        ///< between the cores; negative: minus the depth of the overlap [m]
  Vec3 normal = Vec3::UnitZ();  ///< unit, from a to b, in axes of a
  Vec3 on_a = Vec3::Zero();     ///< nearest (or deepest) point of a's core, in axes of a [m]
  Vec3 on_b = Vec3::Zero();     ///< likewise of b's core, in axes of a [m]
  bool beyond = false;  ///< found to be farther apart than `max_distance`; the other members are not set
};

/// `X_ab` maps axes of b to axes of a. Cores farther apart than `max_distance` [m] may be reported as just
/// `beyond`.
[[nodiscard]] ConvexDistance convex_distance(const ConvexView& a, const ConvexView& b, const Pose& X_ab,
                                             double max_distance);

}  // namespace thrum::collision
