// SPDX-License-Identifier: MIT
#include "thrum/collision/mesh_impact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "thrum/collision/boyse.h"
#include "thrum/mesh/triangle_queries.h"

namespace thrum::collision {

namespace {

/// A part of the motion is tested when (1) is below this share of the tolerance.
constexpr double kErrorShare = 0.1;
/// Parts are cut so many times, then tested as they are.
constexpr int kMaxCuts = 30;
/// Z-lists drawn for one pair of bodies; then the search ends.
constexpr int kMaxSearches = 4000;
/// A split motion turns by less than half a turn; (1) needs far less [rad].
constexpr double kMaxTurn = 0.5;
/// Parts with more pairs of faces are cut, up to so many times: those of the first half come first.
constexpr std::size_t kManyPairs = 128;
constexpr int kMaxFaceCuts = 6;
/// The axis of a screw farther away than this, in radii of the body, costs digits.
constexpr double kMaxAxisDistance = 100;
/// Margin of the z-list for what boyse.h counts as touching, as a share of the radius of the smaller mesh.
constexpr double kTouchMargin = 1e-6;

constexpr TimeOfImpact kNoImpact{};

const TriangleSurface& surface_of(const PreparedShape& shape)
{
  return static_cast<const TriangleSurface&>(*shape.accelerator);
}

// Of (1): what the split way leaves its chord by.
double split_over_chord(const SplitMotion& motion, double radius)
{
  const double half = 0.5 * motion.angle;
  return std::min(motion.translation.norm(), 2 * radius * std::sin(half)) + radius * (1 - std::cos(half));
}

// How much of the time of the motion has passed, by the way that the body made.
double time_share(const SplitMotion& motion, const BoyseImpact& impact, double radius)
{
  const double first = motion.translation.norm();
  const double second = motion.angle * radius;
  const double done = impact.in_rotation ? first + impact.share * second : impact.share * first;
  return first + second > 0 ? done / (first + second) : 1.0;
}

// The box of a box that moves, with the arcs of its corners over their chords.
Box3 swept_box(const Box3& box, const SplitMotion& motion, double margin)
{
  const Vec3 half = 0.5 * box.sizes();
  const Vec3 centre_b = motion.translated(1).point_to_local(motion.centre);
  const double radius = (box.center() - centre_b).norm() + half.norm();
  const Vec3 grow = Vec3::Constant(margin + radius * (1 - std::cos(0.5 * motion.angle)));
  Box3 swept;
  for (const Pose& X : {motion.start, motion.translated(1), motion.end()}) {
    const Vec3 reach = X.rotation.toRotationMatrix().cwiseAbs() * half + grow;
    const Vec3 centre = X.point(box.center());
    swept.extend(Box3(centre - reach, centre + reach));
  }
  return swept;
}

}  // namespace

MeshImpactSearch::MeshImpactSearch(const PreparedShape& a, const ShapeMotion& motion_a,
                                   const PreparedShape& b, const ShapeMotion& motion_b, double tolerance,
                                   DecideImpact decide)
    : a_(surface_of(a)),
      b_(surface_of(b)),
      boyse_a_(a_.boyse()),
      boyse_b_(b_.boyse()),
      motion_a_(motion_a),
      motion_b_(motion_b),
      tolerance_(tolerance),
      decide_(std::move(decide)),
      centre_a_(motion_a.X_ws.point_to_local(motion_a.centre)),
      radius_a_(centre_a_.norm() + a.radius),
      touch_margin_(kTouchMargin * std::min(a.radius, b.radius)),
      speed_(relative_reach(a, motion_a, b, motion_b)),
      face_size_(std::min(boyse_a_->face_size(), boyse_b_->face_size()))
{
}

double MeshImpactSearch::max_part() const
{
  const double turn = motion_a_.turn.norm() + motion_b_.turn.norm();
  return turn > 0 ? kMaxTurn / turn : std::numeric_limits<double>::infinity();
}

Pose MeshImpactSearch::relative_pose(double f) const
{
  return motion_b_.pose_at(f).inverse() * motion_a_.pose_at(f);
}

// Of (1): d^2 max|x''| / 8. In axes of b, with y from the centre of b to a point of a,
//     x'' = y'' - 2 w_b x y' + w_b x (w_b x y),
//     |y'| <= |v| + |w_a| r,   |y''| <= 2 |bend_a - bend_b| + |w_a|^2 r.
double MeshImpactSearch::way_over_chord(double from, double to) const
{
  const double d = to - from;
  const Vec3 bend = motion_a_.bend - motion_b_.bend;
  const Vec3 move = motion_a_.move - motion_b_.move;
  const double speed = std::max((move + 2 * from * bend).norm(), (move + 2 * to * bend).norm());
  const double turn_a = motion_a_.turn.norm();
  const double turn_b = motion_b_.turn.norm();
  const double distance = distance_from_b(from, d * speed);
  const double bound = 2 * bend.norm() + turn_a * turn_a * radius_a_ +
                       2 * turn_b * (speed + turn_a * radius_a_) + turn_b * turn_b * distance;
  return d * d * bound / 8;
}

// Bound of the distance of points of a from the centre of b within a way after f.
double MeshImpactSearch::distance_from_b(double f, double way) const
{
  const Vec3 move = motion_a_.move - motion_b_.move;
  const Vec3 bend = motion_a_.bend - motion_b_.bend;
  return (motion_a_.centre - motion_b_.centre + f * move + f * f * bend).norm() + way + radius_a_;
}

// How far a point of a gets in axes of b from where it is halfway, |x'| <= |y'| + |w_b| |y|.
double MeshImpactSearch::reach_from_middle(double from, double to) const
{
  const double d = to - from;
  const Vec3 bend = motion_a_.bend - motion_b_.bend;
  const Vec3 move = motion_a_.move - motion_b_.move;
  const double speed = std::max((move + 2 * from * bend).norm(), (move + 2 * to * bend).norm());
  return 0.5 * d *
         (speed + motion_a_.turn.norm() * radius_a_ +
          motion_b_.turn.norm() * distance_from_b(from, d * speed));
}

// The motion about the centre of mass of a or along its screw axis, whichever comes nearer, and (1).
double MeshImpactSearch::choose_split(double from, double to, SplitMotion& motion) const
{
  const Pose X_from = relative_pose(from);
  const Pose X_to = relative_pose(to);
  motion = split_motion(X_from, X_to, centre_a_);
  double error = split_over_chord(motion, radius_a_);
  if (error > 0) {
    const SplitMotion screw = screw_motion(X_from, X_to);
    const double distance = (screw.translated(1).point(centre_a_) - screw.centre).norm();
    const double screw_error = split_over_chord(screw, radius_a_ + distance);
    if (distance <= kMaxAxisDistance * radius_a_ && screw_error < error) {
      motion = screw;
      error = screw_error;
    }
  }
  return error + way_over_chord(from, to);
}

// The faces of each mesh that reach into what the box of the other sweeps.
bool MeshImpactSearch::clip_faces(const SplitMotion& motion, double margin, Part& part) const
{
  b_.bvh.triangles_in_box(swept_box(a_.bvh.bounds(), motion, margin), part.faces_b);
  if (part.faces_b.empty()) return false;
  a_.bvh.triangles_in_box(swept_box(b_.bvh.bounds(), seen_from_mover(motion), margin), part.faces_a);
  return !part.faces_a.empty();
}

TimeOfImpact MeshImpactSearch::find(double from, double to)
{
  Part whole{from, to, 0, {}, {}, {}};
  SplitMotion motion;
  const double error = choose_split(from, to, motion);
  if (!clip_faces(motion, error + touch_margin_, whole)) return kNoImpact;
  return search(whole);
}

// The pairs of faces that can touch in a part, by the z-list. Drawn is what they sweep or, where they move by
// less than their size, where they are halfway, with the rest of the way as the margin: boxes about the ways
// of large slanted faces would list all of them.
const ZListResult& MeshImpactSearch::draw(const Part& part, const SplitMotion& motion, double margin,
                                          double reach)
{
  ZListBody a{.mesh = &a_.bvh.mesh(), .faces = part.faces_a, .bounds = a_.bvh.bounds()};
  ZListDesc desc;
  desc.list_inside = false;
  desc.margin = margin;
  if (reach < face_size_) {
    a.X_w = relative_pose(0.5 * (part.from + part.to));
    desc.margin += reach;
  } else {
    a.motion = &motion;
  }
  return buffer_.find(a, {.mesh = &b_.bvh.mesh(), .faces = part.faces_b, .bounds = b_.bvh.bounds()}, desc);
}

// Pixels do not tell gaps apart that are smaller than they are, the distance halfway does. Without it a mesh
// of small faces near one of a few large faces keeps all its pairs however short the part.
void MeshImpactSearch::remove_distant(const Part& part, double margin,
                                      std::vector<mesh::TrianglePair>& pairs) const
{
  const Pose X_ba = relative_pose(0.5 * (part.from + part.to));
  std::erase_if(pairs, [&](const mesh::TrianglePair& pair) {
    std::array<Vec3, 3> moved = boyse_a_->corners(pair.a);
    for (Vec3& corner : moved) corner = X_ba.point(corner);
    return mesh::squared_distance_of_triangles(moved, boyse_b_->corners(pair.b)) > margin * margin;
  });
}

TimeOfImpact MeshImpactSearch::search(const Part& part)
{
  if (++searches_ > kMaxSearches) return {part.from, true};
  SplitMotion motion;
  const double error = choose_split(part.from, part.to, motion);
  const double margin = error + touch_margin_;
  const double reach = reach_from_middle(part.from, part.to);
  std::vector<mesh::TrianglePair> pairs = part.pairs;
  const ZListResult* found = nullptr;
  if (pairs.empty()) {
    found = &draw(part, motion, margin, reach);
    pairs = found->pairs;
  }
  remove_distant(part, margin + reach, pairs);
  const bool has_few_pairs = pairs.size() <= kManyPairs;
  if (pairs.empty()) return kNoImpact;
  const bool is_exact = error <= kErrorShare * tolerance_ || part.cuts >= kMaxCuts;
  if (is_exact && (has_few_pairs || part.cuts >= kMaxFaceCuts)) return test(motion, part, pairs);
  const double middle = 0.5 * (part.from + part.to);
  Part half{part.from, middle, part.cuts + 1, {}, {}, {}};
  if (has_few_pairs) {
    half.pairs = std::move(pairs);
  } else {
    half.faces_a = found->faces_a;
    half.faces_b = found->faces_b;
  }
  const TimeOfImpact first = search(half);
  if (first.found()) return first;
  half.from = middle;
  half.to = part.to;
  return search(half);
}

TimeOfImpact MeshImpactSearch::test(const SplitMotion& motion, const Part& part,
                                    std::span<const mesh::TrianglePair> pairs) const
{
  const BoyseImpact impact = find_first_impact(*boyse_a_, *boyse_b_, motion, pairs);
  const double arm = (motion.translated(1).point(centre_a_) - motion.centre).norm() + radius_a_;
  const double share = impact.found ? time_share(motion, impact, arm) : 1.0;
  const double fraction = part.from + (part.to - part.from) * share;
  if (impact.unconfirmed > 0) {
    const TimeOfImpact decided = decide_(pairs, part.from, fraction);
    if (decided.found()) return decided;
  }
  if (!impact.found) return kNoImpact;
  return {std::max(0.0, fraction - tolerance_ / speed_), false};
}

}  // namespace thrum::collision
