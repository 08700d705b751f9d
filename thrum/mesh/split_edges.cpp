// SPDX-License-Identifier: MIT
#include "thrum/mesh/split_edges.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/mesh/mesh_topology.h"

namespace thrum::mesh {

namespace {

/// Triangles about an edge that are nearer to each other than this lie on each other [rad].
constexpr double kMinAngle = 1e-9;

using UsePair = std::pair<EdgeUse, EdgeUse>;

// About an edge from low to high, a triangle that runs forward has material at smaller angles and one that
// runs back at larger ones, so each backward one belongs to the next forward one. Empty when that is not
// defined.
std::optional<std::vector<UsePair>> pair_about_edge(const TriangleMesh& mesh, std::span<const EdgeUse> edge)
{
  const auto position = [&](Index v) -> const Vec3& {
    return mesh.vertices[at(v)];
  };
  const Vec3 origin = position(edge[0].low);
  const Vec3 axis = (position(edge[0].high) - origin).normalized();
  const auto across = [&](const EdgeUse& use) -> Vec3 {
    const Triangle& t = mesh.triangles[at(use.triangle)];
    const Index apex =
        *std::find_if(t.begin(), t.end(), [&](Index v) { return v != use.low && v != use.high; });
    const Vec3 arm = position(apex) - origin;
    return arm - arm.dot(axis) * axis;
  };
  const Vec3 u = across(edge[0]).normalized();
  const Vec3 v = axis.cross(u);
  std::vector<std::pair<double, EdgeUse>> around;
  int balance = 0;
  for (const EdgeUse& use : edge) {
    const Vec3 arm = across(use);
    const double angle = std::atan2(arm.dot(v), arm.dot(u));
    if (!(arm.squaredNorm() > 0) || !std::isfinite(angle)) return std::nullopt;
    around.emplace_back(angle, use);
    balance += use.forward ? 1 : -1;
  }
  if (balance != 0) return std::nullopt;
  std::sort(around.begin(), around.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < around.size(); ++i) {
    const double next = i + 1 < around.size() ? around[i + 1].first : around[0].first + 2 * std::numbers::pi;
    if (next - around[i].first < kMinAngle) return std::nullopt;
  }
  std::vector<UsePair> pairs;
  std::vector<EdgeUse> open;
  std::vector<char> paired(around.size(), 0);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < around.size(); ++i) {
      const EdgeUse& use = around[i].second;
      if (!use.forward && round == 0) open.push_back(use);
      if (!use.forward || paired[i] != 0 || open.empty()) continue;
      pairs.emplace_back(open.back(), use);
      open.pop_back();
      paired[i] = 1;
    }
  }
  return pairs;
}

class EdgeSplitter {
 public:
  explicit EdgeSplitter(TriangleMesh& mesh) : mesh_(mesh), root_(3 * mesh.triangles.size())
  {
    std::iota(root_.begin(), root_.end(), std::size_t{0});
  }

  SplitEdgesResult run()
  {
    const std::size_t before = join_neighbours();
    SplitEdgesResult result;
    if (!split_ends_.empty()) result.new_vertices = duplicate_vertices();
    for_each_edge(edge_uses(mesh_), [&](std::span<const EdgeUse> edge) {
      if (edge.size() > 2) ++result.kept_edges;
    });
    result.split_edges = before - std::min(before, result.kept_edges);
    return result;
  }

 private:
  std::size_t find(std::size_t c)
  {
    while (root_[c] != c) c = root_[c] = root_[root_[c]];
    return c;
  }
  // The corner of a triangle at one of its vertices.
  [[nodiscard]] std::size_t corner(Index triangle, Index v) const
  {
    const Triangle& t = mesh_.triangles[at(triangle)];
    return 3 * at(triangle) + at(std::find(t.begin(), t.end(), v) - t.begin());
  }
  void join(const EdgeUse& a, const EdgeUse& b)
  {
    for (const Index v : {a.low, a.high}) {
      const std::size_t x = find(corner(a.triangle, v));
      const std::size_t y = find(corner(b.triangle, v));
      root_[std::max(x, y)] = std::min(x, y);
    }
  }

  // Corners that belong to one fan are joined. Returns the number of edges of more than two triangles.
  std::size_t join_neighbours()
  {
    std::size_t count = 0;
    for_each_edge(edge_uses(mesh_), [&](std::span<const EdgeUse> edge) {
      if (edge.size() == 2) join(edge[0], edge[1]);
      if (edge.size() <= 2) return;
      ++count;
      if (const auto pairs = pair_about_edge(mesh_, edge)) {
        for (const auto& [a, b] : *pairs) join(a, b);
        split_ends_.push_back(edge[0].low);
        split_ends_.push_back(edge[0].high);
      } else {
        for (std::size_t i = 1; i < edge.size(); ++i) join(edge[0], edge[i]);
      }
    });
    return count;
  }

  // At the ends of split edges each fan but the first gets a vertex of its own.
  std::size_t duplicate_vertices()
  {
    std::vector<char> is_end(mesh_.vertices.size(), 0);
    for (const Index v : split_ends_) is_end[at(v)] = 1;
    std::vector<std::size_t> first_fan(mesh_.vertices.size(), root_.size());
    std::map<std::size_t, Index> vertex_of_fan;
    const std::size_t before = mesh_.vertices.size();
    for (std::size_t c = 0; c < root_.size(); ++c) {
      Index& v = mesh_.triangles[c / 3][c % 3];
      const auto i = at(v);
      if (is_end[i] == 0) continue;
      const std::size_t fan = find(c);
      if (first_fan[i] == root_.size()) first_fan[i] = fan;
      if (first_fan[i] == fan) continue;
      const auto [entry, is_new] = vertex_of_fan.try_emplace(fan, count_of(mesh_.vertices));
      if (is_new) mesh_.vertices.push_back(Vec3(mesh_.vertices[i]));
      v = entry->second;
    }
    return mesh_.vertices.size() - before;
  }

  TriangleMesh& mesh_;
  std::vector<std::size_t> root_;  ///< of the corners, three a triangle
  std::vector<Index> split_ends_;
};

}  // namespace

SplitEdgesResult split_edges(TriangleMesh& mesh)
{
  return EdgeSplitter(mesh).run();
}

}  // namespace thrum::mesh
