// SPDX-License-Identifier: MIT
#include "thrum/distance/surface_refinement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::distance {

namespace {

struct Piece {
  Triangle triangle;
  Index parent;
  std::array<Vec3, 3> corners;
};

// The midpoint of each long edge, created on first use and shared by all triangles at the edge.
class Midpoints {
 public:
  Midpoints(std::vector<Vec3>& vertices, double longest) : vertices_(vertices), longest_(longest) {}

  // -1 for an edge that is not halved.
  Index operator()(Index a, Index b)
  {
    const Vec3& p = vertices_[at(a)];
    const Vec3& q = vertices_[at(b)];
    if (!((p - q).norm() > longest_)) return -1;
    const std::uint64_t key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(std::min(a, b))) << 32) |
                              static_cast<std::uint32_t>(std::max(a, b));
    const auto [found, is_new] = made_.try_emplace(key, count_of(vertices_));
    if (is_new) vertices_.push_back(0.5 * (p + q));
    return found->second;
  }

 private:
  std::vector<Vec3>& vertices_;
  double longest_;
  std::unordered_map<std::uint64_t, Index> made_;  // only used for lookup, never iterated
};

// One, two or three halved edges give two, three or four pieces. With two, the quadrilateral that is left is
// cut at its shorter diagonal.
void split(const Piece& piece, const std::array<Index, 3>& mid, const std::vector<Vec3>& vertices,
           std::vector<Piece>& out)
{
  const int halved = (mid[0] >= 0) + (mid[1] >= 0) + (mid[2] >= 0);
  const auto middle = [&](std::size_t k) -> Vec3 {
    return 0.5 * (piece.corners[k] + piece.corners[(k + 1) % 3]);
  };
  const auto add = [&](std::array<Index, 3> t, const Vec3& a, const Vec3& b, const Vec3& c) {
    out.push_back({t, piece.parent, {a, b, c}});
  };
  const Triangle& v = piece.triangle;
  const auto& B = piece.corners;
  if (halved == 3) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t back = (k + 2) % 3;
      add({v[k], mid[k], mid[back]}, B[k], middle(k), middle(back));
    }
    add({mid[0], mid[1], mid[2]}, middle(0), middle(1), middle(2));
    return;
  }
  // Rotate the corners so that edge i (from corner i to j) is halved, and with two, edge i + 1 as well.
  std::size_t i = 0;
  while (!(mid[i] >= 0 && (halved == 1 || mid[(i + 1) % 3] >= 0))) ++i;
  const std::size_t j = (i + 1) % 3;
  const std::size_t k = (i + 2) % 3;
  if (halved == 1) {
    add({v[i], mid[i], v[k]}, B[i], middle(i), B[k]);
    add({mid[i], v[j], v[k]}, middle(i), B[j], B[k]);
    return;
  }
  add({mid[i], v[j], mid[j]}, middle(i), B[j], middle(j));
  const auto distance = [&vertices](Index a, Index b) {
    return (vertices[at(a)] - vertices[at(b)]).squaredNorm();
  };
  if (distance(v[i], mid[j]) < distance(mid[i], v[k])) {
    add({v[i], mid[i], mid[j]}, B[i], middle(i), middle(j));
    add({v[i], mid[j], v[k]}, B[i], middle(j), B[k]);
  } else {
    add({v[i], mid[i], v[k]}, B[i], middle(i), B[k]);
    add({mid[i], mid[j], v[k]}, middle(i), middle(j), B[k]);
  }
}

}  // namespace

mesh::SurfacePoint RefinedSurface::locate(const mesh::SurfacePoint& p) const
{
  // Solve sum_c w_c corner_c = barycentric in each child and take the one that contains the point with the
  // largest margin.
  mesh::SurfacePoint best;
  double room = -std::numeric_limits<double>::infinity();
  const std::size_t t = at(p.triangle);
  for (Index child = first_child[t]; child < first_child[t + 1]; ++child) {
    const auto& c = corners[at(child)];
    const Vec3 b = p.barycentric;
    // Areas in the plane of the first two coordinates.
    const auto cross = [](const Vec3& u, const Vec3& v, const Vec3& w) {
      return (v[0] - u[0]) * (w[1] - u[1]) - (v[1] - u[1]) * (w[0] - u[0]);
    };
    const double whole = cross(c[0], c[1], c[2]);
    const Vec3 weights = Vec3(cross(b, c[1], c[2]), cross(c[0], b, c[2]), cross(c[0], c[1], b)) / whole;
    if (weights.minCoeff() > room) {
      room = weights.minCoeff();
      best = {child, weights.cwiseMax(0)};
    }
  }
  best.barycentric /= best.barycentric.sum();
  return best;
}

RefinedSurface split_long_edges(const mesh::TriangleMesh& mesh, double longest, std::size_t triangle_limit)
{
  if (!(longest > 0))
    throw Error(fmt::format("The maximum edge length is {} m; it must be positive.", longest));
  check_indices(mesh);
  RefinedSurface refined;
  refined.mesh.vertices = mesh.vertices;
  Midpoints midpoint(refined.mesh.vertices, longest);
  refined.first_child.push_back(0);
  std::vector<Piece> open;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    open.assign(1, {mesh.triangles[t], static_cast<Index>(t), {Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()}});
    while (!open.empty()) {
      const Piece piece = open.back();
      open.pop_back();
      const Triangle& v = piece.triangle;
      const std::array<Index, 3> mid = {midpoint(v[0], v[1]), midpoint(v[1], v[2]), midpoint(v[2], v[0])};
      if (mid[0] >= 0 || mid[1] >= 0 || mid[2] >= 0) {
        split(piece, mid, refined.mesh.vertices, open);
      } else {
        refined.mesh.triangles.push_back(v);
        refined.parent.push_back(piece.parent);
        refined.corners.push_back(piece.corners);
      }
      if (refined.mesh.triangles.size() + open.size() > triangle_limit) {
        throw Error(
            fmt::format("Edges of at most {} m need more than {} triangles; increase the edge length.",
                        longest, triangle_limit));
      }
    }
    refined.first_child.push_back(count_of(refined.mesh.triangles));
  }
  return refined;
}

}  // namespace thrum::distance
