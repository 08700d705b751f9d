// SPDX-License-Identifier: MIT
#include "thrum/distance/pseudonormals.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "thrum/base/index.h"

namespace thrum::distance {

namespace {

Vec3 unit_or_zero(const Vec3& v)
{
  const double length = v.norm();
  return length > 0 ? Vec3(v / length) : Vec3::Zero();
}

// An edge of a triangle under the sorted pair of its vertices.
struct HalfEdge {
  Index low;
  Index high;
  Index id;      // 3 * triangle + k
  bool forward;  // runs from low to high

  friend bool operator<(const HalfEdge& a, const HalfEdge& b)
  {
    return std::tie(a.low, a.high, a.id) < std::tie(b.low, b.high, b.id);
  }
};

std::vector<HalfEdge> sorted_half_edges(const mesh::TriangleMesh& mesh)
{
  std::vector<HalfEdge> edges;
  edges.reserve(3 * mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index from = t[k];
      const Index to = t[(k + 1) % 3];
      edges.push_back({std::min(from, to), std::max(from, to), count_of(edges), from < to});
    }
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

}  // namespace

Pseudonormals pseudonormals(const mesh::TriangleMesh& mesh)
{
  Pseudonormals result;
  result.face.resize(mesh.triangles.size());
  result.edge.resize(3 * mesh.triangles.size());
  result.vertex.assign(mesh.vertices.size(), Vec3::Zero());

  // Faces, and their contribution to each corner, weighted by the angle there.
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    result.face[t] = unit_or_zero(area_vector(mesh, t));
    for (int k = 0; k < 3; ++k) {
      const Vec3 u = mesh.corner(t, (k + 1) % 3) - mesh.corner(t, k);
      const Vec3 v = mesh.corner(t, (k + 2) % 3) - mesh.corner(t, k);
      const double angle = std::atan2(u.cross(v).norm(), u.dot(v));
      result.vertex[at(mesh.triangles[t][at(k)])] += angle * result.face[t];
    }
  }
  for (Vec3& n : result.vertex) n = unit_or_zero(n);

  // Edges: all triangles along the same pair of vertices. Two that run in opposite directions close it.
  result.closed = !mesh.triangles.empty();
  const std::vector<HalfEdge> edges = sorted_half_edges(mesh);
  for (std::size_t i = 0; i < edges.size();) {
    std::size_t end = i;
    Vec3 sum = Vec3::Zero();
    for (; end < edges.size() && edges[end].low == edges[i].low && edges[end].high == edges[i].high; ++end) {
      sum += result.face[at(edges[end].id) / 3];
    }
    result.closed = result.closed && end == i + 2 && edges[i].forward != edges[i + 1].forward;
    sum = unit_or_zero(sum);
    for (; i < end; ++i) result.edge[at(edges[i].id)] = sum;
  }
  return result;
}

}  // namespace thrum::distance
