// SPDX-License-Identifier: MIT
// From two touching faces to a patch of at most four points.
#pragma once

#include <span>
#include <vector>

#include "thrum/collision/convex.h"
#include "thrum/collision/gjk.h"
#include "thrum/collision/pair_scratch.h"
#include "thrum/collision/pair_table.h"
#include "thrum/model/contact.h"

namespace thrum::collision {

/// Clips the face of one convex shape by that of the other and appends points with depth > -margin, in axes
/// of a. `d` says where the cores are nearest; the nearest point is added when clipping lost it.
void clip_convex_contact(const ConvexView& a, const ConvexView& b, const Pose& X_ab, const ConvexDistance& d,
                         double margin, ClipScratch& scratch, std::vector<CandidatePoint>& points);

/// Keeps at most four: the deepest, the one farthest from it, and the two that span the most area to either
/// side; of these, points in touch before points that hover within the margin.
void reduce_to_four(const Vec3& normal, std::vector<CandidatePoint>& points);

/// Reduces, and appends one patch with the points brought to the world by `X_wp`. Does nothing without
/// points.
void append_patch(const PairInput& pair, const Pose& X_wp, const Vec3& normal_p,
                  std::vector<CandidatePoint>& points, std::vector<model::ContactPatch>& patches);

/// Gathers points, the deepest first, into patches: the first begins one and takes with it all whose
/// directions have a cosine above `same_normal` with it; then the first of the rest, up to eight patches.
/// Points of a patch nearer than `same_point` [m] are one.
void append_patches_by_normal(const PairInput& pair, const Pose& X_wp, double same_normal, double same_point,
                              std::span<const DirectedPoint> points,
                              std::vector<model::ContactPatch>& patches);

/// Every point, in patches of at most four that lie next to each other and push the same way. `points` are
/// put in another order.
void append_every_point(const PairInput& pair, const Pose& X_wp, std::span<DirectedPoint> points,
                        std::vector<model::ContactPatch>& patches);

}  // namespace thrum::collision
