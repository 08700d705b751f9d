// SPDX-License-Identifier: MIT
// Box against box by separating axes: three faces of each and nine products of edges. The axis of least
// overlap decides whether a face of one is clipped by a face of the other, or two edges cross.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/collision/pair_table.h"
#include "thrum/collision/patch_builder.h"

namespace thrum::collision {

namespace {

/// A face of b, or a pair of edges, must overlap less than the first choice by this share of the smaller box
/// to be preferred: resting boxes keep their axis from step to step.
constexpr double kOtherFaceBias = 1e-3;
constexpr double kEdgeBias = 2e-2;
/// Edges more parallel than this give no axis (square of the sine of the angle).
constexpr double kParallelEdges = 1e-6;

struct BoxPair {
  Vec3 half_a;
  Vec3 half_b;
  Mat3 R;      ///< axes of b in axes of a
  Mat3 abs_R;  ///< its absolute values
  Vec3 t;      ///< centre of b in axes of a
};

struct Axis {
  double separation = -std::numeric_limits<double>::infinity();  ///< along the axis, negative: overlap [m]
  int i = -1;
  int j = -1;  ///< for edges: of b
};

Axis best_face_a(const BoxPair& p)
{
  Axis best;
  for (int i = 0; i < 3; ++i) {
    const double s = std::abs(p.t[i]) - p.half_a[i] - p.abs_R.row(i).dot(p.half_b);
    if (s > best.separation) best = {s, i, -1};
  }
  return best;
}

Axis best_face_b(const BoxPair& p)
{
  Axis best;
  for (int j = 0; j < 3; ++j) {
    const double s = std::abs(p.R.col(j).dot(p.t)) - p.half_b[j] - p.abs_R.col(j).dot(p.half_a);
    if (s > best.separation) best = {s, j, -1};
  }
  return best;
}

Axis best_edges(const BoxPair& p)
{
  Axis best;
  for (int i = 0; i < 3; ++i) {
    const int i1 = (i + 1) % 3;
    const int i2 = (i + 2) % 3;
    for (int j = 0; j < 3; ++j) {
      const double square = 1.0 - p.R(i, j) * p.R(i, j);
      if (square < kParallelEdges) continue;
      const int j1 = (j + 1) % 3;
      const int j2 = (j + 2) % 3;
      const double reach = p.half_a[i1] * p.abs_R(i2, j) + p.half_a[i2] * p.abs_R(i1, j) +
                           p.half_b[j1] * p.abs_R(i, j2) + p.half_b[j2] * p.abs_R(i, j1);
      const double s = (std::abs(p.t[i2] * p.R(i1, j) - p.t[i1] * p.R(i2, j)) - reach) / std::sqrt(square);
      if (s > best.separation) best = {s, i, j};
    }
  }
  return best;
}

struct FlatPoint {
  double u, v, w;  ///< along the reference face, and above it
  std::uint32_t feature;
};

struct FlatPolygon {
  std::array<FlatPoint, 8> points;
  int count = 0;
};

// Keeps sign * coordinate <= limit, where the coordinate is u or v.
template <double FlatPoint::*coordinate>
void clip_flat(const FlatPolygon& in, FlatPolygon& out, double sign, double limit, std::uint32_t side)
{
  out.count = 0;
  for (int k = 0; k < in.count; ++k) {
    const FlatPoint& p = in.points[at(k)];
    const FlatPoint& q = in.points[at(k + 1 == in.count ? 0 : k + 1)];
    const double dp = sign * p.*coordinate - limit;
    const double dq = sign * q.*coordinate - limit;
    if (dp <= 0) out.points[at(out.count++)] = p;
    if ((dp < 0 && dq > 0) || (dp > 0 && dq < 0)) {
      const double t = dp / (dp - dq);
      const std::uint32_t outer = dp > 0 ? p.feature : q.feature;
      out.points[at(out.count++)] = {p.u + t * (q.u - p.u), p.v + t * (q.v - p.v), p.w + t * (q.w - p.w),
                                     ((side + 1) << 8) | (outer & 0xff) | (dp > 0 ? 0x80U : 0U)};
    }
    if (out.count == 8) return;
  }
}

// Clips the face of the incident box that looks at face (axis, sign) of the reference box. Points are in
// reference axes.
void clip_faces(const Vec3& half_ref, const Vec3& half_inc, const Mat3& R, const Vec3& t, int axis,
                double sign, double margin, bool a_is_reference, std::vector<CandidatePoint>& points)
{
  // The incident face is the one most turned against the reference face.
  Eigen::Index inc = 0;
  R.row(axis).cwiseAbs().maxCoeff(&inc);
  const double inc_sign = sign * R(axis, inc) > 0 ? -1.0 : 1.0;
  const Vec3 centre = t + inc_sign * half_inc[inc] * R.col(inc);
  const Eigen::Index e = (inc + 1) % 3;
  const Eigen::Index f = (inc + 2) % 3;
  const Vec3 edge_e = half_inc[e] * R.col(e);
  const Vec3 edge_f = half_inc[f] * R.col(f);
  const int iu = (axis + 1) % 3;
  const int iv = (axis + 2) % 3;
  const auto face = static_cast<std::uint32_t>(2 * inc + (inc_sign > 0 ? 1 : 0));
  static constexpr std::array<std::array<double, 2>, 4> round{{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}};
  FlatPolygon polygon;
  FlatPolygon clipped;
  polygon.count = 4;
  for (std::size_t k = 0; k < 4; ++k) {
    const Vec3 p = centre + round[k][0] * edge_e + round[k][1] * edge_f;
    polygon.points[k] = {p[iu], p[iv], sign * p[axis] - half_ref[axis],
                         face * 4 + static_cast<std::uint32_t>(k)};
  }
  clip_flat<&FlatPoint::u>(polygon, clipped, 1, half_ref[iu], 0);
  clip_flat<&FlatPoint::u>(clipped, polygon, -1, half_ref[iu], 1);
  clip_flat<&FlatPoint::v>(polygon, clipped, 1, half_ref[iv], 2);
  clip_flat<&FlatPoint::v>(clipped, polygon, -1, half_ref[iv], 3);
  const auto reference_feature = static_cast<std::uint32_t>(2 * axis + (sign > 0 ? 1 : 0));
  for (int k = 0; k < polygon.count; ++k) {
    const FlatPoint& flat = polygon.points[at(k)];
    if (-flat.w <= -margin) continue;
    Vec3 p;
    p[iu] = flat.u;
    p[iv] = flat.v;
    p[axis] = sign * (half_ref[axis] + 0.5 * flat.w);
    if (a_is_reference) {
      points.push_back({p, -flat.w, reference_feature, flat.feature});
    } else {
      points.push_back({p, -flat.w, flat.feature, reference_feature});
    }
  }
}

// The point midway between the two edges that cross, in axes of a; `n` points from a to b.
CandidatePoint cross_edges(const BoxPair& p, const Axis& axis, const Vec3& n)
{
  Vec3 on_a;
  std::uint32_t feature_a = static_cast<std::uint32_t>(axis.i) << 4;
  for (int k = 0; k < 3; ++k) {
    on_a[k] = k == axis.i ? 0.0 : (n[k] > 0 ? p.half_a[k] : -p.half_a[k]);
    if (k != axis.i && n[k] > 0) feature_a |= 1U << k;
  }
  Vec3 on_b = p.t;
  std::uint32_t feature_b = static_cast<std::uint32_t>(axis.j) << 4;
  for (int k = 0; k < 3; ++k) {
    if (k == axis.j) continue;
    const double s = n.dot(p.R.col(k)) > 0 ? -1.0 : 1.0;
    on_b += s * p.half_b[k] * p.R.col(k);
    if (s > 0) feature_b |= 1U << k;
  }
  // Nearest points of the lines on_a + x e_i and on_b + y R_j.
  const Vec3 d = on_b - on_a;
  const Vec3 u = p.R.col(axis.j);
  const double c = u[axis.i];
  const double denominator = 1.0 - c * c;
  const double x = (d[axis.i] - c * d.dot(u)) / denominator;
  const double y = (c * d[axis.i] - d.dot(u)) / denominator;
  on_a[axis.i] = x;
  on_b += y * u;
  return {0.5 * (on_a + on_b), -axis.separation, 0x1000 + feature_a, 0x1000 + feature_b};
}

void collide_boxes(const PairInput& pair, std::vector<model::ContactPatch>& patches)
{
  BoxPair p;
  p.half_a = pair.a->as<model::Box>().half;
  p.half_b = pair.b->as<model::Box>().half;
  const Mat3 Ra = pair.X_wa.rotation.toRotationMatrix();
  p.R.noalias() = Ra.transpose() * pair.X_wb.rotation.toRotationMatrix();
  p.t.noalias() = Ra.transpose() * (pair.X_wb.position - pair.X_wa.position);
  p.abs_R = p.R.cwiseAbs();

  const Axis face_a = best_face_a(p);
  if (face_a.separation > pair.margin) return;
  const Axis face_b = best_face_b(p);
  if (face_b.separation > pair.margin) return;
  const Axis edges = best_edges(p);
  if (edges.separation > pair.margin) return;

  const double size = std::min(p.half_a.minCoeff(), p.half_b.minCoeff());
  std::vector<CandidatePoint>& points = pair.scratch->points;
  points.clear();
  if (edges.separation > std::max(face_a.separation, face_b.separation) + kEdgeBias * size) {
    Vec3 n = Vec3::Unit(edges.i).cross(Vec3(p.R.col(edges.j))).normalized();
    if (n.dot(p.t) < 0) n = -n;
    points.push_back(cross_edges(p, edges, n));
    append_patch(pair, pair.X_wa, n, points, patches);
  } else if (face_b.separation > face_a.separation + kOtherFaceBias * size) {
    const Vec3 t = -(p.R.transpose() * p.t);
    const double sign = t[face_b.i] > 0 ? 1.0 : -1.0;
    clip_faces(p.half_b, p.half_a, p.R.transpose(), t, face_b.i, sign, pair.margin, false, points);
    append_patch(pair, pair.X_wb, -sign * Vec3::Unit(face_b.i), points, patches);
  } else {
    const double sign = p.t[face_a.i] > 0 ? 1.0 : -1.0;
    clip_faces(p.half_a, p.half_b, p.R, p.t, face_a.i, sign, pair.margin, true, points);
    append_patch(pair, pair.X_wa, sign * Vec3::Unit(face_a.i), points, patches);
  }
}

}  // namespace

void register_box_pairs(PairTable& table)
{
  table.set(model::ShapeKind::box, model::ShapeKind::box, collide_boxes);
}

}  // namespace thrum::collision
