// SPDX-License-Identifier: MIT
#include "thrum/shapes/constrained_triangulation.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::shapes {

namespace {

constexpr Index kNone = -1;

}  // namespace

ConstrainedTriangulation::ConstrainedTriangulation(const Triangle& whole, Orientation orientation)
    : orientation_(std::move(orientation))
{
  add(whole);
}

std::uint64_t ConstrainedTriangulation::directed(Index a, Index b)
{
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32) | static_cast<std::uint32_t>(b);
}

std::uint64_t ConstrainedTriangulation::undirected(Index a, Index b)
{
  return directed(std::min(a, b), std::max(a, b));
}

Index ConstrainedTriangulation::triangle_of(Index a, Index b) const
{
  const auto entry = triangle_of_edge_.find(directed(a, b));
  return entry == triangle_of_edge_.end() ? kNone : entry->second;
}

Index ConstrainedTriangulation::opposite(Index triangle, Index a, Index b) const
{
  for (const Index v : triangles_[at(triangle)]) {
    if (v != a && v != b) return v;
  }
  return kNone;
}

void ConstrainedTriangulation::set_triangle(Index triangle, const Triangle& corners)
{
  triangles_[at(triangle)] = corners;
  for (std::size_t k = 0; k < 3; ++k)
    triangle_of_edge_[directed(corners[k], corners[(k + 1) % 3])] = triangle;
}

Index ConstrainedTriangulation::add(const Triangle& corners)
{
  const auto triangle = count_of(triangles_);
  triangles_.push_back(corners);
  set_triangle(triangle, corners);
  return triangle;
}

void ConstrainedTriangulation::remove_edges(Index triangle)
{
  const Triangle& t = triangles_[at(triangle)];
  for (std::size_t k = 0; k < 3; ++k) triangle_of_edge_.erase(directed(t[k], t[(k + 1) % 3]));
}

// Walks towards p; a walk of more steps than there are triangles is replaced by a search of all triangles.
Index ConstrainedTriangulation::locate(Index p)
{
  Index current = last_;
  for (std::size_t step = 0; step < triangles_.size(); ++step) {
    const Triangle& t = triangles_[at(current)];
    Index next = kNone;
    for (std::size_t i = 0; i < 3 && next == kNone; ++i) {
      const std::size_t k = (i + step) % 3;
      if (orientation_(t[k], t[(k + 1) % 3], p) < 0) next = triangle_of(t[(k + 1) % 3], t[k]);
    }
    if (next == kNone) break;
    current = next;
  }
  const auto holds = [&](const Triangle& t) {
    return orientation_(t[0], t[1], p) >= 0 && orientation_(t[1], t[2], p) >= 0 &&
           orientation_(t[2], t[0], p) >= 0;
  };
  if (holds(triangles_[at(current)])) return last_ = current;
  for (std::size_t t = 0; t < triangles_.size(); ++t) {
    if (holds(triangles_[t])) return last_ = static_cast<Index>(t);
  }
  throw Error("A point lies outside the triangle that is being cut.");
}

void ConstrainedTriangulation::insert_point(Index p)
{
  const Index t = locate(p);
  const Triangle c = triangles_[at(t)];
  for (std::size_t k = 0; k < 3; ++k) {
    if (orientation_(c[k], c[(k + 1) % 3], p) == 0) return split_edge(c[k], c[(k + 1) % 3], p);
  }
  remove_edges(t);
  set_triangle(t, {c[0], c[1], p});
  add({c[1], c[2], p});
  add({c[2], c[0], p});
}

void ConstrainedTriangulation::split_edge(Index a, Index b, Index p)
{
  for (const auto& [u, v] : {std::pair(a, b), std::pair(b, a)}) {
    const Index t = triangle_of(u, v);
    if (t == kNone) continue;
    const Index w = opposite(t, u, v);
    remove_edges(t);
    set_triangle(t, {u, p, w});
    add({p, v, w});
  }
  if (constrained_.erase(undirected(a, b)) > 0) {
    constrained_.insert(undirected(a, p));
    constrained_.insert(undirected(p, b));
  }
}

// Replaces the diagonal a b by the other one, when the quad is strictly convex.
bool ConstrainedTriangulation::flip(Index a, Index b)
{
  const Index left = triangle_of(a, b);
  const Index right = triangle_of(b, a);
  if (left == kNone || right == kNone) return false;
  const Index c = opposite(left, a, b);
  const Index d = opposite(right, a, b);
  if (orientation_(d, b, c) <= 0 || orientation_(c, a, d) <= 0) return false;
  remove_edges(left);
  remove_edges(right);
  set_triangle(left, {c, d, b});
  set_triangle(right, {d, c, a});
  return true;
}

bool ConstrainedTriangulation::insert_segment(Index a, Index b)
{
  if (triangle_of(a, b) != kNone || triangle_of(b, a) != kNone) {
    constrained_.insert(undirected(a, b));
    return true;
  }
  // Find where the segment leaves the fan about a.
  std::pair<Index, Index> exit = {kNone, kNone};
  for (const Triangle& t : triangles_) {
    for (std::size_t k = 0; k < 3 && exit.first == kNone; ++k) {
      if (t[k] != a) continue;
      const Index u = t[(k + 1) % 3];
      const Index v = t[(k + 2) % 3];
      const int u_side = orientation_(a, b, u);
      const int v_side = orientation_(a, b, v);
      // A point on the segment: the segment becomes a chain through it.
      if (u_side == 0 && v_side > 0) return insert_segment(a, u) && insert_segment(u, b);
      if (v_side == 0 && u_side < 0) return insert_segment(a, v) && insert_segment(v, b);
      if (u_side < 0 && v_side > 0) exit = {u, v};
    }
    if (exit.first != kNone) break;
  }
  if (exit.first == kNone) return false;

  // Collect the crossed edges up to b.
  std::vector<std::pair<Index, Index>> crossed;
  auto [u, v] = exit;
  while (true) {
    if (is_constrained(u, v)) return false;
    crossed.emplace_back(u, v);
    const Index beyond = triangle_of(v, u);
    if (beyond == kNone) return false;
    const Index w = opposite(beyond, u, v);
    if (w == b) break;
    const int w_side = orientation_(a, b, w);
    if (w_side == 0) return insert_segment(a, w) && insert_segment(w, b);
    if (w_side > 0) {
      v = w;
    } else {
      u = w;
    }
  }
  return flip_crossing_edges(a, b, std::move(crossed));
}

// Flips the crossed edges until none crosses a b [Sloan, "A fast algorithm for generating constrained
// Delaunay triangulations", 1993]: an edge that cannot be flipped yet waits at the end of the queue.
bool ConstrainedTriangulation::flip_crossing_edges(Index a, Index b,
                                                   std::vector<std::pair<Index, Index>> crossed)
{
  std::deque<std::pair<Index, Index>> queue(crossed.begin(), crossed.end());
  std::size_t skipped_in_a_row = 0;
  while (!queue.empty()) {
    const auto [u, v] = queue.front();
    queue.pop_front();
    const Index c = opposite(triangle_of(u, v), u, v);
    const Index d = opposite(triangle_of(v, u), u, v);
    if (!flip(u, v)) {
      queue.emplace_back(u, v);
      if (++skipped_in_a_row > queue.size() * queue.size() + 1) return false;
      continue;
    }
    skipped_in_a_row = 0;
    const bool touches_end = c == a || c == b || d == a || d == b;
    if (!touches_end && orientation_(a, b, c) != orientation_(a, b, d)) queue.emplace_back(c, d);
  }
  constrained_.insert(undirected(a, b));
  return triangle_of(a, b) != kNone || triangle_of(b, a) != kNone;
}

void ConstrainedTriangulation::improve(const std::function<bool(Index, Index, Index, Index)>& better,
                                       int passes)
{
  for (int pass = 0; pass < passes; ++pass) {
    bool changed = false;
    for (std::size_t t = 0; t < triangles_.size(); ++t) {
      for (std::size_t k = 0; k < 3; ++k) {
        const Index a = triangles_[t][k];
        const Index b = triangles_[t][(k + 1) % 3];
        const Index across = triangle_of(b, a);
        if (across == kNone || is_constrained(a, b)) continue;
        const Index c = opposite(static_cast<Index>(t), a, b);
        const Index d = opposite(across, a, b);
        if (better(a, b, c, d) && flip(a, b)) {
          changed = true;
          break;
        }
      }
    }
    if (!changed) return;
  }
}

}  // namespace thrum::shapes
