// SPDX-License-Identifier: MIT
// Every operation is one intersection of solids or of their complements:
//
//     A u B = (A' n B')',     A \ B = A n B'.                                                    (1)
//
// The arrangement cuts all surfaces along each other. Pieces that are connected without a cut between them
// form a patch, and a patch lies wholly inside, outside or on the surface of each other solid. It belongs to
// the intersection's surface when it is inside all others; of patches that coincide and face the same way the
// one of the first mesh is kept, and patches that coincide and face each other enclose nothing and are
// removed.
#include "thrum/shapes/boolean.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/shapes/manifold_split.h"
#include "thrum/shapes/mesh_arrangement.h"

namespace thrum::shapes {

namespace {

enum class Place { inside, outside, same_direction, facing };

// Interior points of a piece as ray origins. The next one is used when a ray passes exactly through an edge.
constexpr std::array<std::array<int, 3>, 6> kWeights = {
    {{3, 4, 5}, {7, 2, 3}, {1, 5, 11}, {13, 3, 7}, {2, 17, 5}, {19, 11, 29}}};

class PatchClassifier {
 public:
  explicit PatchClassifier(const MeshArrangement& arrangement) : arrangement_(arrangement)
  {
    for (std::size_t t = 0; t < arrangement.triangles().size(); ++t) {
      const auto mesh = at(arrangement.triangles()[t].mesh);
      if (of_mesh_.size() <= mesh) of_mesh_.resize(mesh + 1);
      of_mesh_[mesh].push_back(static_cast<Index>(t));
    }
  }

  [[nodiscard]] Place place(const Piece& piece, int mesh) const
  {
    const mesh::PointTable& points = arrangement_.points();
    const auto ray_origin = [&](std::size_t i) {
      return weighted_mean(points[piece.corners[0]], points[piece.corners[1]], points[piece.corners[2]],
                           kWeights[i]);
    };
    const mesh::ExactPoint middle = ray_origin(0);
    const GridTriangle& own = arrangement_.triangles()[at(piece.source)];
    for (const Index u : arrangement_.coplanar(piece.source)) {
      const GridTriangle& other = arrangement_.triangles()[at(u)];
      if (other.mesh != mesh || !covers(other, middle)) continue;
      return own.turn == other.turn ? Place::same_direction : Place::facing;
    }
    for (std::size_t i = 0; i < kWeights.size(); ++i) {
      const mesh::ExactPoint origin = i == 0 ? middle : ray_origin(i);
      for (int axis = 0; axis < 3; ++axis) {
        int winding = 0;
        if (cast_ray(origin, axis, mesh, winding)) return winding > 0 ? Place::inside : Place::outside;
      }
    }
    throw Error("A part of a mesh could not be classified as inside or outside; the meshes may be damaged.");
  }

 private:
  // Orientation signs of p relative to the three edges of a triangle, seen along `axis`.
  [[nodiscard]] std::array<int, 3> turns(const GridTriangle& t, const mesh::ExactPoint& p, int axis) const
  {
    const mesh::PointTable& points = arrangement_.points();
    std::array<int, 3> result{};
    for (std::size_t k = 0; k < 3; ++k) {
      result[k] = orientation(points[t.corners[k]], points[t.corners[(k + 1) % 3]], p, axis);
    }
    return result;
  }

  [[nodiscard]] bool covers(const GridTriangle& t, const mesh::ExactPoint& p) const
  {
    const auto s = turns(t, p, t.axis);
    return s[0] == t.turn && s[1] == t.turn && s[2] == t.turn;
  }

  // Winding number by the crossings of a ray from `origin` in the direction of `axis`. False when the ray
  // meets an edge or a triangle seen edge-on, or starts on the surface.
  [[nodiscard]] bool cast_ray(const mesh::ExactPoint& origin, int axis, int mesh, int& winding) const
  {
    const mesh::PointTable& points = arrangement_.points();
    const Vec3& from = origin.approximate;
    constexpr double kMargin = 1;  // in cells, more than the error of the approximation
    for (const Index i : of_mesh_[at(mesh)]) {
      const GridTriangle& t = arrangement_.triangles()[at(i)];
      Box3 box;
      for (const Index v : t.corners) box.extend(points[v].approximate);
      bool near = from[axis] <= box.max()[axis] + kMargin;
      for (const int k : {(axis + 1) % 3, (axis + 2) % 3}) {
        near = near && from[k] >= box.min()[k] - kMargin && from[k] <= box.max()[k] + kMargin;
      }
      if (!near) continue;
      const auto s = turns(t, origin, axis);
      const bool left = s[0] > 0 || s[1] > 0 || s[2] > 0;
      const bool right = s[0] < 0 || s[1] < 0 || s[2] < 0;
      if (left && right) continue;
      if (s[0] == 0 || s[1] == 0 || s[2] == 0) return false;
      const int height = side(t.plane, origin);
      if (height == 0) return false;
      const int facing = t.plane.normal[at(axis)] > 0 ? 1 : -1;
      if (height != facing) winding += facing;
    }
    return true;
  }

  const MeshArrangement& arrangement_;
  std::vector<std::vector<Index>> of_mesh_;
};

// Pieces of one mesh that are connected without crossing a cut, as a patch number for each piece.
std::vector<int> patches(const MeshArrangement& arrangement, int& count)
{
  const auto& pieces = arrangement.pieces();
  const auto mesh_of = [&](std::size_t p) {
    return arrangement.triangles()[at(pieces[p].source)].mesh;
  };
  std::map<std::array<Index, 3>, std::vector<std::size_t>> by_edge;  // (mesh, low, high)
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [low, high] = std::minmax(pieces[p].corners[k], pieces[p].corners[(k + 1) % 3]);
      by_edge[{mesh_of(p), low, high}].push_back(p);
    }
  }
  std::vector<int> patch(pieces.size(), -1);
  count = 0;
  for (std::size_t seed = 0; seed < pieces.size(); ++seed) {
    if (patch[seed] >= 0) continue;
    std::vector<std::size_t> front = {seed};
    patch[seed] = count;
    while (!front.empty()) {
      const std::size_t p = front.back();
      front.pop_back();
      for (std::size_t k = 0; k < 3; ++k) {
        const auto [low, high] = std::minmax(pieces[p].corners[k], pieces[p].corners[(k + 1) % 3]);
        if (arrangement.is_cut(mesh_of(p), low, high)) continue;
        for (const std::size_t next : by_edge.at({mesh_of(p), low, high})) {
          if (patch[next] >= 0) continue;
          patch[next] = count;
          front.push_back(next);
        }
      }
    }
    ++count;
  }
  return patch;
}

// Intersection of the solids, each replaced by its complement where `complement` is set. The result is turned
// inside out when `turned`.
mesh::TriangleMesh intersect(std::span<const mesh::TriangleMesh> meshes, const std::vector<bool>& complement,
                             bool turned)
{
  const MeshArrangement arrangement(meshes);
  const PatchClassifier classifier(arrangement);
  int count = 0;
  const std::vector<int> patch = patches(arrangement, count);
  std::vector<int> keep(at(count), -1);
  mesh::TriangleMesh surface;
  for (std::size_t p = 0; p < arrangement.pieces().size(); ++p) {
    const Piece& piece = arrangement.pieces()[p];
    const int own = arrangement.triangles()[at(piece.source)].mesh;
    const bool own_flipped = complement[at(own)];
    int& decision = keep[at(patch[p])];
    for (int other = 0; other < static_cast<int>(meshes.size()) && decision < 0; ++other) {
      if (other == own) continue;
      const bool other_flipped = complement[at(other)];
      const Place place = classifier.place(piece, other);
      const bool inside = place == (other_flipped ? Place::outside : Place::inside);
      const bool same_direction =
          place == (own_flipped == other_flipped ? Place::same_direction : Place::facing);
      if (!inside && !(same_direction && own < other)) decision = 0;
    }
    if (decision < 0) decision = 1;
    if (decision == 0) continue;
    Triangle t = piece.corners;
    if (own_flipped != turned) std::swap(t[1], t[2]);
    surface.triangles.push_back(t);
  }
  for (std::size_t i = 0; i < arrangement.points().size(); ++i) {
    surface.vertices.push_back(arrangement.grid().position(arrangement.points()[static_cast<Index>(i)]));
  }
  return split_into_manifold(surface);
}

}  // namespace

mesh::TriangleMesh boolean_union(std::span<const mesh::TriangleMesh> parts)
{
  return intersect(parts, std::vector<bool>(parts.size(), true), true);
}

mesh::TriangleMesh boolean_intersection(std::span<const mesh::TriangleMesh> parts)
{
  return intersect(parts, std::vector<bool>(parts.size(), false), false);
}

mesh::TriangleMesh boolean_difference(const mesh::TriangleMesh& body,
                                      std::span<const mesh::TriangleMesh> cutters)
{
  std::vector<mesh::TriangleMesh> all = {body};
  all.insert(all.end(), cutters.begin(), cutters.end());
  std::vector<bool> complement(all.size(), true);
  complement[0] = false;
  return intersect(all, complement, false);
}

mesh::TriangleMesh boolean_union(const mesh::TriangleMesh& a, const mesh::TriangleMesh& b)
{
  return boolean_union(std::vector<mesh::TriangleMesh>{a, b});
}

mesh::TriangleMesh boolean_intersection(const mesh::TriangleMesh& a, const mesh::TriangleMesh& b)
{
  return boolean_intersection(std::vector<mesh::TriangleMesh>{a, b});
}

mesh::TriangleMesh boolean_difference(const mesh::TriangleMesh& a, const mesh::TriangleMesh& b)
{
  return boolean_difference(a, std::vector<mesh::TriangleMesh>{b});
}

}  // namespace thrum::shapes
