// SPDX-License-Identifier: MIT
#include "thrum/distance/geodesic_polish.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "thrum/base/index.h"

namespace thrum::distance {

namespace {

/// The first pass follows the order of the given distances; the second corrects where that order was wrong.
constexpr int kPasses = 2;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

// j = (0, 0), k = (base, 0), the source s below and the corner i above the edge:
//
//     s_x = (d_j^2 - d_k^2 + base^2) / (2 base),    s_y = -sqrt(d_j^2 - s_x^2)
//
// and d_i = |i - s| when the straight line passes through the edge. Where d_j and d_k do not come from one
// source (d_j^2 < s_x^2), or the line misses the edge, the path along an edge is used.
double distance_through_edge(double d_j, double d_k, double base, double l_j, double l_k)
{
  const double along = std::min(d_j + l_j, d_k + l_k);
  const double half = 1 / (2 * base);
  const double sx = (d_j * d_j - d_k * d_k + base * base) * half;
  const double sy2 = d_j * d_j - sx * sx;
  if (!(sy2 >= 0)) return along;
  const double ix = (l_j * l_j - l_k * l_k + base * base) * half;
  const double iy2 = l_j * l_j - ix * ix;
  const double sy = std::sqrt(sy2);
  const double iy = std::sqrt(std::max(iy2, 0.0));
  // The line crosses the edge at (s_x i_y + i_x s_y) / (s_y + i_y).
  const double crossing = sx * iy + ix * sy;
  if (crossing < 0 || crossing > base * (sy + iy)) return along;
  return std::min(along, std::sqrt((ix - sx) * (ix - sx) + (iy + sy) * (iy + sy)));
}

namespace {

// The best of the vertex's own distance and those through the triangles around it.
double relaxed(const IntrinsicTriangulation& m, const VertexTriangles& around,
               const std::vector<double>& distance, Index v)
{
  double best = distance[at(v)];
  for (const Index h : around.edges_from(v)) {
    // Edge h leaves v towards j, the edge before it comes from k.
    const Index first = 3 * (h / 3);
    const Index after = first + (h - first + 1) % 3;
    const Index before = first + (h - first + 2) % 3;
    const double d_j = distance[at(m.corners[at(after)])];
    const double d_k = distance[at(m.corners[at(before)])];
    if (std::min(d_j, d_k) >= best) continue;
    if (std::max(d_j, d_k) < kInfinity) {
      const double through =
          distance_through_edge(d_j, d_k, m.lengths[at(after)], m.lengths[at(h)], m.lengths[at(before)]);
      best = std::min(best, through);
    } else {
      best = std::min(best, d_j < d_k ? d_j + m.lengths[at(h)] : d_k + m.lengths[at(before)]);
    }
  }
  return best;
}

}  // namespace

std::vector<NearVertex> fill_near_distances(const IntrinsicTriangulation& m, const VertexTriangles& around,
                                            const std::vector<Index>& seeds, Index rings,
                                            std::vector<double>& distance)
{
  std::vector<NearVertex> near;
  std::vector<char> seen(at(m.vertex_count), 0);
  for (const Index v : seeds) {
    if (!seen[at(v)]) near.push_back({v, 0});
    seen[at(v)] = 1;
  }
  const std::size_t seed_count = near.size();
  for (std::size_t head = 0; head < near.size(); ++head) {
    const NearVertex here = near[head];
    if (here.ring == rings) continue;
    for (const Index h : around.edges_from(here.vertex)) {
      const Index first = 3 * (h / 3);
      for (Index k = first; k < first + 3; ++k) {
        const Index w = m.corners[at(k)];
        if (seen[at(w)]) continue;
        seen[at(w)] = 1;
        near.push_back({w, here.ring + 1});
      }
    }
  }
  // Each pass extends exact values by at least one ring.
  for (Index pass = 0; pass <= rings; ++pass)
    for (std::size_t k = seed_count; k < near.size(); ++k)
      distance[at(near[k].vertex)] = relaxed(m, around, distance, near[k].vertex);
  return near;
}

void polish_distances(const IntrinsicTriangulation& m, const VertexTriangles& around,
                      const std::vector<double>& known, std::vector<double>& distance)
{
  std::vector<std::pair<double, Index>> order;
  for (Index v = 0; v < m.vertex_count; ++v)
    if (distance[at(v)] < kInfinity && known[at(v)] > 0) order.emplace_back(distance[at(v)], v);
  std::sort(order.begin(), order.end());
  std::vector<double> sharp = known;
  for (int pass = 0; pass < kPasses; ++pass)
    for (const auto& [rough, v] : order) sharp[at(v)] = relaxed(m, around, sharp, v);
  // A vertex that no pass reached keeps its given distance.
  for (Index v = 0; v < m.vertex_count; ++v)
    if (sharp[at(v)] < kInfinity) distance[at(v)] = sharp[at(v)];
}

}  // namespace thrum::distance
