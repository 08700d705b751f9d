// SPDX-License-Identifier: MIT
#include "thrum/mesh/exact_point.h"

#include <cmath>
#include <utility>

#include "thrum/base/index.h"

namespace thrum::mesh {

namespace {

// Coordinates are below 2^30 and a ratio has a relative error of 2^-51, so approximations have an error of
// 2^-21; differences of two 2^-20, with their own rounding of 2^-23. The constants leave a margin of a factor
// of four or more.
constexpr double kDifferenceError = 0x1p-18;
constexpr double kProductError = 0x1p-50;  // relative, of a sum of a few products

BigInteger determinant(const ExactPoint& a, const ExactPoint& b, const ExactPoint& c, int axis)
{
  const auto u = at((axis + 1) % 3);
  const auto v = at((axis + 2) % 3);
  return a.h[u] * (b.h[v] * c.w - c.h[v] * b.w) - a.h[v] * (b.h[u] * c.w - c.h[u] * b.w) +
         a.w * (b.h[u] * c.h[v] - c.h[u] * b.h[v]);
}

void finish(ExactPoint& p)
{
  if (p.w.sign() < 0) {
    for (BigInteger& h : p.h) h = -h;
    p.w = -p.w;
  }
  for (std::size_t k = 0; k < 3; ++k) p.approximate[k] = BigInteger::ratio(p.h[k], p.w);
}

int sign_of(Int128 value)
{
  return value > 0 ? 1 : value < 0 ? -1 : 0;
}

}  // namespace

Int128 GridPlane::height(const GridPoint& p) const
{
  Int128 sum = -offset;
  for (std::size_t k = 0; k < 3; ++k) sum += static_cast<Int128>(normal[k]) * p[k];
  return sum;
}

GridPlane plane_through(const GridPoint& a, const GridPoint& b, const GridPoint& c)
{
  GridPlane plane;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t i = (k + 1) % 3;
    const std::size_t j = (k + 2) % 3;
    plane.normal[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
    plane.offset += static_cast<Int128>(plane.normal[k]) * a[k];
  }
  return plane;
}

ExactPoint grid_point(const GridPoint& p)
{
  ExactPoint point;
  for (std::size_t k = 0; k < 3; ++k) {
    point.h[k] = BigInteger(p[k]);
    point.approximate[k] = static_cast<double>(p[k]);
  }
  point.w = BigInteger(std::int64_t{1});
  point.grid = p;
  point.on_grid = true;
  return point;
}

ExactPoint line_plane_intersection(const GridPoint& a, const GridPoint& b, const GridPlane& plane)
{
  // x = (a s_b - b s_a) / (s_b - s_a) with the heights s; 124 bits at most.
  const Int128 s_a = plane.height(a);
  const Int128 s_b = plane.height(b);
  ExactPoint point;
  for (std::size_t k = 0; k < 3; ++k) point.h[k] = BigInteger(a[k] * s_b - b[k] * s_a);
  point.w = BigInteger(s_b - s_a);
  finish(point);
  return point;
}

ExactPoint segment_intersection(const ExactPoint& p, const ExactPoint& q, const ExactPoint& r,
                                const ExactPoint& s, int axis)
{
  // With D_r = det(p, q, r) = turn * p.w q.w r.w and the same for D_s, the crossing is (r.h D_s - s.h D_r) /
  // (r.w D_s - s.w D_r): all three coordinates at once, without the plane.
  const BigInteger d_r = determinant(p, q, r, axis);
  const BigInteger d_s = determinant(p, q, s, axis);
  ExactPoint point;
  for (std::size_t k = 0; k < 3; ++k) point.h[k] = r.h[k] * d_s - s.h[k] * d_r;
  point.w = r.w * d_s - s.w * d_r;
  finish(point);
  return point;
}

ExactPoint weighted_mean(const ExactPoint& a, const ExactPoint& b, const ExactPoint& c,
                         const std::array<int, 3>& weights)
{
  const auto weight = [&](std::size_t k) {
    return BigInteger(static_cast<std::int64_t>(weights[k]));
  };
  const BigInteger ab = a.w * b.w;
  const BigInteger for_a = weight(0) * b.w * c.w;
  const BigInteger for_b = weight(1) * a.w * c.w;
  const BigInteger for_c = weight(2) * ab;
  ExactPoint point;
  for (std::size_t k = 0; k < 3; ++k) point.h[k] = a.h[k] * for_a + b.h[k] * for_b + c.h[k] * for_c;
  point.w = (weight(0) + weight(1) + weight(2)) * ab * c.w;
  finish(point);
  return point;
}

int orientation(const ExactPoint& a, const ExactPoint& b, const ExactPoint& c, int axis)
{
  const int u = (axis + 1) % 3;
  const int v = (axis + 2) % 3;
  const double bu = b.approximate[u] - a.approximate[u];
  const double bv = b.approximate[v] - a.approximate[v];
  const double cu = c.approximate[u] - a.approximate[u];
  const double cv = c.approximate[v] - a.approximate[v];
  const double turn = bu * cv - bv * cu;
  const double bound =
      kDifferenceError * (std::abs(bu) + std::abs(bv) + std::abs(cu) + std::abs(cv) + kDifferenceError) +
      kProductError * (std::abs(bu * cv) + std::abs(bv * cu));
  if (turn > bound) return 1;
  if (turn < -bound) return -1;
  if (a.on_grid && b.on_grid && c.on_grid) {
    const std::size_t i = at(u);
    const std::size_t j = at(v);
    return sign_of(static_cast<Int128>(b.grid[i] - a.grid[i]) * (c.grid[j] - a.grid[j]) -
                   static_cast<Int128>(b.grid[j] - a.grid[j]) * (c.grid[i] - a.grid[i]));
  }
  return determinant(a, b, c, axis).sign();
}

int side(const GridPlane& plane, const ExactPoint& p)
{
  if (p.on_grid) return sign_of(plane.height(p.grid));
  BigInteger sum = -(BigInteger(plane.offset) * p.w);
  for (std::size_t k = 0; k < 3; ++k) sum = sum + BigInteger(plane.normal[k]) * p.h[k];
  return sum.sign();
}

int compare(const ExactPoint& a, const ExactPoint& b)
{
  for (std::size_t k = 0; k < 3; ++k) {
    const double difference = a.approximate[k] - b.approximate[k];
    if (difference > kDifferenceError) return 1;
    if (difference < -kDifferenceError) return -1;
    if (a.on_grid && b.on_grid) {
      if (a.grid[k] != b.grid[k]) return a.grid[k] > b.grid[k] ? 1 : -1;
      continue;
    }
    const int sign = (a.h[k] * b.w - b.h[k] * a.w).sign();
    if (sign != 0) return sign;
  }
  return 0;
}

Index PointTable::add(ExactPoint point)
{
  const auto fresh = count_of(points_);
  points_.push_back(std::move(point));
  const auto [entry, inserted] = index_.insert(fresh);
  if (!inserted) points_.pop_back();
  return *entry;
}

}  // namespace thrum::mesh
