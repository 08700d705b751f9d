// SPDX-License-Identifier: MIT
// The static check of boyse.h: features that touch at one pose, each with its normal.
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/collision/boyse.h"
#include "thrum/collision/boyse_scale.h"
#include "thrum/mesh/triangle_queries.h"

namespace thrum::collision {

namespace {

/// Edges that meet at a smaller angle are parallel (sine).
constexpr double kParallelSine = 1e-6;
/// How far a face beside an edge may rise over the plane between the edges (sine).
constexpr double kSupportSine = 1e-6;
/// Normals that differ by less are the same (cosine of about 0.05 degrees).
constexpr double kSameNormal = 1 - 4e-7;
/// Points within so many tolerances are one.
constexpr double kSamePoint = 10;

// One body in axes of b.
struct Placed {
  const BoyseSurface& surface;
  Mat3 R;
  Vec3 t;

  [[nodiscard]] Vec3 point(Index v) const { return R * surface.mesh().vertices[at(v)] + t; }
  [[nodiscard]] Vec3 face_normal(Index f) const { return R * surface.normals().face[at(f)]; }
  [[nodiscard]] Vec3 edge_normal(Index f, int k) const { return R * surface.normals().edge[at(3 * f + k)]; }
  [[nodiscard]] Vec3 vertex_normal(Index v) const { return R * surface.normals().vertex[at(v)]; }
  [[nodiscard]] std::array<Vec3, 3> corners(Index f) const
  {
    const Triangle& t3 = surface.mesh().triangles[at(f)];
    return {point(t3[0]), point(t3[1]), point(t3[2])};
  }
};

Vec3 across(const Vec3& v, const Vec3& direction)
{
  return v - direction * (direction.dot(v) / direction.squaredNorm());
}

class StaticCheck {
 public:
  StaticCheck(const BoyseSurface& a, const BoyseSurface& b, const Pose& X_ba, const BoyseScale& scale)
      : a_{a, X_ba.rotation.toRotationMatrix(), X_ba.position},
        b_{b, Mat3::Identity(), Vec3::Zero()},
        scale_(scale)
  {
  }

  void visit(const mesh::TrianglePair& pair)
  {
    pair_ = pair;
    corners_a_ = a_.corners(pair.a);
    corners_b_ = b_.corners(pair.b);
    if (!boxes_touch()) return;
    for (int k = 0; k < 3; ++k) {
      if (a_.surface.owns_vertex(pair.a, k)) vertex_against_face(a_, pair.a, k, b_, pair.b, corners_b_, 1);
      if (b_.surface.owns_vertex(pair.b, k)) vertex_against_face(b_, pair.b, k, a_, pair.a, corners_a_, -1);
    }
    for (int i = 0; i < 3; ++i) {
      if (!can_touch(a_, pair.a, i)) continue;
      for (int j = 0; j < 3; ++j) {
        if (can_touch(b_, pair.b, j)) edge_against_edge(i, j);
      }
    }
  }

  [[nodiscard]] std::vector<BoyseContact> finish()
  {
    // Contacts with a normal of their own first; of the others those where there is none of these.
    std::stable_sort(contacts_.begin(), contacts_.end(),
                     [](const BoyseContact& x, const BoyseContact& y) { return x.kind < y.kind; });
    std::vector<BoyseContact> kept;
    for (const BoyseContact& c : contacts_) {
      const bool known = std::any_of(kept.begin(), kept.end(), [&](const BoyseContact& k) {
        const bool same = (k.point - c.point).norm() <= kSamePoint * scale_.tolerance;
        const bool degenerate = c.kind != BoyseKind::vertex_face && c.kind != BoyseKind::edge_edge;
        return same && ((degenerate && k.kind < c.kind) || k.normal.dot(c.normal) > kSameNormal);
      });
      if (!known) kept.push_back(c);
    }
    return kept;
  }

 private:
  [[nodiscard]] bool boxes_touch() const
  {
    const double reach = std::max(scale_.tolerance, scale_.max_depth);
    const Vec3 low_a = corners_a_[0].cwiseMin(corners_a_[1]).cwiseMin(corners_a_[2]);
    const Vec3 high_a = corners_a_[0].cwiseMax(corners_a_[1]).cwiseMax(corners_a_[2]);
    const Vec3 low_b = corners_b_[0].cwiseMin(corners_b_[1]).cwiseMin(corners_b_[2]);
    const Vec3 high_b = corners_b_[0].cwiseMax(corners_b_[1]).cwiseMax(corners_b_[2]);
    return (low_a.array() <= high_b.array() + reach).all() && (low_b.array() <= high_a.array() + reach).all();
  }

  static bool can_touch(const Placed& body, Index face, int k)
  {
    return body.surface.owns_edge(face, k) &&
           body.surface.edge_kind(face, k) == BoyseSurface::EdgeKind::sharp;
  }

  // `sign` is 1 when the face is of b, -1 when it is of a: normals are out of b.
  void vertex_against_face(const Placed& of, Index own_face, int own_k, const Placed& other, Index face,
                           const std::array<Vec3, 3>& corners, double sign)
  {
    const Index vertex = of.surface.mesh().triangles[at(own_face)][at(own_k)];
    const Vec3 p = of.point(vertex);
    const Vec3 n = other.face_normal(face);
    const double height = n.dot(p - corners[0]);
    if (height > scale_.tolerance || height < -scale_.max_depth) return;
    const mesh::TrianglePoint foot = mesh::closest_point_on_triangle(p, corners[0], corners[1], corners[2]);
    const double off = (foot.point - (p - height * n)).norm();
    if (off > scale_.tolerance) return;
    BoyseContact c{foot.point, sign * n, -height, BoyseKind::vertex_face, pair_.a, pair_.b};
    // On the border of the face?
    int edge = -1;
    int edges = 0;
    for (int k = 0; k < 3; ++k) {
      const Vec3 side = corners[at((k + 1) % 3)] - corners[at(k)];
      if (n.cross(side).dot(foot.point - corners[at(k)]) > scale_.tolerance * side.norm()) continue;
      edge = k;
      ++edges;
    }
    const bool behind = height < -scale_.tolerance;
    if (edges == 1 && !behind) at_edge(other, face, edge, of.vertex_normal(vertex), sign, c);
    if (edges > 1 && !behind) at_vertex(other, face, corners, of.vertex_normal(vertex), sign, c);
    contacts_.push_back(c);
  }

  // The normal into the vertex's own body, across the edge, brought between the normals of its two faces.
  static void at_edge(const Placed& other, Index face, int k, const Vec3& vertex_normal, double sign,
                      BoyseContact& c)
  {
    if (other.surface.edge_kind(face, k) != BoyseSurface::EdgeKind::sharp) return;
    c.kind = BoyseKind::vertex_edge;
    const Index beyond = other.surface.neighbour(face, k);
    if (beyond < 0) return;
    const Triangle& t = other.surface.mesh().triangles[at(face)];
    const Vec3 direction = other.point(t[at((k + 1) % 3)]) - other.point(t[at(k)]);
    const Vec3 n0 = other.face_normal(face);
    const Vec3 n1 = other.face_normal(beyond);
    Vec3 wanted = across(-vertex_normal, direction);
    if (!(wanted.norm() > 0)) wanted = n0 + n1;
    wanted.normalize();
    // Between n0 and n1 when it leans from each towards the other, and not to the back.
    const Vec3 turn = n0.cross(n1);
    if (wanted.dot(n0 + n1) > 0 && turn.dot(n0.cross(wanted)) >= 0 && turn.dot(wanted.cross(n1)) >= 0) {
      c.normal = sign * wanted;
    } else {
      c.normal = sign * (wanted.dot(n0) >= wanted.dot(n1) ? n0 : n1);
    }
  }

  void at_vertex(const Placed& other, Index face, const std::array<Vec3, 3>& corners,
                 const Vec3& vertex_normal, double sign, BoyseContact& c) const
  {
    int nearest = 0;
    for (int k = 1; k < 3; ++k) {
      if ((corners[at(k)] - c.point).norm() < (corners[at(nearest)] - c.point).norm()) nearest = k;
    }
    const Index vertex = other.surface.mesh().triangles[at(face)][at(nearest)];
    if (other.surface.is_flat(vertex)) return;
    c.kind = BoyseKind::vertex_vertex;
    const Vec3 sum = other.vertex_normal(vertex) - vertex_normal;
    c.normal = sign * (sum.norm() > 0 ? Vec3(sum.normalized()) : other.vertex_normal(vertex));
  }

  // Whether the faces beside the edge lie on the side of n.
  static bool is_above(const Placed& body, Index face, int k, const Vec3& n)
  {
    const mesh::TriangleMesh& mesh = body.surface.mesh();
    const Vec3 p = body.point(mesh.triangles[at(face)][at(k)]);
    for (const Index f : {face, body.surface.neighbour(face, k)}) {
      if (f < 0) continue;
      for (const Index v : mesh.triangles[at(f)]) {
        const Vec3 away = body.point(v) - p;
        if (n.dot(away) < -kSupportSine * away.norm()) return false;
      }
    }
    return true;
  }

  void edge_against_edge(int i, int j)
  {
    const Vec3& p0 = corners_a_[at(i)];
    const Vec3& p1 = corners_a_[at((i + 1) % 3)];
    const Vec3& q0 = corners_b_[at(j)];
    const Vec3& q1 = corners_b_[at((j + 1) % 3)];
    const mesh::SegmentPair near = mesh::closest_points_of_segments(p0, p1, q0, q1);
    if (near.squared_distance > scale_.tolerance * scale_.tolerance) return;
    const Vec3 e = p1 - p0;
    const Vec3 f = q1 - q0;
    Vec3 n = e.cross(f);
    if (n.norm() <= kParallelSine * e.norm() * f.norm()) return parallel_edges(i, j, p0, e, q0, q1);
    n.normalize();
    const auto at_end = [&](double s, double length) {
      return std::min(s, 1 - s) * length <= scale_.tolerance;
    };
    if (at_end(near.s, e.norm()) || at_end(near.t, f.norm())) return;  // a vertex: see above
    for (const double sign : {1.0, -1.0}) {
      const Vec3 out = sign * n;
      if (!is_above(a_, pair_.a, i, out) || !is_above(b_, pair_.b, j, -out)) continue;
      const Vec3 on_a = p0 + near.s * e;
      const Vec3 on_b = q0 + near.t * f;
      contacts_.push_back(
          {0.5 * (on_a + on_b), out, out.dot(on_b - on_a), BoyseKind::edge_edge, pair_.a, pair_.b});
      return;
    }
  }

  // At both ends of the common part.
  void parallel_edges(int i, int j, const Vec3& p0, const Vec3& e, const Vec3& q0, const Vec3& q1)
  {
    const double length = e.norm();
    const Vec3 d = e / length;
    const double from = std::clamp(std::min(d.dot(q0 - p0), d.dot(q1 - p0)), 0.0, length);
    const double to = std::clamp(std::max(d.dot(q0 - p0), d.dot(q1 - p0)), 0.0, length);
    if (to - from <= scale_.tolerance) return;
    const Vec3 n = across(b_.edge_normal(pair_.b, j) - a_.edge_normal(pair_.a, i), d);
    if (!(n.norm() > kParallelSine)) return;
    for (const double s : {from, to})
      contacts_.push_back({p0 + s * d, n.normalized(), 0, BoyseKind::parallel_edges, pair_.a, pair_.b});
  }

  Placed a_;
  Placed b_;
  BoyseScale scale_;
  mesh::TrianglePair pair_{};
  std::array<Vec3, 3> corners_a_;
  std::array<Vec3, 3> corners_b_;
  std::vector<BoyseContact> contacts_;
};

}  // namespace

std::vector<BoyseContact> find_touching_features(const BoyseSurface& a, const BoyseSurface& b,
                                                 const Pose& X_ba, std::span<const mesh::TrianglePair> pairs,
                                                 const BoyseDesc& desc)
{
  StaticCheck check(a, b, X_ba, scale_of(a, b, desc));
  for (const mesh::TrianglePair& pair : pairs) check.visit(pair);
  return check.finish();
}

}  // namespace thrum::collision
