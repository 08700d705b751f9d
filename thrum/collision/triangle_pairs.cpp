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
/// A contact that leans from the normal of the face by less is on the face (cosine of 1e-3 rad).
constexpr double kOnFace = 1 - 5e-7;
/// A barycentric weight below this is on the edge.
constexpr double kOnEdge = 1e-6;

/// A triangle of the mesh in the axes of a.
struct Face {
  const TriangleSurface& surface;
  const Pose& X_ab;
  std::size_t index;
  ConvexView view;
  Vec3 normal;

  Face(const TriangleSurface& of, const Pose& X, std::size_t t)
      : surface(of), X_ab(X), index(t), normal(X.direction(of.normals[t]))
  {
    view.core = ConvexView::Core::triangle;
    for (int k = 0; k < 3; ++k) view.corners[at(k)] = X_ab.point(of.bvh.mesh().corner(t, k));
  }
  /// Whether the origin of a is in front of the triangle. Those behind push nothing.
  [[nodiscard]] bool is_in_front(Index t) const
  {
    const Vec3 corner = X_ab.point(surface.bvh.mesh().corner(at(t), 0));
    return X_ab.direction(surface.normals[at(t)]).dot(-corner) >= 0;
  }
};

enum class Normal { of_face, nearest, of_neighbour };

// Which normal a contact has whose nearest point on the triangle is p, with the given cosine between the line
// to it and the normal of the face. On an edge the line may lean as far as the normal of the face beyond, and
// at a corner as far as those around it. What leans further is nearer to the triangle beyond, which has the
// contact: pushed along such a line, a body would trip over a seam that is not there.
Normal normal_at(const Face& face, const Vec3& p, double cosine)
{
  const Vec3& a = face.view.corners[0];
  const Vec3& b = face.view.corners[1];
  const Vec3& c = face.view.corners[2];
  const Vec3 n = (b - a).cross(c - a);
  const double area = n.squaredNorm();
  if (!(area > 0)) return Normal::nearest;
  if (cosine >= kOnFace) return Normal::of_face;
  const std::array<double, 3> opposite{(b - p).cross(c - p).dot(n) / area, (c - p).cross(a - p).dot(n) / area,
                                       (a - p).cross(b - p).dot(n) / area};
  int edges = 0;
  bool has_neighbours = true;
  double lean = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    if (opposite[(k + 2) % 3] >= kOnEdge) continue;  // edge k lies opposite corner k + 2
    const EdgeBend& bend = face.surface.edge_bends[face.index][k];
    ++edges;
    if (bend.beyond < 0 || !face.is_in_front(bend.beyond)) has_neighbours = false;
    lean = std::min(lean, bend.min_cosine);
  }
  if (edges == 0) return Normal::of_face;
  if (!has_neighbours) return Normal::nearest;
  // Around a corner the outermost face may be twice as far.
  if (edges > 1) lean = lean > 0 ? 2 * lean * lean - 1 : -1;
  return cosine >= lean ? Normal::nearest : Normal::of_neighbour;
}

// Contact with one triangle, in axes of a. False when they are apart or a is behind the triangle.
bool find_triangle_contact(const ConvexView& a, const Face& face, double margin, ConvexDistance& d)
{
  if (!face.is_in_front(static_cast<Index>(face.index))) return false;
  const double reach = a.radius + margin;
  const Pose same;
  d = convex_distance(a, face.view, same, reach);
  if (d.beyond || d.distance > reach) return false;
  if (d.distance > 0) {
    const Normal normal = normal_at(face, d.on_b, d.normal.dot(-face.normal));
    if (normal == Normal::nearest) return true;
    if (normal == Normal::of_neighbour) return false;
  }
  // On the face, or with overlapping cores: the face's own normal is the way out.
  d.normal = -face.normal;
  d.on_a = support(a, d.normal);
  d.distance = d.normal.dot(face.view.corners[0]) - d.normal.dot(d.on_a);
  d.on_b = d.on_a + d.distance * d.normal;
  return true;
}

}  // namespace

void collide_with_triangles(const PairInput& pair, std::vector<model::ContactPatch>& patches)
{
  const ConvexView a = convex_view(*pair.a);
  const auto& surface = static_cast<const TriangleSurface&>(*pair.b->accelerator);
  const Pose X_ab = pair.X_wa.inverse() * pair.X_wb;
  std::vector<Index>& triangles = pair.scratch->triangles;
  surface.bvh.triangles_in_box(world_bounds(*pair.a, X_ab.inverse(), pair.margin), triangles);

  std::vector<NormalGroup> groups;
  for (const Index t : triangles) {
    const Face face(surface, X_ab, at(t));
    ConvexDistance d;
    if (!find_triangle_contact(a, face, pair.margin, d)) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const NormalGroup& g) { return g.normal.dot(d.normal) > kSameNormal; });
    if (group == groups.end()) group = groups.insert(groups.end(), NormalGroup{d.normal, {}});
    const std::size_t before = group->points.size();
    clip_convex_contact(a, face.view, Pose{}, d, pair.margin, pair.scratch->clip, group->points);
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
