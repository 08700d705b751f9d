// SPDX-License-Identifier: MIT
// The queries of one hierarchy: closest point, box, sphere.
#include "thrum/mesh/bvh.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "thrum/base/index.h"
#include "thrum/base/simd.h"
#include "thrum/mesh/bvh_walk.h"

namespace thrum::mesh {

namespace {

using bvh_walk::Entry;
using bvh_walk::kFloatSlack;
using bvh_walk::kStackSize;
using bvh_walk::Lanes;
using bvh_walk::load;
using bvh_walk::push_sorted;

// Query points farther away are moved to this distance [unit lengths] for the tests against boxes: towards a
// convex set that contains the mesh, so a box never seems farther than it is, and squares stay finite.
constexpr double kFarUnits = 1e9;

// Squared distances from q to the four boxes; infinity for lanes without a child.
Lanes box_distances(const Bvh::Node& node, const Lanes (&q)[3])
{
  Lanes sum = Lanes::Zero();
  for (int d = 0; d < 3; ++d) {
    const Lanes outside = (load(node.lower[d]) - q[d]).max(q[d] - load(node.upper[d])).max(0.0f);
    sum += outside * outside;
  }
  return sum;
}

using base::simd::both;
using base::simd::Double2;
using Pair3 = base::simd::Lanes3<Double2>;

Pair3 corner_pair(const double (&corner)[3][Bvh::kWidth], int k)
{
  return {base::simd::load2(&corner[0][k]), base::simd::load2(&corner[1][k]),
          base::simd::load2(&corner[2][k])};
}

// Squared distance from the point at `r` to the segment from 0 along `edge`.
Double2 segment_distances(const Pair3& r, const Pair3& edge, Double2 inverse_squared_length)
{
  const Double2 s = base::simd::min(base::simd::max(dot(r, edge) * inverse_squared_length, both(0)), both(1));
  const Pair3 left = r - s * edge;
  return dot(left, left);
}

// Squared distances from p to the four triangles of a packet, two at a time, the same steps for every lane:
// the closest point on each edge, the projection onto the plane if it is inside, and the minimum of these.
// NaN for unused lanes.
void triangle_distances(const Bvh::Packet& t, const Vec3& p, double (&out)[Bvh::kWidth])
{
  const Pair3 query = {both(p.x()), both(p.y()), both(p.z())};
  for (int k = 0; k < Bvh::kWidth; k += 2) {
    const Pair3 a = corner_pair(t.a, k), b = corner_pair(t.b, k), c = corner_pair(t.c, k);
    const Pair3 ab = b - a, ac = c - a, ap = query - a;
    const Double2 on_ab = segment_distances(ap, ab, base::simd::load2(&t.inverse_ab[k]));
    const Double2 on_ac = segment_distances(ap, ac, base::simd::load2(&t.inverse_ac[k]));
    const Double2 on_bc = segment_distances(query - b, c - b, base::simd::load2(&t.inverse_bc[k]));
    const Double2 on_edges = base::simd::min(base::simd::min(on_ab, on_ac), on_bc);

    // Projection onto the plane, a + u ab + v ac; it is inside when the smallest of the three barycentric
    // coordinates is not negative. In a needle triangle u and v may be pure rounding error: then this is some
    // point of the triangle, and an edge is nearer.
    const Pair3 n = cross(ab, ac);
    const Double2 inverse_nn = base::simd::load2(&t.inverse_nn[k]);
    const Double2 u = dot(cross(ap, ac), n) * inverse_nn, v = dot(cross(ab, ap), n) * inverse_nn;
    const Double2 smallest = base::simd::min(base::simd::min(u, v), both(1) - u - v);
    const Pair3 left = ap - u * ab - v * ac;
    const Double2 result = smallest >= both(0) ? base::simd::min(dot(left, left), on_edges) : on_edges;
    out[k] = result[0];
    out[k + 1] = result[1];
  }
}

// The best triangle so far under the tie rule.
struct Nearest {
  // smallest squared distance so far, or the allowed one
  double squared = std::numeric_limits<double>::infinity();
  double limit = std::numeric_limits<double>::infinity();  // farther triangles are skipped
  double tie;
  Index triangle = std::numeric_limits<Index>::max();
  Index slot = -1;  // where its corners are: kWidth * packet + lane

  Nearest(double squared_start, double tie_square) : squared(squared_start), tie(tie_square)
  {
    limit = with_tie(squared);
  }

  [[nodiscard]] double with_tie(double d) const { return d * (1 + 2 * Bvh::kTieRelative) + tie; }

  void update(double d, Index candidate, Index candidate_slot)
  {
    if (!(d <= limit)) return;
    // Clearly nearer: take it. Equally near: the lower index.
    if (with_tie(d) < squared || candidate < triangle) {
      triangle = candidate;
      slot = candidate_slot;
    }
    squared = std::min(squared, d);
    limit = with_tie(squared);
  }

  void update(std::span<const Bvh::Packet> packets, Index number, const Vec3& p)
  {
    const Bvh::Packet& packet = packets[at(number)];
    double d[Bvh::kWidth];
    triangle_distances(packet, p, d);
    for (int lane = 0; lane < Bvh::kWidth; ++lane)
      update(d[lane], packet.triangle[lane], number * Bvh::kWidth + lane);
  }
};

// The limit on squared distances [m^2] as a float in unit coordinates, rounded up and finite.
float float_limit(double squared, double inverse_unit_squared)
{
  return static_cast<float>(std::min(squared * inverse_unit_squared, 1e37)) * kFloatSlack;
}

}  // namespace

// Prefetches a child that waits on the stack; a large mesh does not fit into the cache.
void Bvh::prefetch(Index child) const
{
  constexpr std::size_t kLine = 64;  // bytes
  if (child >= 0) {
    __builtin_prefetch(&nodes_[at(child)]);
    return;
  }
  const auto* packet = reinterpret_cast<const std::byte*>(&packets_[at(~child)]);
  for (std::size_t offset = 0; offset < sizeof(Packet); offset += kLine) __builtin_prefetch(packet + offset);
}

ClosestPoint Bvh::closest_point(const Vec3& p, double max_distance, Index hint) const
{
  Nearest nearest(max_distance * max_distance, tie_);
  if (hint >= 0 && at(hint) < slot_.size()) {
    nearest.update(packets_, slot_[at(hint)] / kWidth, p);
  }

  const double to_unit = 1 / (unit_ * unit_);
  float limit = float_limit(nearest.limit, to_unit);
  const Vec3 unit = ((p - origin_) / unit_).cwiseMax(-kFarUnits).cwiseMin(kFarUnits);
  const Lanes q[3] = {Lanes::Constant(static_cast<float>(unit.x())),
                      Lanes::Constant(static_cast<float>(unit.y())),
                      Lanes::Constant(static_cast<float>(unit.z()))};
  Entry stack[kStackSize];
  stack[0] = {0, 0};
  int top = 1;
  while (top > 0) {
    const Entry entry = stack[--top];
    if (!(entry.key <= limit)) continue;
    if (entry.child >= 0) {
      const Node& node = nodes_[at(entry.child)];
      const int bottom = top;
      push_sorted(node, box_distances(node, q), limit, stack, top);
      for (int i = bottom; i < top; ++i) prefetch(stack[i].child);
    } else {
      nearest.update(packets_, ~entry.child, p);
      limit = float_limit(nearest.limit, to_unit);
    }
  }

  if (nearest.slot < 0) return {};
  const ClosestPoint result = closest_point_in(p, nearest.slot);
  return result.distance > max_distance ? ClosestPoint{} : result;
}

ClosestPoint Bvh::closest_point_on(const Vec3& p, Index triangle) const
{
  return closest_point_in(p, slot_[at(triangle)]);
}

// The corners come from the packet, which a search has just read, not from the mesh.
ClosestPoint Bvh::closest_point_in(const Vec3& p, Index slot) const
{
  const Packet& packet = packets_[at(slot / kWidth)];
  const int lane = slot % kWidth;
  const auto corner = [lane](const double(&lanes)[3][kWidth]) {
    return Vec3(lanes[0][lane], lanes[1][lane], lanes[2][lane]);
  };
  const TrianglePoint foot =
      closest_point_on_triangle(p, corner(packet.a), corner(packet.b), corner(packet.c));
  const Index triangle = packet.triangle[lane];
  ClosestPoint result;
  result.point = foot.point;
  result.distance = std::sqrt(foot.squared_distance);
  result.triangle = triangle;
  result.barycentric = foot.barycentric;
  result.feature = foot.feature;
  switch (foot.feature) {
    case Feature::vertex:
      result.feature_id = mesh_.triangles[at(triangle)][at(foot.local)];
      break;
    case Feature::edge:
      result.feature_id = 3 * triangle + foot.local;
      break;
    case Feature::face:
      result.feature_id = triangle;
      break;
  }
  return result;
}

template <class Leaf>
void Bvh::walk_boxes(const float (&lower)[3], const float (&upper)[3], const Leaf& leaf) const
{
  Index stack[kStackSize];
  stack[0] = 0;
  int top = 1;
  while (top > 0) {
    const Index child = stack[--top];
    if (child < 0) {
      leaf(packets_[at(~child)]);
      continue;
    }
    const Node& node = nodes_[at(child)];
    for (int lane = 0; lane < kWidth; ++lane) {
      bool touches = true;
      for (int d = 0; d < 3; ++d) {
        touches = touches && node.lower[d][lane] <= upper[d] && node.upper[d][lane] >= lower[d];
      }
      if (touches) stack[top++] = node.child[lane];
    }
  }
}

void Bvh::triangles_in_box(const Box3& box, std::vector<Index>& out) const
{
  out.clear();
  // Only the part near the mesh matters, which keeps the floats in range.
  float lower[3], upper[3];
  for (int d = 0; d < 3; ++d) {
    constexpr double kOutsideUnits = 2;
    lower[d] =
        static_cast<float>(std::clamp((box.min()[d] - origin_[d]) / unit_, -kOutsideUnits, kOutsideUnits));
    upper[d] =
        static_cast<float>(std::clamp((box.max()[d] - origin_[d]) / unit_, -kOutsideUnits, kOutsideUnits));
  }
  walk_boxes(lower, upper, [&](const Packet& packet) {
    for (int k = 0; k < kWidth; ++k) {
      if (packet.triangle[k] < 0) continue;
      bool touches = true;
      for (int d = 0; d < 3; ++d) {
        const auto [low, high] = std::minmax({packet.a[d][k], packet.b[d][k], packet.c[d][k]});
        touches = touches && low <= box.max()[d] && high >= box.min()[d];
      }
      if (touches) out.push_back(packet.triangle[k]);
    }
  });
  std::sort(out.begin(), out.end());
}

void Bvh::triangles_in_sphere(const Vec3& centre, double radius, std::vector<Index>& out) const
{
  out.clear();
  if (!(radius >= 0)) return;
  const Vec3 unit = ((centre - origin_) / unit_).cwiseMax(-kFarUnits).cwiseMin(kFarUnits);
  const Lanes q[3] = {Lanes::Constant(static_cast<float>(unit.x())),
                      Lanes::Constant(static_cast<float>(unit.y())),
                      Lanes::Constant(static_cast<float>(unit.z()))};
  const float limit = float_limit(radius * radius, 1 / (unit_ * unit_));
  Entry stack[kStackSize];
  stack[0] = {0, 0};
  int top = 1;
  while (top > 0) {
    const Entry entry = stack[--top];
    if (entry.child >= 0) {
      const Node& node = nodes_[at(entry.child)];
      push_sorted(node, box_distances(node, q), limit, stack, top);
      continue;
    }
    const Packet& packet = packets_[at(~entry.child)];
    double d[kWidth];
    triangle_distances(packet, centre, d);
    for (int lane = 0; lane < kWidth; ++lane) {
      if (d[lane] <= radius * radius) out.push_back(packet.triangle[lane]);
    }
  }
  std::sort(out.begin(), out.end());
}

}  // namespace thrum::mesh
