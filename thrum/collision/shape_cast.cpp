// SPDX-License-Identifier: MIT
#include "thrum/collision/shape_cast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/collision/convex.h"
#include "thrum/collision/gjk.h"
#include "thrum/collision/queries.h"
#include "thrum/collision/triangle_surface.h"

namespace thrum::collision {

namespace {

/// Of the half diagonals of the two shapes' bounds.
constexpr double kMovingTolerance = 1e-6;
constexpr double kOtherTolerance = 1e-10;
/// Equation (1) converges quadratically, and by halves where the paths only graze.
constexpr int kMaxSteps = 128;
/// Gap at which the normal of shapes that touch at the start is measured, in tolerances.
constexpr double kNormalGap = 1e3;
/// Pieces into which a way through a mesh is cut at most.
constexpr double kMaxPieces = 64;
constexpr double kAnyDistance = std::numeric_limits<double>::infinity();

double half_diagonal(const PreparedShape& shape)
{
  return shape.unbounded ? 0 : 0.5 * shape.bounds.diagonal().norm();
}

Pose moved(const Pose& pose, const Vec3& way)
{
  return {pose.position + way, pose.rotation};
}

/// A convex shape on its way, in the axes of what it may hit.
struct MovingConvex {
  const ConvexView& view;
  Pose X;  ///< at the start
  Vec3 motion;
  double tolerance;
};

// What touches within the tolerance and would come closer by no more than that over the whole motion is not
// hit.
bool only_slides(const MovingConvex& a, double distance, double closing)
{
  return distance >= -a.tolerance && closing <= a.tolerance;
}

struct Gap {
  double distance = 0.0;  ///< found by GJK: exact or a little too great; negative: minus the depth [m]
  double bound = 0.0;     ///< how far the shapes lie apart along the normal: at most the true distance [m]
  Vec3 normal = Vec3::UnitZ();  ///< unit, from a to b
  Vec3 on_b = Vec3::Zero();     ///< nearest point of b [m]
};

Gap gap_between(const ConvexView& a, const Pose& X_a, const ConvexView& b, const Pose& X_b)
{
  const ConvexDistance d = convex_distance(a, b, X_a.inverse() * X_b, kAnyDistance);
  Gap gap;
  gap.distance = d.distance - a.radius - b.radius;
  gap.normal = X_a.direction(d.normal);
  gap.on_b = X_a.point(d.on_b) - b.radius * gap.normal;
  const Vec3 from = X_a.point(support(a, d.normal));
  const Vec3 to = X_b.point(support(b, X_b.direction_to_local(-gap.normal)));
  gap.bound = gap.normal.dot(to - from) - a.radius - b.radius;
  return gap;
}

// Equation (1), from fraction `from` to `to`. The steps use the gap along the normal, which is never too
// great. At a gap near 0 the direction of the nearest points is mostly rounding, so the normal is taken from
// the step before, or, at the start, from a little farther away.
std::optional<ShapeCastHit> cast_at_convex(const MovingConvex& a, const ConvexView& b, const Pose& X_b,
                                           double from, double to)
{
  double t = from;
  Vec3 normal = Vec3::Zero();
  for (int step = 0; step < kMaxSteps; ++step) {
    const Pose X_a = moved(a.X, t * a.motion);
    const Gap gap = gap_between(a.view, X_a, b, X_b);
    if (gap.distance <= a.tolerance || step + 1 == kMaxSteps) {
      if (step == 0) normal = gap.normal;
      if (step == 0 && gap.distance >= -a.tolerance) {
        const Vec3 back = -kNormalGap * a.tolerance * gap.normal;
        normal = gap_between(a.view, moved(X_a, back), b, X_b).normal;
      }
      if (only_slides(a, gap.distance, normal.dot(a.motion))) return std::nullopt;
      return ShapeCastHit{t, gap.on_b, -normal};
    }
    normal = gap.normal;
    const double closing = normal.dot(a.motion);
    if (closing <= 0) return std::nullopt;
    t += (gap.bound > 0 ? gap.bound : gap.distance) / closing;
    if (t > to) return std::nullopt;
  }
  return std::nullopt;
}

// Against the half-space z <= 0.
std::optional<ShapeCastHit> cast_at_plane(const MovingConvex& a, double to)
{
  const Vec3 down = -Vec3::UnitZ();
  const Vec3 lowest = a.X.point(support(a.view, a.X.direction_to_local(down))) + a.view.radius * down;
  const double closing = -a.motion.z();
  const double distance = lowest.z();
  double t = 0;
  if (distance <= a.tolerance) {
    if (only_slides(a, distance, closing)) return std::nullopt;
  } else {
    if (closing <= 0) return std::nullopt;
    t = distance / closing;
    if (t > to) return std::nullopt;
  }
  const Vec3 touch = lowest + t * a.motion;
  return ShapeCastHit{t, {touch.x(), touch.y(), std::min(touch.z(), 0.0)}, Vec3::UnitZ()};
}

// The part of the motion on which a box meets another one; empty when enters > leaves.
void clip_motion(const Box3& moving, const Vec3& motion, const Box3& box, double& enters, double& leaves)
{
  for (Eigen::Index k = 0; k < 3; ++k) {
    const double low = box.min()[k] - moving.max()[k];
    const double high = box.max()[k] - moving.min()[k];
    if (motion[k] == 0) {
      if (low > 0 || high < 0) leaves = -1;
      continue;
    }
    enters = std::max(enters, std::min(low / motion[k], high / motion[k]));
    leaves = std::min(leaves, std::max(low / motion[k], high / motion[k]));
  }
}

// `bounds` are those of the shape at the start. A way is cut into pieces about as long as the shape, so that
// only triangles near the way are looked at, and no more once one is hit. The pieces do not depend on `to`,
// so that neither does the fraction found.
std::optional<ShapeCastHit> cast_at_triangles(const MovingConvex& a, const Box3& bounds,
                                              const PreparedShape& other, double to)
{
  const auto& surface = static_cast<const TriangleSurface&>(*other.accelerator);
  const Vec3 centre = bounds.center();
  if (is_inside(other, centre)) {
    const distance::SignedPoint nearest = surface.distance.signed_distance(centre);
    return ShapeCastHit{0, nearest.surface.point, surface.distance.surface_normal(centre, nearest)};
  }
  double enters = 0;
  double leaves = 1;
  clip_motion(bounds, a.motion, surface.bvh.bounds(), enters, leaves);
  if (enters > std::min(leaves, to)) return std::nullopt;
  const double way = (leaves - enters) * a.motion.norm();
  const double pieces = std::clamp(std::ceil(way / bounds.sizes().maxCoeff()), 1.0, kMaxPieces);
  std::vector<Index> triangles;
  std::optional<ShapeCastHit> best;
  for (double piece = 0; piece < pieces && !best; ++piece) {
    const double begin = enters + (leaves - enters) * piece / pieces;
    if (begin > to) break;
    double end = piece + 1 == pieces ? leaves : enters + (leaves - enters) * (piece + 1) / pieces;
    const Vec3 a0 = begin * a.motion;
    const Vec3 a1 = end * a.motion;
    Box3 swept(bounds.min() + a0, bounds.max() + a0);
    swept.extend(Box3(bounds.min() + a1, bounds.max() + a1));
    surface.bvh.triangles_in_box(swept, triangles);
    end = std::min(end, to);
    for (const Index t : triangles) {
      ConvexView triangle;
      triangle.core = ConvexView::Core::triangle;
      // Placed at its own corner, so that the search for the distance starts towards it.
      const auto corner = [&](int k) {
        return surface.bvh.mesh().corner(at(t), k);
      };
      const Pose X_t{corner(0), Quat::Identity()};
      for (int k = 0; k < 3; ++k) triangle.corners[at(k)] = corner(k) - corner(0);
      const auto hit = cast_at_convex(a, triangle, X_t, begin, end);
      if (!hit || (best && hit->fraction >= best->fraction)) continue;
      best = hit;
      end = hit->fraction;
    }
  }
  return best;
}

std::optional<ShapeCastHit> cast_part(const PreparedShape& moving, const Pose& X_ws, const Vec3& motion,
                                      const PreparedShape& other, const Pose& X_wo, double max_fraction,
                                      double tolerance)
{
  std::optional<ShapeCastHit> best;
  const auto take = [&](const std::optional<ShapeCastHit>& hit) {
    if (!hit || (best && hit->fraction >= best->fraction)) return;
    best = hit;
    max_fraction = hit->fraction;
  };
  if (moving.kind == model::ShapeKind::compound) {
    const auto& compound = moving.as<model::Compound>();
    for (std::size_t i = 0; i < moving.parts.size(); ++i) {
      take(cast_part(moving.parts[i], X_ws * compound.parts[i].X_sp, motion, other, X_wo, max_fraction,
                     tolerance));
    }
    return best;
  }
  if (other.kind == model::ShapeKind::compound) {
    const auto& compound = other.as<model::Compound>();
    for (std::size_t i = 0; i < other.parts.size(); ++i) {
      take(cast_part(moving, X_ws, motion, other.parts[i], X_wo * compound.parts[i].X_sp, max_fraction,
                     tolerance));
    }
    return best;
  }
  const ConvexView view = convex_view(moving);
  const MovingConvex a{view, X_wo.inverse() * X_ws, X_wo.direction_to_local(motion), tolerance};
  if (other.kind == model::ShapeKind::plane) {
    best = cast_at_plane(a, max_fraction);
  } else if (is_convex(other.kind)) {
    best = cast_at_convex(a, convex_view(other), Pose{}, 0, max_fraction);
  } else {
    best = cast_at_triangles(a, world_bounds(moving, a.X, tolerance), other, max_fraction);
  }
  if (best) {
    best->position = X_wo.point(best->position);
    best->normal = X_wo.direction(best->normal);
  }
  return best;
}

}  // namespace

double shape_cast_tolerance(const PreparedShape& moving, const PreparedShape& other)
{
  return kMovingTolerance * half_diagonal(moving) + kOtherTolerance * half_diagonal(other);
}

void check_castable(const PreparedShape& moving)
{
  if (moving.kind == model::ShapeKind::compound) {
    for (const PreparedShape& part : moving.parts) check_castable(part);
  } else if (!is_convex(moving.kind)) {
    throw Error(
        "A mesh, plane or height field cannot be cast along a line. Cast a sphere, box, capsule, cylinder, "
        "convex hull "
        "or a compound of these.");
  }
}

std::optional<ShapeCastHit> cast_shape(const PreparedShape& moving, const Pose& X_ws, const Vec3& motion,
                                       const PreparedShape& other, const Pose& X_wo, double max_fraction)
{
  check_castable(moving);
  return cast_part(moving, X_ws, motion, other, X_wo, max_fraction, shape_cast_tolerance(moving, other));
}

}  // namespace thrum::collision
