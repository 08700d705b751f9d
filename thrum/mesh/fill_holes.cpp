// SPDX-License-Identifier: MIT
#include "thrum/mesh/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "thrum/base/index.h"

namespace thrum::mesh {

namespace {

using Edge = std::pair<Index, Index>;

// The loops of border edges, each against the direction of its triangles, so that a cap on it faces as they
// do. Vertices where several loops meet belong to none.
std::vector<std::vector<Index>> border_loops(const TriangleMesh& mesh, std::size_t& left)
{
  std::set<Edge> edges;
  for (const Triangle& t : mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) edges.insert({t[k], t[(k + 1) % 3]});
  std::multimap<Index, Index> next;
  for (const Edge& e : edges)
    if (edges.count({e.second, e.first}) == 0) next.insert({e.second, e.first});
  std::vector<std::vector<Index>> loops;
  while (!next.empty()) {
    std::vector<Index> loop;
    Index at_vertex = next.begin()->first;
    const Index start = at_vertex;
    bool simple = true;
    do {
      const auto found = next.find(at_vertex);
      if (found == next.end()) {
        simple = false;
        break;
      }
      simple = simple && next.count(at_vertex) == 1;
      loop.push_back(at_vertex);
      at_vertex = found->second;
      next.erase(found);
    } while (at_vertex != start);
    if (simple && loop.size() >= 3)
      loops.push_back(std::move(loop));
    else
      ++left;
  }
  return loops;
}

double length_of(const TriangleMesh& mesh, const std::vector<Index>& loop)
{
  double length = 0;
  for (std::size_t k = 0; k < loop.size(); ++k)
    length += (mesh.vertices[at(loop[k])] - mesh.vertices[at(loop[(k + 1) % loop.size()])]).norm();
  return length;
}

}  // namespace

FillHolesResult fill_holes(TriangleMesh& mesh)
{
  FillHolesResult result;
  auto loops = border_loops(mesh, result.kept);
  std::stable_sort(loops.begin(), loops.end(),
                   [&](const auto& a, const auto& b) { return length_of(mesh, a) > length_of(mesh, b); });
  for (const std::vector<Index>& loop : loops) {
    Vec3 middle = Vec3::Zero();
    double weight = 0;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const Vec3& a = mesh.vertices[at(loop[k])];
      const Vec3& b = mesh.vertices[at(loop[(k + 1) % loop.size()])];
      middle += (b - a).norm() * 0.5 * (a + b);
      weight += (b - a).norm();
    }
    if (weight > 0) middle /= weight;
    ++result.filled;
    result.lines.push_back(
        fmt::format("Filled a hole of {} edges, {:.3g} m around, at ({:.4g}, {:.4g}, {:.4g}).", loop.size(),
                    weight, middle.x(), middle.y(), middle.z()));
    if (loop.size() == 3) {
      mesh.triangles.push_back({loop[0], loop[1], loop[2]});
      ++result.new_triangles;
      continue;
    }
    const auto centre = count_of(mesh.vertices);
    mesh.vertices.push_back(middle);
    for (std::size_t k = 0; k < loop.size(); ++k)
      mesh.triangles.push_back({loop[k], loop[(k + 1) % loop.size()], centre});
    result.new_triangles += loop.size();
  }
  if (result.kept > 0)
    result.lines.push_back(fmt::format("{} borders are not simple loops and stay open.", result.kept));
  return result;
}

}  // namespace thrum::mesh
