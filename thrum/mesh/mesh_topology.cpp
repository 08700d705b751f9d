// SPDX-License-Identifier: MIT
#include "thrum/mesh/mesh_topology.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "thrum/base/index.h"

namespace thrum::mesh {

std::vector<EdgeUse> edge_uses(const TriangleMesh& mesh)
{
  std::vector<EdgeUse> uses;
  uses.reserve(3 * mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = mesh.triangles[t][k];
      const Index b = mesh.triangles[t][(k + 1) % 3];
      if (a != b) uses.push_back({std::min(a, b), std::max(a, b), static_cast<Index>(t), a < b});
    }
  }
  std::sort(uses.begin(), uses.end(), [](const EdgeUse& a, const EdgeUse& b) {
    return std::tie(a.low, a.high, a.triangle, a.forward) < std::tie(b.low, b.high, b.triangle, b.forward);
  });
  return uses;
}

MeshComponents edge_components(const TriangleMesh& mesh, std::span<const EdgeUse> uses)
{
  // Union by the lower number, with path halving.
  std::vector<Index> parent(mesh.triangles.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&parent](Index t) {
    while (parent[at(t)] != t) {
      Index& up = parent[at(t)];
      up = parent[at(up)];
      t = up;
    }
    return t;
  };
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    for (std::size_t i = 1; i < edge.size(); ++i) {
      const Index a = root(edge[0].triangle);
      const Index b = root(edge[i].triangle);
      parent[at(std::max(a, b))] = std::min(a, b);
    }
  });
  MeshComponents result;
  result.of_triangle.resize(mesh.triangles.size());
  for (std::size_t t = 0; t < parent.size(); ++t) {
    const Index r = root(static_cast<Index>(t));
    // A root is the lowest of its set, so it gets its number before the others.
    result.of_triangle[t] =
        r == static_cast<Index>(t) ? static_cast<Index>(result.count++) : result.of_triangle[at(r)];
  }
  return result;
}

std::vector<std::vector<Index>> triangles_by_component(const MeshComponents& components)
{
  std::vector<std::vector<Index>> result(components.count);
  for (std::size_t t = 0; t < components.of_triangle.size(); ++t) {
    result[at(components.of_triangle[t])].push_back(static_cast<Index>(t));
  }
  return result;
}

TriangleKind triangle_kind(const TriangleMesh& mesh, std::size_t triangle)
{
  const Triangle& t = mesh.triangles[triangle];
  if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) return TriangleKind::repeated_corner;
  double longest = 0;  // squared [m^2]
  for (int k = 0; k < 3; ++k) {
    longest =
        std::max(longest, (mesh.corner(triangle, (k + 1) % 3) - mesh.corner(triangle, k)).squaredNorm());
  }
  // Height over the longest side is twice the area over its length.
  return area_vector(mesh, triangle).norm() > kFlatHeight * longest ? TriangleKind::valid
                                                                    : TriangleKind::flat;
}

bool has_two_triangles_at_every_edge(const TriangleMesh& mesh)
{
  bool result = true;
  const std::vector<EdgeUse> uses = edge_uses(mesh);
  for_each_edge(std::span<const EdgeUse>(uses),
                [&](std::span<const EdgeUse> edge) { result = result && edge.size() == 2; });
  return result;
}

double mean_edge_length(const TriangleMesh& mesh)
{
  double sum = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) sum += (mesh.corner(t, k) - mesh.corner(t, (k + 1) % 3)).norm();
  }
  return sum / (3.0 * static_cast<double>(mesh.triangles.size()));
}

}  // namespace thrum::mesh
