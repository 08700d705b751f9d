// SPDX-License-Identifier: MIT
#include "thrum/mesh/duplicate_triangles.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "thrum/base/index.h"
#include "thrum/mesh/mesh_topology.h"

namespace thrum::mesh {

namespace {

// Whether the corners are an even permutation of themselves in ascending order.
bool is_ascending(const Triangle& t)
{
  const auto first = at(std::min_element(t.begin(), t.end()) - t.begin());
  return t[(first + 1) % 3] < t[(first + 2) % 3];
}

/// Triangles with the same corners.
struct Group {
  std::vector<std::size_t> triangles;  ///< ascending
  int balance = 0;                     ///< those that face one way minus those that face the other
};

std::vector<Group> find_groups(const TriangleMesh& mesh)
{
  std::vector<std::pair<Triangle, std::size_t>> sorted;
  sorted.reserve(mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    Triangle corners = mesh.triangles[t];
    std::sort(corners.begin(), corners.end());
    sorted.emplace_back(corners, t);
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<Group> groups;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i + 1;
    while (end < sorted.size() && sorted[end].first == sorted[i].first) ++end;
    if (end - i > 1) {
      Group group;
      for (; i < end; ++i) {
        group.triangles.push_back(sorted[i].second);
        group.balance += is_ascending(mesh.triangles[sorted[i].second]) ? 1 : -1;
      }
      groups.push_back(std::move(group));
    }
    i = end;
  }
  return groups;
}

// Decides for the groups that face both ways equally: drop all, or leave one.
class OpposedGroups {
 public:
  OpposedGroups(const TriangleMesh& mesh, const std::vector<Group>& groups, const std::vector<char>& dropped)
      : groups_(groups)
  {
    std::vector<std::size_t> group_of(mesh.triangles.size(), kNoGroup);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].balance == 0) group_of[groups[g].triangles.front()] = g;
    }
    edges_of_.resize(groups.size());
    for_each_edge(edge_uses(mesh), [&](std::span<const EdgeUse> edge) {
      for (const EdgeUse& use : edge) {
        const std::size_t t = at(use.triangle);
        if (group_of[t] != kNoGroup) edges_of_[group_of[t]].push_back(others_.size());
      }
      std::size_t others = 0;
      for (const EdgeUse& use : edge) others += dropped[at(use.triangle)] == 0 ? 1U : 0U;
      others_.push_back(others);
    });
    kept_.assign(groups.size(), 0);
  }

  // By group: 1 when one of its triangles stays.
  std::vector<char> decide()
  {
    choose_regions();
    // Where regions of both kinds meet, one group at a time, as long as odd edges become fewer.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (groups_[g].balance != 0) continue;
        int odd = 0;
        for (const std::size_t e : edges_of_[g]) odd += static_cast<int>(others_[e] % 2);
        if (2 * odd <= static_cast<int>(edges_of_[g].size())) continue;
        set_kept(g, kept_[g] == 0);
        changed = true;
      }
    }
    return kept_;
  }

 private:
  static constexpr std::size_t kNoGroup = std::numeric_limits<std::size_t>::max();

  void set_kept(std::size_t g, bool kept)
  {
    if ((kept_[g] != 0) == kept) return;
    kept_[g] = kept ? 1 : 0;
    for (const std::size_t e : edges_of_[g]) {
      if (kept) {
        ++others_[e];
      } else {
        --others_[e];
      }
    }
  }

  // Groups joined by common edges stay or go together: what leaves fewer odd edges, all dropped if equal.
  void choose_regions()
  {
    std::vector<std::size_t> first_at(others_.size(), kNoGroup);
    std::vector<std::size_t> root(groups_.size());
    std::iota(root.begin(), root.end(), std::size_t{0});
    const auto find = [&root](std::size_t g) {
      while (root[g] != g) g = root[g] = root[root[g]];
      return g;
    };
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const std::size_t e : edges_of_[g]) {
        if (first_at[e] == kNoGroup) first_at[e] = g;
        root[find(g)] = find(first_at[e]);
      }
    }
    std::vector<std::vector<std::size_t>> regions(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].balance == 0) regions[find(g)].push_back(g);
    }
    for (const std::vector<std::size_t>& region : regions) {
      if (region.empty()) continue;
      std::vector<std::size_t> edges;
      for (const std::size_t g : region) edges.insert(edges.end(), edges_of_[g].begin(), edges_of_[g].end());
      std::sort(edges.begin(), edges.end());
      edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
      const auto odd_edges = [&] {
        return std::count_if(edges.begin(), edges.end(), [&](std::size_t e) { return others_[e] % 2 == 1; });
      };
      const auto odd_without = odd_edges();
      for (const std::size_t g : region) set_kept(g, true);
      if (odd_edges() < odd_without) continue;
      for (const std::size_t g : region) set_kept(g, false);
    }
  }

  const std::vector<Group>& groups_;
  std::vector<std::vector<std::size_t>> edges_of_;  ///< by group, three each
  std::vector<std::size_t> others_;                 ///< by edge: triangles that stay
  std::vector<char> kept_;
};

}  // namespace

DuplicateTriangles find_duplicate_triangles(const TriangleMesh& mesh)
{
  DuplicateTriangles result;
  result.dropped.assign(mesh.triangles.size(), 0);
  const std::vector<Group> groups = find_groups(mesh);
  std::size_t grouped = 0;
  bool all_opposed = true;
  for (const Group& group : groups) {
    // The first that faces the way of the majority stays.
    bool found = group.balance == 0;
    for (const std::size_t t : group.triangles) {
      const bool stays = !found && is_ascending(mesh.triangles[t]) == (group.balance > 0);
      found = found || stays;
      result.dropped[t] = stays ? 0 : 1;
    }
    if (group.balance != 0) result.repeated += group.triangles.size() - 1;
    all_opposed = all_opposed && group.balance == 0;
    grouped += group.triangles.size();
  }
  all_opposed = all_opposed && grouped == mesh.triangles.size();
  const std::vector<char> kept = OpposedGroups(mesh, groups, result.dropped).decide();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].balance != 0) continue;
    if (kept[g] != 0 || all_opposed) {
      result.dropped[groups[g].triangles.front()] = 0;
      result.repeated += groups[g].triangles.size() - 1;
    } else {
      result.opposed_pairs += groups[g].triangles.size() / 2;
    }
  }
  return result;
}

}  // namespace thrum::mesh
