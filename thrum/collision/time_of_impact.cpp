// SPDX-License-Identifier: MIT
#include "thrum/collision/time_of_impact.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/collision/convex.h"
#include "thrum/collision/gjk.h"
#include "thrum/collision/impact_contacts.h"
#include "thrum/collision/mesh_impact.h"
#include "thrum/collision/pair_scratch.h"
#include "thrum/collision/triangle_surface.h"

namespace thrum::collision {

namespace {

/// Distances that a search for one pair may compute.
constexpr int kMaxSteps = 5000;
/// Pieces of the way along which the triangles of a mesh are listed again.
constexpr int kMaxPieces = 256;
/// A piece is this share of the size of the two at least.
constexpr double kPieceShare = 1.0 / 32;
/// Depths computed at most for a pair with a mesh that touches at the start.
constexpr int kMaxSamples = 64;
/// Such a pair moves by this share of its width from one depth to the next.
constexpr double kSampleShare = 0.25;
/// Shapes that overlap by more than this share of the sum of their widths have passed the middle: the way out
/// may be the wrong one, and stopping them would hold them there.
constexpr double kDeepestShare = 0.4;
/// By how much a pair that is beyond the allowed depth may get deeper in a slice, as a share of the gap at
/// which searches end. Smaller shares take more steps of a search.
constexpr double kHeldShare = 0.1;
constexpr double kAnyDistance = std::numeric_limits<double>::infinity();
constexpr TimeOfImpact kNoImpact{};

bool is_surface(const PreparedShape& shape)
{
  return shape.kind == model::ShapeKind::mesh || shape.kind == model::ShapeKind::height_field;
}

const TriangleSurface& surface_of(const PreparedShape& shape)
{
  return static_cast<const TriangleSurface&>(*shape.accelerator);
}

// Planes are solid all the way down, and surfaces without an inside push what is in front of them only: the
// way out of them is never the wrong one.
bool is_one_sided(const PreparedShape& shape)
{
  return shape.kind == model::ShapeKind::plane || (is_surface(shape) && !surface_of(shape).field);
}

/// Two motions and how fast points of the two shapes can approach each other.
struct Approach {
  const ShapeMotion& a;
  const ShapeMotion& b;
  double radius_a;  ///< about the centre, of what turns [m]
  double radius_b;

  [[nodiscard]] Vec3 velocity(double f) const { return a.move - b.move + 2 * f * (a.bend - b.bend); }
  /// Largest speed of approach along n from f on: the denominator of (2).
  [[nodiscard]] double along(const Vec3& n, double f) const
  {
    return std::max(n.dot(velocity(f)), n.dot(velocity(1))) + n.cross(a.turn).norm() * radius_a +
           n.cross(b.turn).norm() * radius_b;
  }
  /// Likewise along any direction.
  [[nodiscard]] double any(double f) const
  {
    return std::sqrt(std::max(velocity(f).squaredNorm(), velocity(1).squaredNorm())) +
           a.turn.norm() * radius_a + b.turn.norm() * radius_b;
  }
};

double radius_about_centre(const PreparedShape& shape, const ShapeMotion& motion, double rounding)
{
  if (shape.unbounded) return 0;
  return (motion.X_ws.position - motion.centre).norm() + shape.radius - rounding;
}

struct Gap {
  double distance = 0;          ///< negative: minus the depth [m]
  double bound = 0;             ///< how far the shapes lie apart along the normal: at most the distance [m]
  Vec3 normal = Vec3::UnitZ();  ///< unit, from a to b
};

struct Limits {
  double touch_gap;
  double allowed_depth;
  double deepest;
  bool in_contact;
  bool touching_counts;  ///< pairs that touch at the start may go on to the allowed depth

  /// How deep a pair may get that begins at `depth`. One that is beyond the allowed depth gets no deeper than
  /// the search can tell, or it would pass bit by bit: a step can have 256 slices.
  [[nodiscard]] double depth_from(double depth) const
  {
    const double held = depth + tolerance_from(depth);
    return std::min(std::max(allowed_depth, held), std::max(deepest, held));
  }

  /// How near to its end a search that begins at `depth` may stop.
  [[nodiscard]] double tolerance_from(double depth) const
  {
    return depth > allowed_depth ? kHeldShare * touch_gap : touch_gap;
  }
};

Gap gap_between(const ConvexView& a, const Pose& X_a, const ConvexView& b, const Pose& X_b)
{
  const ConvexDistance d = convex_distance(a, b, X_a.inverse() * X_b, kAnyDistance);
  Gap gap;
  gap.distance = d.distance - a.radius - b.radius;
  gap.normal = X_a.direction(d.normal);
  const Vec3 from = X_a.point(support(a, d.normal));
  const Vec3 to = X_b.point(support(b, X_b.direction_to_local(-gap.normal)));
  gap.bound = gap.normal.dot(to - from) - a.radius - b.radius;
  return gap;
}

// Equation (2), from fraction `from` to `to`.
template <class GapAt>
TimeOfImpact advance(const GapAt& gap_at, const Approach& approach, const Limits& limits, double from,
                     double to, int& steps)
{
  double t = from;
  double end_gap = limits.touch_gap;
  double tolerance = limits.touch_gap;
  for (bool first = true; steps < kMaxSteps; first = false, ++steps) {
    const Gap gap = gap_at(t);
    const bool touches =
        first && (limits.in_contact || (limits.touching_counts && gap.distance <= 2 * limits.touch_gap));
    if (touches) {
      if (gap.distance < -limits.deepest) return kNoImpact;
      end_gap = -limits.depth_from(-gap.distance);
      tolerance = limits.tolerance_from(-gap.distance);
    } else if (gap.distance <= end_gap + 0.5 * tolerance) {
      return {t, false};
    }
    if (gap.bound > end_gap) {
      const double speed = approach.along(gap.normal, t);
      if (!(speed > 0)) return kNoImpact;
      t += (gap.bound - end_gap) / speed;
    } else {
      // At a gap near 0 the direction of the nearest points can be mostly rounding.
      t += std::max(gap.distance - end_gap, 0.1 * tolerance) / approach.any(t);
    }
    if (!(t < to)) return kNoImpact;
  }
  return {t, true};
}

/// Two shapes of which neither is a compound.
class PairSearch {
 public:
  PairSearch(const PreparedShape& a, const ShapeMotion& motion_a, const PreparedShape& b,
             const ShapeMotion& motion_b, const ImpactDesc& desc, const PairTable& table)
      : a_(a), b_(b), motion_a_(motion_a), motion_b_(motion_b), desc_(desc), table_(table)
  {
    const double wa = std::isfinite(a.width) ? a.width : 0;
    const double wb = std::isfinite(b.width) ? b.width : 0;
    const double deepest = is_one_sided(b) ? kAnyDistance : kDeepestShare * (wa + wb);
    limits_ = {desc.touch_gap, desc.allowed_depth, deepest, desc.in_contact, true};
  }

  [[nodiscard]] TimeOfImpact run()
  {
    if (b_.kind == model::ShapeKind::plane) return against_plane();
    if (is_convex(a_.kind) && is_convex(b_.kind)) return convex();
    return triangles();
  }

 private:
  [[nodiscard]] TimeOfImpact convex()
  {
    const ConvexView view_a = convex_view(a_);
    const ConvexView view_b = convex_view(b_);
    const Approach approach{motion_a_, motion_b_, radius_about_centre(a_, motion_a_, view_a.radius),
                            radius_about_centre(b_, motion_b_, view_b.radius)};
    const auto gap_at = [&](double f) {
      return gap_between(view_a, motion_a_.pose_at(f), view_b, motion_b_.pose_at(f));
    };
    return advance(gap_at, approach, limits_, 0, desc_.max_fraction, steps_);
  }

  [[nodiscard]] TimeOfImpact against_plane()
  {
    const double rounding = is_convex(a_.kind) ? convex_view(a_).radius : 0;
    const Approach approach{motion_a_, motion_b_, radius_about_centre(a_, motion_a_, rounding), 0};
    const Vec3 n = motion_b_.X_ws.direction(-Vec3::UnitZ());
    const auto gap_at = [&](double f) {
      const Pose X = motion_a_.pose_at(f);
      const double distance =
          -n.dot(X.point(farthest_along(X.direction_to_local(n))) - motion_b_.X_ws.position) - rounding;
      return Gap{distance, distance, n};
    };
    return advance(gap_at, approach, limits_, 0, desc_.max_fraction, steps_);
  }

  // The point of a's core, or of its mesh, farthest along d.
  [[nodiscard]] Vec3 farthest_along(const Vec3& d) const
  {
    if (is_convex(a_.kind)) return support(convex_view(a_), d);
    const std::vector<Vec3>& vertices = surface_of(a_).bvh.mesh().vertices;
    return *std::max_element(vertices.begin(), vertices.end(),
                             [&](const Vec3& p, const Vec3& q) { return p.dot(d) < q.dot(d); });
  }

  // b is a mesh or a height field, a may be one.
  [[nodiscard]] TimeOfImpact triangles()
  {
    const double start_depth = depth_at(0);
    if (desc_.in_contact || start_depth > -2 * desc_.touch_gap) return sample_depth(start_depth);
    const Approach approach{motion_a_, motion_b_, radius_about_centre(a_, motion_a_, 0),
                            radius_about_centre(b_, motion_b_, 0)};
    const double piece = std::max(std::min(a_.radius, b_.radius), kPieceShare * (a_.radius + b_.radius));
    limits_.touching_counts = false;
    std::optional<MeshImpactSearch> by_z_list;
    if (uses_z_list())
      by_z_list.emplace(a_, motion_a_, b_, motion_b_, desc_.touch_gap,
                        [&](std::span<const mesh::TrianglePair> faces, double from, double to) {
                          pairs_.assign(faces.begin(), faces.end());
                          return first_of_triangles(from, to);
                        });
    double t = 0;
    for (int k = 0; k < kMaxPieces; ++k) {
      const double speed = approach.any(t);
      const Pose X_wa = motion_a_.pose_at(t);
      const Pose X_wb = motion_b_.pose_at(t);
      const double apart = (X_wa.position - X_wb.position).norm() - a_.radius - b_.radius;
      if (apart > piece) {
        t += apart / speed;
      } else {
        // What is farther apart than the rest of the way is not met on it.
        double end = std::min(t + piece / speed, desc_.max_fraction);
        if (by_z_list) {
          end = std::min(end, t + by_z_list->max_part());
          const TimeOfImpact impact = by_z_list->find(t, end);
          if (impact.found()) return impact;
          t = end;
          if (!(t < desc_.max_fraction)) return kNoImpact;
          continue;
        }
        list_near_triangles(X_wa, X_wb, speed * (end - t) + 2 * desc_.touch_gap);
        const TimeOfImpact impact = first_of_triangles(t, end);
        if (impact.found()) return impact;
        t = end;
      }
      if (!(t < desc_.max_fraction)) return kNoImpact;
    }
    return {t, true};
  }

  [[nodiscard]] bool uses_z_list() const
  {
    return has_boyse_impacts(table_) && is_surface(a_) && desc_.touch_gap > 0 &&
           std::isfinite(desc_.touch_gap);
  }

  void list_near_triangles(const Pose& X_wa, const Pose& X_wb, double margin)
  {
    pairs_.clear();
    const TriangleSurface& b = surface_of(b_);
    if (is_surface(a_)) {
      mesh::Bvh::for_each_near_pair(surface_of(a_).bvh, X_wa, b.bvh, X_wb, margin, [&](Index i, Index j) {
        pairs_.push_back({i, j});
        return true;
      });
      return;
    }
    std::vector<Index> list;
    const Pose X_ba = X_wb.inverse() * X_wa;
    b.bvh.triangles_in_box(world_bounds(a_, X_ba, margin), list);
    for (const Index j : list) {
      // An open surface pushes what is in front of it only.
      if (!b.field && b.normals[at(j)].dot(X_ba.position - b.bvh.mesh().corner(at(j), 0)) < 0) continue;
      pairs_.push_back({-1, j});
    }
  }

  [[nodiscard]] TimeOfImpact first_of_triangles(double from, double to)
  {
    TimeOfImpact best;
    for (const mesh::TrianglePair& pair : pairs_) {
      const PlacedTriangle b(surface_of(b_), pair.b, motion_b_);
      const auto visit = [&](const ConvexView& view, const ShapeMotion& motion, double radius) {
        const Approach approach{motion, b.motion, radius, b.radius};
        const auto gap_at = [&](double f) {
          return gap_between(view, motion.pose_at(f), b.view, b.motion.pose_at(f));
        };
        const TimeOfImpact impact = advance(gap_at, approach, limits_, from, to, steps_);
        if (!impact.found()) return;
        best = impact;
        to = impact.fraction;
      };
      if (pair.a >= 0) {
        const PlacedTriangle a(surface_of(a_), pair.a, motion_a_);
        visit(a.view, a.motion, a.radius);
      } else {
        const ConvexView view = convex_view(a_);
        visit(view, motion_a_, radius_about_centre(a_, motion_a_, view.radius));
      }
    }
    return best;
  }

  // Largest overlap of the two, as contacts see it; minus infinity when they do not touch [m].
  [[nodiscard]] double depth_at(double f)
  {
    PairInput pair;
    pair.a = &a_;
    pair.b = &b_;
    pair.X_wa = motion_a_.pose_at(f);
    pair.X_wb = motion_b_.pose_at(f);
    pair.margin = 2 * desc_.touch_gap;
    pair.table = &table_;
    pair.scratch = &scratch_;
    patches_.clear();
    table_.collide(pair, patches_);
    double depth = -std::numeric_limits<double>::infinity();
    for (const model::ContactPatch& patch : patches_) {
      for (const model::ContactPoint& point : patch.active()) depth = std::max(depth, point.depth);
    }
    return depth;
  }

  // A surface without an inside pushes a convex shape as long as the origin of its axes is in front of it.
  // Where that gets behind between two samples the contact is gone, however deep it was.
  [[nodiscard]] bool gets_behind(double from, double to) const
  {
    if (!is_convex(a_.kind) || !is_one_sided(b_)) return false;
    const auto origin_at = [&](double f) {
      return motion_b_.pose_at(f).point_to_local(motion_a_.pose_at(f).position);
    };
    const Vec3 start = origin_at(from);
    const Vec3 way = origin_at(to) - start;
    const double length = way.norm();
    if (!(length > 0)) return false;
    const mesh::RayHit hit = surface_of(b_).bvh.first_hit({start, way / length, length});
    return hit.found() && surface_of(b_).normals[at(hit.triangle)].dot(way) < 0;
  }

  // Meshes that touch at the start: their triangles give no depth, contacts do.
  [[nodiscard]] TimeOfImpact sample_depth(double start_depth)
  {
    if (start_depth > limits_.deepest) return kNoImpact;
    const double limit = limits_.depth_from(start_depth);
    const Approach approach{motion_a_, motion_b_, radius_about_centre(a_, motion_a_, 0),
                            radius_about_centre(b_, motion_b_, 0)};
    const double speed = approach.any(0);
    if (!(speed > 0)) return kNoImpact;
    const double step = kSampleShare * thinner_width(a_, b_) / speed;
    double t = 0;
    for (int k = 0; k < kMaxSamples; ++k) {
      const double next = std::min(t + step, desc_.max_fraction);
      if (depth_at(next) > limit || gets_behind(t, next)) return {t, false};
      if (next == desc_.max_fraction) return kNoImpact;
      t = next;
    }
    return {t, true};
  }

  /// A triangle as a convex shape with its first corner as origin, so that the search for the distance starts
  /// towards it.
  struct PlacedTriangle {
    ConvexView view;
    ShapeMotion motion;
    double radius = 0;

    PlacedTriangle(const TriangleSurface& surface, Index t, const ShapeMotion& of_mesh) : motion(of_mesh)
    {
      const auto corner = [&](int k) {
        return surface.bvh.mesh().corner(at(t), k);
      };
      view.core = ConvexView::Core::triangle;
      for (int k = 0; k < 3; ++k) {
        view.corners[at(k)] = corner(k) - corner(0);
        radius = std::max(radius, (of_mesh.X_ws.point(corner(k)) - of_mesh.centre).norm());
      }
      motion.X_ws.position = of_mesh.X_ws.point(corner(0));
    }
  };

  const PreparedShape& a_;
  const PreparedShape& b_;
  const ShapeMotion& motion_a_;
  const ShapeMotion& motion_b_;
  const ImpactDesc& desc_;
  const PairTable& table_;
  Limits limits_{};
  int steps_ = 0;
  std::vector<mesh::TrianglePair> pairs_;
  std::vector<model::ContactPatch> patches_;
  PairScratch scratch_;
};

ShapeMotion motion_of_part(const ShapeMotion& motion, const Pose& X_sp)
{
  ShapeMotion part = motion;
  part.X_ws = motion.X_ws * X_sp;
  return part;
}

}  // namespace

Pose ShapeMotion::pose_at(double f) const
{
  const Vec3 shift = f * move + f * f * bend;
  const double angle = turn.norm();
  if (angle == 0) return {X_ws.position + shift, X_ws.rotation};
  const Quat q(Eigen::AngleAxisd(f * angle, turn / angle));
  return {centre + shift + q * (X_ws.position - centre), q * X_ws.rotation};
}

double thinner_width(const PreparedShape& a, const PreparedShape& b)
{
  return std::min(a.width, b.width);
}

double relative_reach(const PreparedShape& a, const ShapeMotion& motion_a, const PreparedShape& b,
                      const ShapeMotion& motion_b)
{
  const auto rounding = [](const PreparedShape& shape) {
    return is_convex(shape.kind) ? convex_view(shape).radius : 0.0;
  };
  const Approach approach{motion_a, motion_b, radius_about_centre(a, motion_a, rounding(a)),
                          radius_about_centre(b, motion_b, rounding(b))};
  return approach.any(0);
}

TimeOfImpact time_of_impact(const PreparedShape& a, const ShapeMotion& motion_a, const PreparedShape& b,
                            const ShapeMotion& motion_b, const ImpactDesc& desc, const PairTable& table)
{
  if (a.kind == model::ShapeKind::compound || b.kind == model::ShapeKind::compound) {
    const bool split_a = a.kind == model::ShapeKind::compound;
    const PreparedShape& whole = split_a ? a : b;
    const auto& compound = whole.as<model::Compound>();
    ImpactDesc rest = desc;
    TimeOfImpact best;
    for (std::size_t i = 0; i < whole.parts.size(); ++i) {
      const ShapeMotion part = motion_of_part(split_a ? motion_a : motion_b, compound.parts[i].X_sp);
      const TimeOfImpact impact = split_a ? time_of_impact(whole.parts[i], part, b, motion_b, rest, table)
                                          : time_of_impact(a, motion_a, whole.parts[i], part, rest, table);
      if (!impact.found()) continue;
      best = impact;
      rest.max_fraction = impact.fraction;
    }
    return best;
  }
  // The plane, or else the mesh, comes second; of two meshes searched by z-list the larger one.
  const bool swapped =
      a.unbounded || (!is_convex(a.kind) && is_convex(b.kind)) || a.kind == model::ShapeKind::height_field ||
      (has_boyse_impacts(table) && is_surface(a) && b.kind == model::ShapeKind::mesh && b.radius < a.radius);
  return swapped ? PairSearch(b, motion_b, a, motion_a, desc, table).run()
                 : PairSearch(a, motion_a, b, motion_b, desc, table).run();
}

bool is_overlapping(const PreparedShape& a, const Pose& X_wa, const PreparedShape& b, const Pose& X_wb,
                    const PairTable& table)
{
  PairScratch scratch;
  std::vector<model::ContactPatch> patches;
  PairInput pair;
  pair.a = &a;
  pair.b = &b;
  pair.X_wa = X_wa;
  pair.X_wb = X_wb;
  pair.table = &table;
  pair.scratch = &scratch;
  table.collide(pair, patches);
  return std::any_of(patches.begin(), patches.end(), [](const model::ContactPatch& patch) {
    const auto points = patch.active();
    return std::any_of(points.begin(), points.end(), [](const auto& point) { return point.depth > 0; });
  });
}

TimeOfImpact bisect_impact(const PreparedShape& a, const ShapeMotion& motion_a, const PreparedShape& b,
                           const ShapeMotion& motion_b, const ImpactDesc& desc, const PairTable& table)
{
  const double reach = relative_reach(a, motion_a, b, motion_b);
  if (!(reach > 0) || desc.in_contact) return kNoImpact;
  const auto overlaps_at = [&](double f) {
    return is_overlapping(a, motion_a.pose_at(f), b, motion_b.pose_at(f), table);
  };
  // What overlaps already and was given no contact may go no deeper than the bounds let it.
  if (overlaps_at(0)) return time_of_impact(a, motion_a, b, motion_b, desc, table);
  const double width = thinner_width(a, b);
  const double step = std::isfinite(width) ? kSampleShare * width / reach : 1.0;
  const auto bisect = [&](double low, double high) {
    while ((high - low) * reach > desc.touch_gap) {
      const double middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      (overlaps_at(middle) ? high : low) = middle;
    }
    return TimeOfImpact{low, false};
  };
  // Up to here the bounds of the motion rule an impact out. A touch that is over before the next sample, as
  // of a ball that grazes an edge, is where the bounds end.
  const TimeOfImpact bound = time_of_impact(a, motion_a, b, motion_b, desc, table);
  if (!bound.found()) return kNoImpact;
  if (bound.fraction > 0 && !bound.limited) {
    const double next = std::min(bound.fraction + step, desc.max_fraction);
    return overlaps_at(next) ? bisect(bound.fraction, next) : bound;
  }
  // Within the touch gap at the start, where the bounds say nothing: by samples.
  double low = bound.limited ? bound.fraction : 0.0;
  for (int k = 0; k < kMaxSteps; ++k) {
    // No search while even the spheres about the shapes are apart.
    double apart = 0;
    if (!a.unbounded && !b.unbounded) {
      const double gap =
          (motion_a.pose_at(low).position - motion_b.pose_at(low).position).norm() - a.radius - b.radius;
      apart = std::max(0.0, gap) / reach;
    }
    double high = std::min(low + apart + step, desc.max_fraction);
    if (overlaps_at(high)) {
      low += std::min(apart, high - low);
      return bisect(low, high);
    }
    if (!(high < desc.max_fraction)) return kNoImpact;
    low = high;
  }
  return {low, true};
}

}  // namespace thrum::collision
