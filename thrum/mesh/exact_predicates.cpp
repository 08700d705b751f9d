// SPDX-License-Identifier: MIT
#include "thrum/mesh/exact_predicates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "thrum/mesh/rounded_determinant.h"

namespace thrum::mesh {

namespace {

// [Shewchuk 1997, section 4.3]: bound on the error of the determinant as written in orientation_2d(),
// relative to the sum of the sizes of its terms.
constexpr double kOrientation2dBound = (3 + 16 * kHalfUlp) * kHalfUlp;

// A number as the exact sum of doubles, smallest first. N is the maximum number of parts.
template <std::size_t N>
struct Expansion {
  std::array<double, N> part{};
  std::size_t size = 0;

  // Parts are non-overlapping and increasing, so the last one has the sign of the whole.
  [[nodiscard]] int sign() const
  {
    if (size == 0) return 0;
    return part[size - 1] > 0 ? 1 : (part[size - 1] < 0 ? -1 : 0);
  }
};

// a + b = sum + error exactly (Knuth).
void two_sum(double a, double b, double& sum, double& error)
{
  sum = a + b;
  const double b_virtual = sum - a;
  error = (a - (sum - b_virtual)) + (b - b_virtual);
}

// a b = product + error exactly (Dekker): both are cut into halves of 26 bits whose products are exact.
void two_product(double a, double b, double& product, double& error)
{
  constexpr double kSplit = 134217729;  // 2^27 + 1
  const auto cut = [](double v, double& high, double& low) {
    const double c = kSplit * v;
    high = c - (c - v);
    low = v - high;
  };
  double a_high, a_low, b_high, b_low;
  cut(a, a_high, a_low);
  cut(b, b_high, b_low);
  product = a * b;
  error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
}

// Adds one double and drops zeros [Shewchuk 1997, figure 6].
template <std::size_t N>
void grow(Expansion<N>& e, double value)
{
  double carry = value;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < e.size; ++i) {
    double sum, error;
    two_sum(carry, e.part[i], sum, error);
    if (error != 0) e.part[kept++] = error;
    carry = sum;
  }
  if (carry != 0) e.part[kept++] = carry;
  e.size = kept;
}

template <std::size_t N, std::size_t M>
Expansion<N + M> sum_of(const Expansion<N>& a, const Expansion<M>& b, double sign_of_b)
{
  Expansion<N + M> result;
  for (std::size_t i = 0; i < a.size; ++i) grow(result, a.part[i]);
  for (std::size_t i = 0; i < b.size; ++i) grow(result, sign_of_b * b.part[i]);
  return result;
}

template <std::size_t N, std::size_t M>
Expansion<2 * N * M> product_of(const Expansion<N>& a, const Expansion<M>& b)
{
  Expansion<2 * N * M> result;
  for (std::size_t i = 0; i < a.size; ++i) {
    for (std::size_t k = 0; k < b.size; ++k) {
      double product, error;
      two_product(a.part[i], b.part[k], product, error);
      grow(result, error);
      grow(result, product);
    }
  }
  return result;
}

Expansion<2> difference(double a, double b)
{
  Expansion<2> result;
  grow(result, a);
  grow(result, -b);
  return result;
}

Expansion<16> minor_of(const Expansion<2>& ux, const Expansion<2>& uy, const Expansion<2>& vx,
                       const Expansion<2>& vy)
{
  return sum_of(product_of(ux, vy), product_of(uy, vx), -1);
}

int exact_orientation_3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
  std::array<std::array<Expansion<2>, 3>, 3> row;
  const std::array<const Vec3*, 3> points = {&b, &c, &d};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      row[i][k] = difference((*points[i])[static_cast<int>(k)], a[static_cast<int>(k)]);
    }
  }
  const auto& [u, v, w] = row;
  const auto first = product_of(minor_of(v[1], v[2], w[1], w[2]), u[0]);
  const auto second = product_of(minor_of(v[0], v[2], w[0], w[2]), u[1]);
  const auto third = product_of(minor_of(v[0], v[1], w[0], w[1]), u[2]);
  return sum_of(sum_of(first, second, -1), third, 1).sign();
}

// The two coordinates across the largest of the normal: a coplanar test becomes one in the plane.
int axis_across(const std::array<Vec3, 3>& t)
{
  int axis = 0;
  (t[1] - t[0]).cross(t[2] - t[0]).cwiseAbs().maxCoeff(&axis);
  return axis;
}

Vec2 flat(const Vec3& p, int axis)
{
  return {p[(axis + 1) % 3], p[(axis + 2) % 3]};
}

bool on_segment(const Vec2& p, const Vec2& a, const Vec2& b)
{
  return p.x() >= std::min(a.x(), b.x()) && p.x() <= std::max(a.x(), b.x()) &&
         p.y() >= std::min(a.y(), b.y()) && p.y() <= std::max(a.y(), b.y());
}

bool segments_touch(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& d)
{
  const int abc = orientation_2d(a, b, c);
  const int abd = orientation_2d(a, b, d);
  const int cda = orientation_2d(c, d, a);
  const int cdb = orientation_2d(c, d, b);
  if (abc * abd < 0 && cda * cdb < 0) return true;
  return (abc == 0 && on_segment(c, a, b)) || (abd == 0 && on_segment(d, a, b)) ||
         (cda == 0 && on_segment(a, c, d)) || (cdb == 0 && on_segment(b, c, d));
}

bool point_in_triangle(const Vec2& p, const std::array<Vec2, 3>& t)
{
  const int a = orientation_2d(t[0], t[1], p);
  const int b = orientation_2d(t[1], t[2], p);
  const int c = orientation_2d(t[2], t[0], p);
  if (a == 0 && b == 0 && c == 0) return false;  // a triangle without area: its sides are tested as segments
  return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

bool coplanar_segment_touches(const Vec3& p, const Vec3& q, const std::array<Vec3, 3>& t)
{
  const int axis = axis_across(t);
  const Vec2 p2 = flat(p, axis);
  const Vec2 q2 = flat(q, axis);
  const std::array<Vec2, 3> t2 = {flat(t[0], axis), flat(t[1], axis), flat(t[2], axis)};
  if (point_in_triangle(p2, t2)) return true;
  for (std::size_t k = 0; k < 3; ++k) {
    if (segments_touch(p2, q2, t2[k], t2[(k + 1) % 3])) return true;
  }
  return false;
}

}  // namespace

int orientation_3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
  if (const int sign = rounded_orientation_3d(a, b, c, d); sign != 0) return sign;
  return exact_orientation_3d(a, b, c, d);
}

int orientation_2d(const Vec2& a, const Vec2& b, const Vec2& c)
{
  const double left = (b.x() - a.x()) * (c.y() - a.y());
  const double right = (b.y() - a.y()) * (c.x() - a.x());
  const double det = left - right;
  const double bound = kOrientation2dBound * (std::abs(left) + std::abs(right));
  if (det > bound) return 1;
  if (det < -bound) return -1;
  return minor_of(difference(b.x(), a.x()), difference(b.y(), a.y()), difference(c.x(), a.x()),
                  difference(c.y(), a.y()))
      .sign();
}

bool segment_touches_triangle(const Vec3& p, const Vec3& q, const std::array<Vec3, 3>& t)
{
  const int side_p = orientation_3d(t[0], t[1], t[2], p);
  const int side_q = orientation_3d(t[0], t[1], t[2], q);
  if (side_p * side_q > 0) return false;
  if (side_p == 0 && side_q == 0) return coplanar_segment_touches(p, q, t);
  // The line p q passes all three sides of the triangle on the same side.
  const int a = orientation_3d(p, q, t[0], t[1]);
  const int b = orientation_3d(p, q, t[1], t[2]);
  const int c = orientation_3d(p, q, t[2], t[0]);
  return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

bool triangles_touch(const std::array<Vec3, 3>& s, const std::array<Vec3, 3>& t)
{
  // Where two triangles intersect, an edge of one meets the other.
  for (std::size_t k = 0; k < 3; ++k) {
    if (segment_touches_triangle(s[k], s[(k + 1) % 3], t) ||
        segment_touches_triangle(t[k], t[(k + 1) % 3], s))
      return true;
  }
  return false;
}

}  // namespace thrum::mesh
