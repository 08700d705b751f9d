// SPDX-License-Identifier: MIT
#include "thrum/collision/patch_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "thrum/base/index.h"

namespace thrum::collision {

namespace {

/// Points of a surface that bends push the same way when their normals differ by less (cosine of about 2.5
/// degrees).
constexpr double kSameDirection = 0.999;
/// A face less than this turned away from the contact normal can carry a patch (cosine, about 10 degrees).
constexpr double kFlatEnough = 0.985;
/// Segments more parallel than this touch along a line (sine of the angle between them).
constexpr double kParallel = 0.05;
/// Features that were made by clipping are numbered from here, so as not to be taken for corners.
constexpr std::uint32_t kClipped = 0x10000;
/// The nearest point is added when clipping found nothing within this share of the margin of its depth.
constexpr double kLostShare = 0.25;
constexpr std::uint32_t kNearestFeature = 0xfffff;
/// How much depth a point may lack for each metre that it lies farther in the preferred direction, and
/// distance likewise.
constexpr double kDepthTie = 0.002;
constexpr double kPlaceTie = 0.01;
/// Points are in touch up to this gap, as a share of the extent of all of them: a plate of 0.25 m up to 0.25
/// mm.
constexpr double kTouchGap = 1e-3;
/// A point in touch is taken before one that hovers when it spans at least this share of what that one would.
constexpr double kTouchPreference = 0.45;

Vec3 normal_of(const SupportFace& face)
{
  // Newell's sum over the corners, good for any number of them.
  Vec3 n = Vec3::Zero();
  for (int i = 0; i < face.count; ++i) {
    const Vec3& p = face.corners[at(i)];
    const Vec3& q = face.corners[at((i + 1) % face.count)];
    n += p.cross(q);
  }
  return n;
}

// Keeps what lies on the inner side of the plane side . x <= offset (Sutherland and Hodgman).
void clip(ClipScratch& scratch, const Vec3& side, double offset, std::uint32_t edge)
{
  std::vector<ClipPoint>& polygon = scratch.polygon;
  std::vector<ClipPoint>& clipped = scratch.clipped;
  clipped.clear();
  const std::size_t n = polygon.size();
  const bool closed = n > 2;
  for (std::size_t i = 0; i < n; ++i) {
    const ClipPoint& p = polygon[i];
    const double dp = side.dot(p.p) - offset;
    if (dp <= 0) clipped.push_back(p);
    if (!closed && i + 1 == n) break;
    const ClipPoint& q = polygon[(i + 1) % n];
    const double dq = side.dot(q.p) - offset;
    if ((dp < 0 && dq > 0) || (dp > 0 && dq < 0)) {
      const double t = dp / (dp - dq);
      const ClipPoint& outer = dp > 0 ? p : q;
      const std::uint32_t from = dp > 0 ? 2 * outer.incident : 2 * outer.incident + 1;
      clipped.push_back({p.p + t * (q.p - p.p), kClipped + (from & 0xffff), kClipped + edge});
    }
  }
  polygon.swap(clipped);
}

}  // namespace

void clip_convex_contact(const ConvexView& a, const ConvexView& b, const Pose& X_ab, const ConvexDistance& d,
                         double margin, ClipScratch& scratch, std::vector<CandidatePoint>& points)
{
  const Vec3& n = d.normal;
  const double radii = a.radius + b.radius;
  const double deepest = radii - d.distance;
  const auto add_nearest = [&] {
    const Vec3 on_a = d.on_a + a.radius * n;
    const Vec3 on_b = d.on_b - b.radius * n;
    points.push_back({0.5 * (on_a + on_b), deepest, kNearestFeature, kNearestFeature});
  };
  if (a.core == ConvexView::Core::point || b.core == ConvexView::Core::point) return add_nearest();

  // The two faces that look at each other, both in axes of a.
  SupportFace face_a;
  SupportFace face_b;
  support_face(a, n, face_a);
  support_face(b, -X_ab.direction_to_local(n), face_b);
  for (int i = 0; i < face_b.count; ++i) {
    face_b.corners[at(i)] = X_ab.point(face_b.corners[at(i)]);
  }
  Vec3 normal_a = face_a.count > 2 ? normal_of(face_a) : Vec3::Zero();
  Vec3 normal_b = face_b.count > 2 ? normal_of(face_b) : Vec3::Zero();
  const double length_a = normal_a.norm();
  const double length_b = normal_b.norm();
  const double along_a = length_a > 0 ? normal_a.dot(n) / length_a : -1;
  const double along_b = length_b > 0 ? -normal_b.dot(n) / length_b : -1;

  // The reference is the face more square to the normal. Two segments serve when they are parallel.
  bool a_is_reference = along_a >= along_b;
  const bool two_segments = face_a.count == 2 && face_b.count == 2;
  if (two_segments) {
    const Vec3 ea = face_a.corners[1] - face_a.corners[0];
    const Vec3 eb = face_b.corners[1] - face_b.corners[0];
    if (ea.cross(eb).norm() > kParallel * ea.norm() * eb.norm()) return add_nearest();
    a_is_reference = true;
  } else if (std::max(along_a, along_b) < kFlatEnough) {
    return add_nearest();
  }
  const SupportFace& reference = a_is_reference ? face_a : face_b;
  const SupportFace& incident = a_is_reference ? face_b : face_a;
  const Vec3 outward = a_is_reference ? n : Vec3(-n);

  std::vector<ClipPoint>& polygon = scratch.polygon;
  polygon.clear();
  for (int i = 0; i < incident.count; ++i) {
    const std::size_t k = at(i);
    polygon.push_back({incident.corners[k], incident.features[k], reference.face});
  }
  const Vec3 ref_edge = reference.corners[1] - reference.corners[0];
  if (reference.count == 2) {
    clip(scratch, -ref_edge, -ref_edge.dot(reference.corners[0]), 0);
    clip(scratch, ref_edge, ref_edge.dot(reference.corners[1]), 1);
  } else {
    for (int i = 0; i < reference.count && !polygon.empty(); ++i) {
      const Vec3& p = reference.corners[at(i)];
      const Vec3& q = reference.corners[at((i + 1) % reference.count)];
      const Vec3 side = (q - p).cross(outward);
      clip(scratch, side, side.dot(p), static_cast<std::uint32_t>(i));
    }
  }

  // Depth of each point under the reference plane, measured along the contact normal.
  const Vec3 plane =
      reference.count == 2 ? outward : Vec3(a_is_reference ? normal_a / length_a : normal_b / length_b);
  const double offset = plane.dot(reference.corners[0]);
  const double slope = plane.dot(outward);
  double found = -std::numeric_limits<double>::infinity();
  for (const ClipPoint& point : polygon) {
    const double core_depth = (offset - plane.dot(point.p)) / slope;
    const double depth = std::min(core_depth + radii, deepest);
    if (depth <= -margin) continue;
    found = std::max(found, depth);
    // From the incident core's surface to the middle of the overlap.
    const double radius = a_is_reference ? b.radius : a.radius;
    const Vec3 position = point.p - outward * radius + outward * (0.5 * depth);
    if (a_is_reference) {
      points.push_back({position, depth, point.reference, point.incident});
    } else {
      points.push_back({position, depth, point.incident, point.reference});
    }
  }
  if (found < deepest - kLostShare * margin) add_nearest();
}

void reduce_to_four(const Vec3& normal, std::vector<CandidatePoint>& points)
{
  if (points.size() <= 4) return;
  // Where several are as good, as on a ring that lies on a plane, a fixed direction decides: otherwise
  // rounding would choose others in each step, and none would find the impulse it had.
  const Vec3 preferred = Vec3(0.86, 0.43, 0.28) - normal * normal.dot(Vec3(0.86, 0.43, 0.28));
  Box3 box;
  double deepest = -std::numeric_limits<double>::infinity();
  for (const CandidatePoint& p : points) {
    box.extend(p.position);
    deepest = std::max(deepest, p.depth);
  }
  const double touch_depth = std::min(0.0, deepest) - kTouchGap * box.diagonal().norm();
  struct Best {
    std::size_t index = 0;
    double score = -std::numeric_limits<double>::infinity();
  };
  // The margin grows with the step and lets in points that hover above the surface. A patch of these carries
  // nothing: those that touch go first, unless all of them lie on one side.
  const auto pick = [&](std::size_t place, auto&& score) {
    Best touching;
    Best any;
    for (std::size_t i = place; i < points.size(); ++i) {
      const double value = score(points[i]);
      if (value > any.score) any = {i, value};
      if (points[i].depth >= touch_depth && value > touching.score) touching = {i, value};
    }
    const bool prefer = touching.score > 0 && touching.score >= kTouchPreference * any.score;
    std::swap(points[place], points[prefer ? touching.index : any.index]);
  };
  // The deepest point comes first.
  pick(0, [&](const CandidatePoint& p) {
    return p.depth - touch_depth + kDepthTie * preferred.dot(p.position - box.min());
  });
  const Vec3 p0 = points[0].position;
  // Then the one farthest from it.
  const Vec3 aside = kPlaceTie * preferred.cross(normal);
  pick(1, [&](const CandidatePoint& p) { return (p.position - p0).norm() + aside.dot(p.position - p0); });
  // Then the two that span the most area to either side of that line.
  const Vec3 line = points[1].position - p0;
  const Vec3 across = normal.cross(line);
  const Vec3 along = kPlaceTie * line;
  pick(2, [&](const CandidatePoint& p) {
    return std::abs(across.dot(p.position - p0)) + along.dot(p.position - p0);
  });
  const double sign = across.dot(points[2].position - p0) >= 0 ? 1.0 : -1.0;
  pick(3, [&](const CandidatePoint& p) {
    return -sign * across.dot(p.position - p0) + along.dot(p.position - p0);
  });
  points.resize(4);
}

void append_patch(const PairInput& pair, const Pose& X_wp, const Vec3& normal_p,
                  std::vector<CandidatePoint>& points, std::vector<model::ContactPatch>& patches)
{
  if (points.empty()) return;
  reduce_to_four(normal_p, points);
  model::ContactPatch patch;
  patch.part_a = pair.part_a;
  patch.part_b = pair.part_b;
  patch.normal = X_wp.direction(normal_p);
  for (const CandidatePoint& point : points) {
    model::ContactPoint& contact = patch.points[patch.count++];
    contact.position = X_wp.point(point.position);
    contact.depth = point.depth;
    contact.feature_a = point.feature_a;
    contact.feature_b = point.feature_b;
  }
  patches.push_back(patch);
}

void append_patches_by_normal(const PairInput& pair, const Pose& X_wp, double same_normal, double same_point,
                              std::span<const DirectedPoint> points,
                              std::vector<model::ContactPatch>& patches)
{
  std::array<NormalGroup, kMaxPatches>& groups = pair.scratch->groups;
  std::size_t count = 0;
  for (const DirectedPoint& p : points) {
    std::size_t r = 0;
    while (r < count && groups[r].normal.dot(p.normal) < same_normal) ++r;
    if (r == kMaxPatches) {
      ++pair.scratch->left_out;
      continue;
    }
    if (r == count) {
      groups[r].normal = p.normal;
      groups[r].points.clear();
      ++count;
    }
    std::vector<CandidatePoint>& mine = groups[r].points;
    const bool known = std::any_of(mine.begin(), mine.end(), [&](const CandidatePoint& q) {
      return (q.position - p.point.position).squaredNorm() < same_point * same_point;
    });
    if (!known) mine.push_back(p.point);
  }
  for (std::size_t r = 0; r < count; ++r)
    append_patch(pair, X_wp, groups[r].normal, groups[r].points, patches);
}

void append_every_point(const PairInput& pair, const Pose& X_wp, std::span<DirectedPoint> points,
                        std::vector<model::ContactPatch>& patches)
{
  Box3 box;
  for (const DirectedPoint& p : points) box.extend(p.point.position);
  if (points.empty()) return;
  std::array<Eigen::Index, 3> axes = {0, 1, 2};
  const Vec3 sizes = box.sizes();
  std::sort(axes.begin(), axes.end(), [&](Eigen::Index i, Eigen::Index j) { return sizes[i] > sizes[j]; });
  std::sort(points.begin(), points.end(), [&](const DirectedPoint& p, const DirectedPoint& q) {
    for (const Eigen::Index axis : axes) {
      if (p.point.position[axis] != q.point.position[axis])
        return p.point.position[axis] < q.point.position[axis];
    }
    return std::tie(p.point.feature_a, p.point.feature_b) < std::tie(q.point.feature_a, q.point.feature_b);
  });
  constexpr std::size_t kMaxPoints = 4;
  std::vector<CandidatePoint>& mine = pair.scratch->points;
  for (std::size_t begin = 0; begin < points.size();) {
    mine.clear();
    std::size_t end = begin;
    while (end < points.size() && mine.size() < kMaxPoints &&
           points[end].normal.dot(points[begin].normal) >= kSameDirection)
      mine.push_back(points[end++].point);
    append_patch(pair, X_wp, points[begin].normal, mine, patches);
    begin = end;
  }
}

}  // namespace thrum::collision
