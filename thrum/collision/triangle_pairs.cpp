// SPDX-License-Identifier: MIT
// Convex shapes against the triangles of a fixed mesh or a height field. Triangles push to their front only.
#include <algorithm>
#include <cmath>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/collision/convex.h"
#include "thrum/collision/gjk.h"
#include "thrum/collision/pair_table.h"
#include "thrum/collision/patch_builder.h"
#include "thrum/collision/triangle_surface.h"

namespace thrum::collision {

namespace {

/// Contact normals that differ by less belong to one patch (cosine, about 8 degrees).
constexpr double kSameNormal = 0.99;
/// A contact is on the face when its normal is this near to the face's (cosine, about 2.5 degrees).
constexpr double kOnFace = 0.999;
/// A barycentric weight below this is on the edge.
constexpr double kOnEdge = 1e-6;

// Whether the nearest point lies on an edge or corner that sticks out, so that the contact may point away
// from the face.
bool on_sharp_feature(const ConvexView& triangle, const std::array<bool, 3>& edge_is_sharp, const Vec3& p)
{
  const Vec3& a = triangle.corners[0];
  const Vec3& b = triangle.corners[1];
  const Vec3& c = triangle.corners[2];
  const Vec3 n = (b - a).cross(c - a);
  const double area = n.squaredNorm();
  if (!(area > 0)) return true;
  const std::array<double, 3> opposite{(b - p).cross(c - p).dot(n) / area, (c - p).cross(a - p).dot(n) / area,
                                       (a - p).cross(b - p).dot(n) / area};
  bool sharp = false;
  for (std::size_t k = 0; k < 3; ++k) {
    if (opposite[(k + 2) % 3] < kOnEdge)
      sharp = sharp || edge_is_sharp[k];  // edge k lies opposite corner k + 2
  }
  return sharp;
}

// Contact with one triangle, in axes of a. False when they are apart or a is behind the triangle.
bool find_triangle_contact(const ConvexView& a, const ConvexView& triangle, const Vec3& face_normal,
                           const std::array<bool, 3>& sharp, double margin, ConvexDistance& d)
{
  if (face_normal.dot(-triangle.corners[0]) < 0) return false;  // the origin of a is behind the face
  const double reach = a.radius + margin;
  const Pose same;
  d = convex_distance(a, triangle, same, reach);
  if (d.beyond || d.distance > reach) return false;
  const bool on_face = d.normal.dot(-face_normal) > kOnFace;
  if (d.distance > 0 && (on_face || on_sharp_feature(triangle, sharp, d.on_b))) return true;
  // Overlapping cores, or a seam: the face's own normal is the way out.
  d.normal = -face_normal;
  d.on_a = support(a, d.normal);
  d.distance = d.normal.dot(triangle.corners[0]) - d.normal.dot(d.on_a);
  d.on_b = d.on_a + d.distance * d.normal;
  return true;
}

}  // namespace

void collide_with_triangles(const PairInput& pair, std::vector<model::ContactPatch>& patches)
{
  const ConvexView a = convex_view(*pair.a);
  const auto& surface = static_cast<const TriangleSurface&>(*pair.b->accelerator);
  const mesh::TriangleMesh& mesh = surface.bvh.mesh();
  const Pose X_ab = pair.X_wa.inverse() * pair.X_wb;
  std::vector<Index>& triangles = pair.scratch->triangles;
  surface.bvh.triangles_in_box(world_bounds(*pair.a, X_ab.inverse(), pair.margin), triangles);

  std::vector<NormalGroup> groups;
  for (const Index t : triangles) {
    ConvexView triangle;
    triangle.core = ConvexView::Core::triangle;
    for (int k = 0; k < 3; ++k) {
      triangle.corners[at(k)] = X_ab.point(mesh.corner(at(t), k));
    }
    const Vec3 face_normal = X_ab.direction(surface.normals[at(t)]);
    ConvexDistance d;
    if (!find_triangle_contact(a, triangle, face_normal, surface.edge_is_sharp[at(t)], pair.margin, d))
      continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const NormalGroup& g) { return g.normal.dot(d.normal) > kSameNormal; });
    if (group == groups.end()) group = groups.insert(groups.end(), NormalGroup{d.normal, {}});
    const std::size_t before = group->points.size();
    clip_convex_contact(a, triangle, Pose{}, d, pair.margin, pair.scratch->clip, group->points);
    for (std::size_t i = before; i < group->points.size(); ++i) {
      // The triangle's number makes the feature unique on the mesh.
      group->points[i].feature_b = group->points[i].feature_b % 4096 + 4096 * static_cast<std::uint32_t>(t);
    }
  }
  for (NormalGroup& group : groups) append_patch(pair, pair.X_wa, group.normal, group.points, patches);
}

void register_triangle_pairs(PairTable& table)
{
  for (const model::ShapeKind kind :
       {model::ShapeKind::sphere, model::ShapeKind::box, model::ShapeKind::capsule,
        model::ShapeKind::cylinder, model::ShapeKind::hull}) {
    table.set(kind, model::ShapeKind::mesh, collide_with_triangles);
    table.set(kind, model::ShapeKind::height_field, collide_with_triangles);
  }
}

}  // namespace thrum::collision
