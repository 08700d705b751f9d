// SPDX-License-Identifier: MIT
#include "thrum/tets/edge_bisection.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "thrum/base/index.h"

namespace thrum::tets {

namespace {

class Bisection {
 public:
  Bisection(mesh::TetrahedralMesh& mesh, std::vector<std::uint8_t> levels)
      : mesh_(mesh), levels_(std::move(levels))
  {
    for (Index t = 0; t < count_of(mesh_.tetrahedra); ++t) add(t);
  }

  void run()
  {
    while (!queue_.empty()) {
      const Task task = queue_.top();
      queue_.pop();
      if (levels_[at(task.tetrahedron)] == 0 || longest_edge(task.tetrahedron) != task.edge) continue;
      halve(task.edge);
    }
  }

 private:
  using Edge = std::array<Index, 2>;  // ascending
  struct Task {
    double length;
    Edge edge;
    Index tetrahedron;
    bool operator<(const Task& other) const
    {
      return std::tie(length, edge, tetrahedron) < std::tie(other.length, other.edge, other.tetrahedron);
    }
  };

  static std::uint64_t key_of(const Edge& e)
  {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(e[0])) << 32) |
           static_cast<std::uint32_t>(e[1]);
  }
  [[nodiscard]] double squared_length(const Edge& e) const
  {
    return (mesh_.vertices[at(e[0])] - mesh_.vertices[at(e[1])]).squaredNorm();
  }
  template <class Work>
  void for_each_edge(Index t, Work&& work) const
  {
    const Tetrahedron& v = mesh_.tetrahedra[at(t)];
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = i + 1; k < 4; ++k) work(Edge{std::min(v[i], v[k]), std::max(v[i], v[k])});
  }
  [[nodiscard]] Edge longest_edge(Index t) const
  {
    Edge longest{};
    double length = -1;
    for_each_edge(t, [&](const Edge& edge) {
      const double here = squared_length(edge);
      if (here > length || (here == length && edge < longest)) {
        length = here;
        longest = edge;
      }
    });
    return longest;
  }

  void add(Index t)
  {
    for_each_edge(t, [&](const Edge& edge) { tetrahedra_of_[key_of(edge)].push_back(t); });
    if (levels_[at(t)] == 0) return;
    const Edge edge = longest_edge(t);
    queue_.push({squared_length(edge), edge, t});
  }

  void halve(const Edge& edge)
  {
    const Index middle = count_of(mesh_.vertices);
    mesh_.vertices.push_back(0.5 * (mesh_.vertices[at(edge[0])] + mesh_.vertices[at(edge[1])]));
    const std::vector<Index> around = tetrahedra_of_.at(key_of(edge));
    for (const Index t : around) {
      for_each_edge(t, [&](const Edge& e) { std::erase(tetrahedra_of_.at(key_of(e)), t); });
      Tetrahedron other = mesh_.tetrahedra[at(t)];
      std::replace(other.begin(), other.end(), edge[0], middle);
      auto& first = mesh_.tetrahedra[at(t)];
      std::replace(first.begin(), first.end(), edge[1], middle);
      if (levels_[at(t)] > 0) --levels_[at(t)];
      mesh_.tetrahedra.push_back(other);
      levels_.push_back(levels_[at(t)]);
      if (!mesh_.regions.empty()) mesh_.regions.push_back(mesh_.regions[at(t)]);
      add(t);
      add(count_of(mesh_.tetrahedra) - 1);
    }
  }

  mesh::TetrahedralMesh& mesh_;
  std::vector<std::uint8_t> levels_;
  std::unordered_map<std::uint64_t, std::vector<Index>> tetrahedra_of_;
  std::priority_queue<Task> queue_;
};

}  // namespace

void bisect_tetrahedra(mesh::TetrahedralMesh& mesh, std::vector<std::uint8_t> levels)
{
  Bisection(mesh, std::move(levels)).run();
}

}  // namespace thrum::tets
