// SPDX-License-Identifier: MIT
// From two touching faces to a patch of at most four points.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/collision/convex.h"
#include "thrum/collision/gjk.h"
#include "thrum/collision/pair_table.h"
#include "thrum/model/contact.h"

namespace thrum::collision {

/// A contact point on its way into a patch.
struct CandidatePoint {
  Vec3 position = Vec3::Zero();  ///< halfway between the surfaces [m]
  double depth = 0.0;            ///< [m]
  std::uint32_t feature_a = 0;
  std::uint32_t feature_b = 0;
};

/// Clips the face of one convex shape by that of the other and appends points with depth > -margin, in axes of a.
/// `d` says where the cores are nearest; the nearest point is added when clipping lost it.
void clip_convex_contact(const ConvexView& a, const ConvexView& b, const Pose& X_ab, const ConvexDistance& d,
                         double margin, std::vector<CandidatePoint>& points);

/// Keeps at most four: the deepest, the one farthest from it, and the two that span the most area to either side.
void reduce_to_four(const Vec3& normal, std::vector<CandidatePoint>& points);

/// Reduces, and appends one patch with the points brought to the world by `X_wp`. Does nothing without points.
void append_patch(const PairInput& pair, const Pose& X_wp, const Vec3& normal_p,
                  std::vector<CandidatePoint>& points, std::vector<model::ContactPatch>& patches);

}  // namespace thrum::collision
