// SPDX-License-Identifier: MIT
// Convex shapes against each other and against a half-space.
#include <cmath>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/collision/convex.h"
#include "thrum/collision/gjk.h"
#include "thrum/collision/pair_table.h"
#include "thrum/collision/patch_builder.h"
#include "thrum/collision/touch_contacts.h"

namespace thrum::collision {

namespace {

void collide_spheres(const PairInput& pair, std::vector<model::ContactPatch>& patches)
{
  const double ra = pair.a->as<model::Sphere>().radius;
  const double rb = pair.b->as<model::Sphere>().radius;
  const Vec3 d = pair.X_wb.position - pair.X_wa.position;
  const double square = d.squaredNorm();
  const double reach = ra + rb + pair.margin;
  if (square > reach * reach) return;
  const double distance = std::sqrt(square);
  const Vec3 n = distance > 0 ? Vec3(d / distance) : Vec3(Vec3::UnitZ());
  model::ContactPatch patch;
  patch.part_a = pair.part_a;
  patch.part_b = pair.part_b;
  patch.normal = n;
  patch.count = 1;
  patch.points[0].depth = ra + rb - distance;
  patch.points[0].position = pair.X_wa.position + n * (ra - 0.5 * patch.points[0].depth);
  patches.push_back(patch);
}

void collide_convex(const PairInput& pair, std::vector<model::ContactPatch>& patches)
{
  const ConvexView a = convex_view(*pair.a);
  const ConvexView b = convex_view(*pair.b);
  const Pose X_ab = pair.X_wa.inverse() * pair.X_wb;
  const double reach = a.radius + b.radius + pair.margin;
  const ConvexDistance d = convex_distance(a, b, X_ab, reach);
  if (d.beyond || d.distance > reach) return;
  std::vector<CandidatePoint>& points = pair.scratch->points;
  points.clear();
  clip_convex_contact(a, b, X_ab, d, pair.margin, pair.scratch->clip, points);
  append_patch(pair, pair.X_wa, d.normal, points, patches);
}

// --- Half-space
// -----------------------------------------------------------------------------------------------------

// The corners that may touch the plane, in axes of the shape: those of the face that looks down, and the
// lowest point.
void lowest_corners(const ConvexView& shape, const Vec3& down, SupportFace& face, Vec3& lowest)
{
  lowest = support(shape, down);
  support_face(shape, down, face);
}

void collide_convex_with_plane(const PairInput& pair, std::vector<model::ContactPatch>& patches)
{
  // a is convex, b the half-space below z = 0 in its axes.
  const ConvexView a = convex_view(*pair.a);
  const Pose X_ba = pair.X_wb.inverse() * pair.X_wa;
  if (X_ba.position.z() - pair.a->radius > pair.margin) return;
  const Vec3 down = X_ba.direction_to_local(-Vec3::UnitZ());
  SupportFace face;
  Vec3 lowest;
  lowest_corners(a, down, face, lowest);
  std::vector<CandidatePoint>& points = pair.scratch->points;
  points.clear();
  const auto add = [&](const Vec3& corner, std::uint32_t feature) {
    Vec3 p = X_ba.point(corner);
    const double depth = a.radius - p.z();
    if (depth <= -pair.margin) return;
    p.z() = -0.5 * depth;
    points.push_back({p, depth, feature, 0});
  };
  for (int i = 0; i < face.count; ++i) {
    add(face.corners[at(i)], face.features[at(i)]);
  }
  // A tilted cylinder or hull may touch with a point that is no corner of that face.
  const double lowest_z = X_ba.point(lowest).z();
  bool known = false;
  for (int i = 0; i < face.count; ++i) {
    known = known || (face.corners[at(i)] - lowest).squaredNorm() == 0;
  }
  if (!known && a.radius - lowest_z > -pair.margin) add(lowest, 0xfffff);
  append_patch(pair, pair.X_wb, -Vec3::UnitZ(), points, patches);
}

}  // namespace

void register_convex_pairs(PairTable& table)
{
  static constexpr std::array<model::ShapeKind, 5> kinds{model::ShapeKind::sphere, model::ShapeKind::box,
                                                         model::ShapeKind::capsule,
                                                         model::ShapeKind::cylinder, model::ShapeKind::hull};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (std::size_t j = i; j < kinds.size(); ++j) table.set(kinds[i], kinds[j], collide_convex);
  }
  table.set(model::ShapeKind::sphere, model::ShapeKind::sphere, collide_spheres);
}

void register_touching_boxes(PairTable& table)
{
  table.set(model::ShapeKind::box, model::ShapeKind::box, collide_convex);
}

void register_plane_pairs(PairTable& table)
{
  for (const model::ShapeKind kind :
       {model::ShapeKind::sphere, model::ShapeKind::box, model::ShapeKind::capsule,
        model::ShapeKind::cylinder, model::ShapeKind::hull}) {
    table.set(kind, model::ShapeKind::plane, collide_convex_with_plane);
  }
}

}  // namespace thrum::collision
