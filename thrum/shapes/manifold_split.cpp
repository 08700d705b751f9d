// SPDX-License-Identifier: MIT
#include "thrum/shapes/manifold_split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::shapes {

namespace {

// Side k of a triangle, from corner k to corner k + 1.
struct Side {
  std::size_t triangle;
  std::size_t k;
};

using Edge = std::pair<Index, Index>;
using SidePair = std::pair<Side, Side>;

class CornerClasses {
 public:
  explicit CornerClasses(std::size_t count) : root_(count)
  {
    for (std::size_t i = 0; i < count; ++i) root_[i] = i;
  }
  std::size_t find(std::size_t i)
  {
    while (root_[i] != i) i = root_[i] = root_[root_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { root_[std::max(find(a), find(b))] = std::min(find(a), find(b)); }

 private:
  std::vector<std::size_t> root_;
};

std::map<Edge, std::vector<Side>> sides_by_edge(const mesh::TriangleMesh& mesh)
{
  std::map<Edge, std::vector<Side>> sides;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      sides[std::minmax(mesh.triangles[t][k], mesh.triangles[t][(k + 1) % 3])].push_back({t, k});
    }
  }
  return sides;
}

// Pairs the sides about an edge low -> high. A triangle that runs low -> high has material at smaller angles
// about the edge, one that runs back at larger angles; so each backward one is paired with the next forward
// one. The angles are doubles: whatever their rounding, the pairs make a closed surface.
void pair_about_edge(const mesh::TriangleMesh& mesh, const Edge& edge, const std::vector<Side>& sides,
                     std::vector<SidePair>& pairs)
{
  const auto position = [&](Index i) {
    return mesh.vertices[at(i)];
  };
  const Vec3 axis = (position(edge.second) - position(edge.first)).normalized();
  const auto apex = [&](const Side& s) -> Vec3 {
    return position(mesh.triangles[s.triangle][(s.k + 2) % 3]) - position(edge.first);
  };
  const Vec3 first = apex(sides.front());
  const Vec3 u = (first - first.dot(axis) * axis).normalized();
  const Vec3 v = axis.cross(u);
  struct SideAngle {
    double angle;
    bool forward;
    Side side;
  };
  std::vector<SideAngle> around;
  int balance = 0;
  for (const Side& s : sides) {
    const bool forward = mesh.triangles[s.triangle][s.k] == edge.first;
    around.push_back({std::atan2(apex(s).dot(v), apex(s).dot(u)), forward, s});
    balance += forward ? 1 : -1;
  }
  if (balance != 0)
    throw Error("The surface is not closed: the input meshes intersect themselves or are inside out.");
  // Of equal angles (two sheets folded together) the forward one comes first, so that it closes the open
  // pair.
  std::stable_sort(around.begin(), around.end(), [](const SideAngle& a, const SideAngle& b) {
    return a.angle != b.angle ? a.angle < b.angle : a.forward > b.forward;
  });
  std::vector<Side> open;
  for (int round = 0; round < 2; ++round) {
    for (SideAngle& a : around) {
      if (a.angle > std::numbers::pi * 2) continue;
      if (!a.forward && round == 0) open.push_back(a.side);
      if (a.forward && !open.empty()) {
        pairs.emplace_back(open.back(), a.side);
        open.pop_back();
        a.angle = std::numbers::pi * 4;  // taken
      }
    }
  }
}

}  // namespace

mesh::TriangleMesh split_into_manifold(const mesh::TriangleMesh& mesh)
{
  std::vector<SidePair> pairs;
  for (const auto& [edge, sides] : sides_by_edge(mesh)) {
    const bool simple = sides.size() == 2 && mesh.triangles[sides[0].triangle][sides[0].k] !=
                                                 mesh.triangles[sides[1].triangle][sides[1].k];
    if (simple) {
      pairs.emplace_back(sides[0], sides[1]);
    } else {
      pair_about_edge(mesh, edge, sides, pairs);
    }
  }

  // Corners joined across paired sides form one fan, and each fan is one vertex.
  CornerClasses corners(3 * mesh.triangles.size());
  for (const auto& [a, b] : pairs) {
    corners.join(3 * a.triangle + a.k, 3 * b.triangle + (b.k + 1) % 3);
    corners.join(3 * a.triangle + (a.k + 1) % 3, 3 * b.triangle + b.k);
  }
  mesh::TriangleMesh result;
  std::vector<Index> of_class(3 * mesh.triangles.size(), -1);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    Triangle triangle{};
    for (std::size_t k = 0; k < 3; ++k) {
      Index& vertex = of_class[corners.find(3 * t + k)];
      if (vertex < 0) {
        vertex = count_of(result.vertices);
        result.vertices.push_back(mesh.corner(t, static_cast<int>(k)));
      }
      triangle[k] = vertex;
    }
    result.triangles.push_back(triangle);
  }

  // Two pairs may still run between the same two vertices: a vertex in the middle of each additional one
  // separates them.
  std::set<Edge> seen;
  std::map<std::pair<std::size_t, std::size_t>, Index> middle;  // (triangle, side) -> new vertex
  for (const auto& [a, b] : pairs) {
    const Index p = result.triangles[a.triangle][a.k];
    const Index q = result.triangles[a.triangle][(a.k + 1) % 3];
    if (seen.insert(std::minmax(p, q)).second) continue;
    const auto m = count_of(result.vertices);
    result.vertices.push_back((result.vertices[at(p)] + result.vertices[at(q)]) / 2);
    middle[{a.triangle, a.k}] = m;
    middle[{b.triangle, b.k}] = m;
  }
  for (std::size_t t = 0, count = result.triangles.size(); t < count && !middle.empty(); ++t) {
    // A fan about one corner over the outline with its edge midpoints; a triangle has at most three of them.
    std::vector<Index> outline;
    for (std::size_t k = 0; k < 3; ++k) {
      outline.push_back(result.triangles[t][k]);
      const auto m = middle.find({t, k});
      if (m != middle.end()) outline.push_back(m->second);
    }
    if (outline.size() == 3) continue;
    // Start at a midpoint, so that no piece of the fan is flat.
    const auto start = std::find_if(outline.begin(), outline.end(), [&](Index v) {
      return v >= 0 && v != result.triangles[t][0] && v != result.triangles[t][1] &&
             v != result.triangles[t][2];
    });
    std::rotate(outline.begin(), start, outline.end());
    result.triangles[t] = {outline[0], outline[1], outline[2]};
    for (std::size_t i = 2; i + 1 < outline.size(); ++i) {
      result.triangles.push_back({outline[0], outline[i], outline[i + 1]});
    }
  }
  return result;
}

}  // namespace thrum::shapes
