// SPDX-License-Identifier: MIT
// The four tests of boyse.h: roots of (1) and (2) in a translation and in a rotation.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/collision/boyse.h"
#include "thrum/mesh/triangle_queries.h"

namespace thrum::collision {

namespace {

/// Edges that meet at a smaller angle are parallel (sine).
constexpr double kParallelSine = 1e-9;

// A value that changes as A + B x along a path of x from 0 to 1.
struct Linear {
  double a = 0;
  double b = 0;

  [[nodiscard]] BoyseRoots roots() const
  {
    BoyseRoots result;
    if (b == 0) return result;
    const double x = -a / b;
    if (x >= 0 && x <= 1) result.share[static_cast<std::size_t>(result.count++)] = x;
    return result;
  }
  [[nodiscard]] double rate(double) const { return b; }
};

// One that changes as A + B cos(x) + C sin(x) for x from 0 to `angle`.
struct Sinusoid {
  double a = 0;
  double b = 0;
  double c = 0;
  double angle = 0;

  [[nodiscard]] BoyseRoots roots() const
  {
    BoyseRoots result;
    const double size = std::hypot(b, c);
    if (!(angle > 0) || std::abs(a) > size || !(size > 0)) return result;
    const double middle = std::atan2(c, b);
    const double half = std::acos(std::clamp(-a / size, -1.0, 1.0));
    constexpr double kTurn = 2 * std::numbers::pi;
    for (const double x : {middle - half, middle + half}) {
      const double from_zero = x - kTurn * std::floor(x / kTurn);
      if (from_zero <= angle) result.share[static_cast<std::size_t>(result.count++)] = from_zero / angle;
    }
    if (result.count == 2 && result.share[1] < result.share[0]) std::swap(result.share[0], result.share[1]);
    return result;
  }
  [[nodiscard]] double rate(double share) const
  {
    const double x = share * angle;
    return angle * (c * std::cos(x) - b * std::sin(x));
  }
};

// y . (rotation by x about k of v) = (k.v)(k.y) + (v.y - (k.v)(k.y)) cos x + y.(k x v) sin x.
Sinusoid component(const Vec3& y, const Vec3& v, const Vec3& k, double angle)
{
  const double along = k.dot(v) * k.dot(y);
  return {along, v.dot(y) - along, y.dot(k.cross(v)), angle};
}

bool is_on_face(const Vec3& p, const std::array<Vec3, 3>& face, const Vec3& n, double tolerance)
{
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 side = face[(k + 1) % 3] - face[k];
    if (n.cross(side).dot(p - face[k]) < -tolerance * side.norm()) return false;
  }
  return true;
}

bool meet(const std::array<Vec3, 2>& edge, const std::array<Vec3, 2>& other, double tolerance)
{
  return mesh::closest_points_of_segments(edge[0], edge[1], other[0], other[1]).squared_distance <=
         tolerance * tolerance;
}

template <class Value, class Accept>
BoyseRoots accepted(const Value& value, const Accept& accept)
{
  const BoyseRoots roots = value.roots();
  BoyseRoots result;
  for (int i = 0; i < roots.count; ++i) {
    const double share = roots.share[static_cast<std::size_t>(i)];
    if (accept(share)) result.share[static_cast<std::size_t>(result.count++)] = share;
  }
  return result;
}

Vec3 rotated(const BoyseRotation& rotation, double share, const Vec3& p)
{
  return rotation.centre +
         Eigen::AngleAxisd(share * rotation.angle, rotation.axis) * Vec3(p - rotation.centre);
}

bool are_parallel(const Vec3& e, const Vec3& f)
{
  return e.cross(f).squaredNorm() <= kParallelSine * kParallelSine * e.squaredNorm() * f.squaredNorm();
}

}  // namespace

BoyseRoots translate_vertex(const Vec3& p, const Vec3& d, const std::array<Vec3, 3>& face, double tolerance)
{
  const Vec3 n = (face[1] - face[0]).cross(face[2] - face[0]).normalized();
  const Linear height{n.dot(p - face[0]), n.dot(d)};
  if (!(height.b < 0)) return {};
  return accepted(height, [&](double s) { return is_on_face(p + s * d, face, n, tolerance); });
}

BoyseRoots rotate_vertex(const Vec3& p, const BoyseRotation& rotation, const std::array<Vec3, 3>& face,
                         double tolerance)
{
  const Vec3 n = (face[1] - face[0]).cross(face[2] - face[0]).normalized();
  Sinusoid height = component(n, p - rotation.centre, rotation.axis, rotation.angle);
  height.a += n.dot(rotation.centre - face[0]);
  return accepted(height, [&](double s) {
    return height.rate(s) < 0 && is_on_face(rotated(rotation, s, p), face, n, tolerance);
  });
}

BoyseRoots translate_edge(const std::array<Vec3, 2>& edge, const Vec3& d, const std::array<Vec3, 2>& other,
                          double tolerance)
{
  const Vec3 across = (edge[1] - edge[0]).cross(other[1] - other[0]);
  if (are_parallel(edge[1] - edge[0], other[1] - other[0])) return {};
  const Linear gap{across.dot(edge[0] - other[0]), across.dot(d)};
  return accepted(gap, [&](double s) { return meet({edge[0] + s * d, edge[1] + s * d}, other, tolerance); });
}

BoyseRoots rotate_edge(const std::array<Vec3, 2>& edge, const BoyseRotation& rotation,
                       const std::array<Vec3, 2>& other, double tolerance)
{
  // (2) with lengths from the centre of the rotation: e . (f x w) - f . (g x e).
  const Vec3 e = edge[1] - edge[0];
  const Vec3 f = other[1] - other[0];
  const Vec3 g = edge[0] - rotation.centre;
  const Vec3 w = other[0] - rotation.centre;
  const Sinusoid first = component(f.cross(w), e, rotation.axis, rotation.angle);
  const Sinusoid second = component(f, g.cross(e), rotation.axis, rotation.angle);
  const Sinusoid gap{first.a - second.a, first.b - second.b, first.c - second.c, rotation.angle};
  return accepted(gap, [&](double s) {
    const std::array<Vec3, 2> moved{rotated(rotation, s, edge[0]), rotated(rotation, s, edge[1])};
    return !are_parallel(moved[1] - moved[0], f) && meet(moved, other, tolerance);
  });
}

}  // namespace thrum::collision
