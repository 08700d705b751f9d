// SPDX-License-Identifier: MIT
#include "thrum/elastic/profile_mesh.h"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

#include "thrum/base/index.h"

namespace thrum::elastic {

namespace {

using EdgeKey = std::pair<Index, Index>;

EdgeKey edge_key(Index a, Index b)
{
  return {std::min(a, b), std::max(a, b)};
}

// Twice the signed area.
double turn(const Vec2& a, const Vec2& b, const Vec2& c)
{
  return (b.x() - a.x()) * (c.y() - a.y()) - (b.y() - a.y()) * (c.x() - a.x());
}

class Triangulation {
 public:
  explicit Triangulation(const std::vector<Vec2>& outline) : points(outline) {}

  // Ears are tried in turn around the outline.
  bool cut_ears()
  {
    std::vector<Index> left(points.size());
    for (std::size_t k = 0; k < left.size(); ++k) left[k] = static_cast<Index>(k);
    std::size_t at_ear = 0;
    std::size_t failures = 0;
    while (left.size() > 2 && failures <= left.size()) {
      const std::size_t n = left.size();
      at_ear %= n;
      const Index a = left[(at_ear + n - 1) % n];
      const Index b = left[at_ear];
      const Index c = left[(at_ear + 1) % n];
      if (!is_ear(left, a, b, c)) {
        ++failures;
        ++at_ear;
        continue;
      }
      add({a, b, c});
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(at_ear));
      failures = 0;
      ++at_ear;
    }
    return left.size() == 2;
  }

  void refine(double longest)
  {
    longest_ = longest;
    std::vector<EdgeKey> all;
    for (const auto& [edge, sides] : around_) all.push_back(edge);
    for (const EdgeKey& edge : all) restore(edge);
    for (const auto& [edge, sides] : around_) enqueue(edge);
    while (!queue_.empty()) {
      const EdgeKey edge = queue_.top().second;
      queue_.pop();
      if (around_.contains(edge)) halve(edge);
    }
  }

  std::vector<Vec2> points;
  std::vector<Triangle> triangles;

  [[nodiscard]] bool on_outline(const EdgeKey& edge) const { return around_.at(edge)[1] < 0; }

 private:
  bool is_ear(const std::vector<Index>& left, Index a, Index b, Index c) const
  {
    const Vec2& pa = points[at(a)];
    const Vec2& pb = points[at(b)];
    const Vec2& pc = points[at(c)];
    constexpr double kFlat = 1e-12;
    const double flat = kFlat * ((pc - pa).squaredNorm() + (pb - pa).squaredNorm());
    if (!(turn(pa, pb, pc) > flat)) return false;
    for (const Index k : left) {
      if (k == a || k == b || k == c) continue;
      const Vec2& p = points[at(k)];
      if (turn(pa, pb, p) >= -flat && turn(pb, pc, p) >= -flat && turn(pc, pa, p) >= -flat) return false;
    }
    return true;
  }

  void add(const Triangle& t)
  {
    const auto number = count_of(triangles);
    triangles.push_back(t);
    attach(number);
  }
  void attach(Index number)
  {
    const Triangle& t = triangles[at(number)];
    for (std::size_t k = 0; k < 3; ++k) {
      auto& sides =
          around_.try_emplace(edge_key(t[k], t[(k + 1) % 3]), std::array<Index, 2>{-1, -1}).first->second;
      (sides[0] < 0 ? sides[0] : sides[1]) = number;
    }
  }
  void detach(Index number)
  {
    const Triangle& t = triangles[at(number)];
    for (std::size_t k = 0; k < 3; ++k) {
      const EdgeKey edge = edge_key(t[k], t[(k + 1) % 3]);
      auto& sides = around_.at(edge);
      if (sides[0] == number) sides[0] = sides[1];
      sides[1] = -1;
      if (sides[0] < 0) around_.erase(edge);
    }
  }
  [[nodiscard]] Index opposite(Index number, const EdgeKey& edge) const
  {
    for (const Index v : triangles[at(number)])
      if (v != edge.first && v != edge.second) return v;
    return -1;
  }
  void enqueue(const EdgeKey& edge)
  {
    const double length = (points[at(edge.first)] - points[at(edge.second)]).norm();
    if (length > longest_) queue_.push({length, edge});
  }

  // Flips an edge, and then those around it, where the circle through one triangle contains the other [Lawson
  // 1977].
  void restore(const EdgeKey& first)
  {
    std::vector<EdgeKey> stack = {first};
    while (!stack.empty()) {
      const EdgeKey edge = stack.back();
      stack.pop_back();
      const auto found = around_.find(edge);
      if (found == around_.end() || found->second[1] < 0) continue;
      const Index t = found->second[0];
      const Index u = found->second[1];
      const Index p = opposite(t, edge);
      const Index q = opposite(u, edge);
      if (!is_better_flipped(edge, p, q)) continue;
      Index a = edge.first;
      Index b = edge.second;
      if (turn(points[at(p)], points[at(a)], points[at(q)]) < 0) std::swap(a, b);
      detach(t);
      detach(u);
      triangles[at(t)] = {p, a, q};
      triangles[at(u)] = {q, b, p};
      attach(t);
      attach(u);
      enqueue(edge_key(p, q));
      for (const Index end : {a, b})
        for (const Index tip : {p, q}) stack.push_back(edge_key(end, tip));
    }
  }
  [[nodiscard]] bool is_better_flipped(const EdgeKey& edge, Index p, Index q) const
  {
    const Vec2& a = points[at(edge.first)];
    const Vec2& b = points[at(edge.second)];
    const Vec2& x = points[at(p)];
    const Vec2& y = points[at(q)];
    // Only a convex quadrilateral can be flipped.
    constexpr double kSmall = 1e-10;
    const double size = (x - y).squaredNorm();
    if (!(turn(x, y, a) * turn(x, y, b) < 0)) return false;
    if (std::min(std::abs(turn(x, y, a)), std::abs(turn(x, y, b))) < kSmall * size) return false;
    // The opposite angles add up to more than half a turn: the sine of their sum is negative.
    const double cos_x = (a - x).dot(b - x);
    const double cos_y = (a - y).dot(b - y);
    const double sin_x = std::abs(turn(x, a, b));
    const double sin_y = std::abs(turn(y, a, b));
    return sin_x * cos_y + cos_x * sin_y < -kSmall * (sin_x + std::abs(cos_x)) * (sin_y + std::abs(cos_y));
  }

  void halve(const EdgeKey& edge)
  {
    const std::array<Index, 2> sides = around_.at(edge);
    const auto middle = count_of(points);
    points.push_back(0.5 * (points[at(edge.first)] + points[at(edge.second)]));
    std::vector<EdgeKey> changed;
    for (const Index t : sides) {
      if (t < 0) continue;
      Triangle corners = triangles[at(t)];
      while (edge_key(corners[0], corners[1]) != edge)
        std::rotate(corners.begin(), corners.begin() + 1, corners.end());
      detach(t);
      triangles[at(t)] = {corners[0], middle, corners[2]};
      attach(t);
      add({middle, corners[1], corners[2]});
      for (const auto& side : {edge_key(corners[0], corners[2]), edge_key(corners[1], corners[2])})
        changed.push_back(side);
      enqueue(edge_key(middle, corners[2]));
    }
    enqueue(edge_key(edge.first, middle));
    enqueue(edge_key(middle, edge.second));
    for (const EdgeKey& side : changed) restore(side);
  }

  std::map<EdgeKey, std::array<Index, 2>> around_;  // triangles at each edge; -1: the outside
  std::priority_queue<std::pair<double, EdgeKey>> queue_;
  double longest_ = 0;
};

}  // namespace

std::optional<ProfileMesh> profile_mesh(const std::vector<Vec2>& outline, double longest)
{
  Triangulation work(outline);
  if (outline.size() < 3 || !work.cut_ears()) return std::nullopt;
  work.refine(longest);
  ProfileMesh mesh;
  mesh.nodes = work.points;
  mesh.corner_count = mesh.nodes.size();
  std::map<EdgeKey, Index> middles;
  for (const Triangle& t : work.triangles) {
    std::array<Index, 6> nodes = {t[0], t[1], t[2], 0, 0, 0};
    for (std::size_t k = 0; k < 3; ++k) {
      const EdgeKey edge = edge_key(t[k], t[(k + 1) % 3]);
      const auto [found, is_new] = middles.try_emplace(edge, count_of(mesh.nodes));
      if (is_new) {
        mesh.nodes.push_back(0.5 * (work.points[at(edge.first)] + work.points[at(edge.second)]));
        if (work.on_outline(edge)) mesh.boundary.push_back({edge.first, edge.second, found->second});
      }
      nodes[3 + k] = found->second;
    }
    mesh.triangles.push_back(nodes);
  }
  return mesh;
}

}  // namespace thrum::elastic
