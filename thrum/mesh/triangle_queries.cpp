// SPDX-License-Identifier: MIT
#include "thrum/mesh/triangle_queries.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"

namespace thrum::mesh {

namespace {

// A triangle with a height below this fraction of its longest edge is a needle: the projection onto its plane
// then has an error of more than 1e-12 of the distance, up to being pure rounding error, and the edges are
// tested as well.
constexpr double kNeedleRatio = 1e-4;

// Parameter of the point of the segment a + t e, 0 <= t <= 1, closest to a + r; 0 for a segment without
// length.
double segment_parameter(const Vec3& r, const Vec3& e)
{
  const double squared_length = e.squaredNorm();
  return squared_length > 0 ? std::clamp(r.dot(e) / squared_length, 0.0, 1.0) : 0.0;
}

// The line through p0, p1 against the triangle: true when the segment crosses its interior or border.
bool segment_crosses(const Vec3& p0, const Vec3& p1, const std::array<Vec3, 3>& t)
{
  const Vec3 n = (t[1] - t[0]).cross(t[2] - t[0]);
  const double h0 = n.dot(p0 - t[0]);
  const double h1 = n.dot(p1 - t[0]);
  // Both ends on one side, or in the plane: the edge pairs cover the coplanar case.
  if (h0 * h1 > 0 || h0 == h1) return false;
  const Vec3 x = p0 + (h0 / (h0 - h1)) * (p1 - p0);
  for (std::size_t k = 0; k < 3; ++k) {
    if (n.dot((t[(k + 1) % 3] - t[k]).cross(x - t[k])) < 0) return false;
  }
  return true;
}

}  // namespace

TrianglePoint closest_point_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c)
{
  const std::array<Vec3, 3> corner = {a, b, c};
  const Vec3 ab = b - a;
  const Vec3 ac = c - a;
  const Vec3 n = ab.cross(ac);
  const double nn = n.squaredNorm();

  TrianglePoint best;
  best.squared_distance = std::numeric_limits<double>::infinity();

  // Inside the prism over the triangle: the projection onto its plane, a + u ab + v ac, by the dual basis.
  if (nn > 0) {
    const Vec3 ap = p - a;
    const double u = ac.cross(n).dot(ap) / nn;
    const double v = n.cross(ab).dot(ap) / nn;
    if (u > 0 && v > 0 && u + v < 1) {
      const Vec3 foot = a + u * ab + v * ac;
      best = {foot, {1 - u - v, u, v}, (p - foot).squaredNorm(), Feature::face, 0};
      const double longest = std::max({ab.squaredNorm(), ac.squaredNorm(), (c - b).squaredNorm()});
      if (nn > kNeedleRatio * kNeedleRatio * longest * longest) return best;
    }
  }

  // Otherwise the best of the three edges.
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    const Vec3& from = corner[at(k)];
    const Vec3& to = corner[at(next)];
    const double t = segment_parameter(p - from, to - from);
    const Vec3 foot = t <= 0 ? from : (t >= 1 ? to : Vec3(from + t * (to - from)));
    const double squared_distance = (p - foot).squaredNorm();
    if (!(squared_distance < best.squared_distance)) continue;
    best.point = foot;
    best.squared_distance = squared_distance;
    best.barycentric.setZero();
    best.barycentric[k] = 1 - t;
    best.barycentric[next] = t;
    best.feature = t <= 0 || t >= 1 ? Feature::vertex : Feature::edge;
    best.local = t >= 1 ? next : k;
  }
  return best;
}

SegmentPair closest_points_of_segments(const Vec3& p0, const Vec3& p1, const Vec3& q0, const Vec3& q1)
{
  const Vec3 d = p1 - p0;
  const Vec3 e = q1 - q0;
  const Vec3 r = p0 - q0;
  const double dd = d.squaredNorm();
  const double ee = e.squaredNorm();
  const double de = d.dot(e);
  const double det = dd * ee - de * de;

  // The lines' closest parameters, clamped one after the other; parallel lines start anywhere.
  double s = det > 0 ? std::clamp((de * e.dot(r) - ee * d.dot(r)) / det, 0.0, 1.0) : 0.0;
  const double t = segment_parameter(r + s * d, e);
  s = segment_parameter(t * e - r, d);
  return {s, t, (r + s * d - t * e).squaredNorm()};
}

double squared_distance_of_triangles(const std::array<Vec3, 3>& a, const std::array<Vec3, 3>& b)
{
  // Two triangles that cross have an edge of one through the other.
  for (std::size_t k = 0; k < 3; ++k) {
    if (segment_crosses(a[k], a[(k + 1) % 3], b) || segment_crosses(b[k], b[(k + 1) % 3], a)) return 0;
  }
  // Otherwise the distance is between two edges, or between a corner and the other triangle.
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      best = std::min(
          best, closest_points_of_segments(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]).squared_distance);
    }
    best = std::min(best, closest_point_on_triangle(a[i], b[0], b[1], b[2]).squared_distance);
    best = std::min(best, closest_point_on_triangle(b[i], a[0], a[1], a[2]).squared_distance);
  }
  return best;
}

}  // namespace thrum::mesh
