// SPDX-License-Identifier: MIT
#include "thrum/shapes/convex_hull.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {

namespace {

__extension__ using Int128 = __int128;
using GridPoint = std::array<std::int64_t, 3>;

constexpr double kGridCells = 1099511627776.0;    // 2^40 along the longest side of the box
constexpr double kDirectionCells = 1073741824.0;  // 2^30, for directions that need not be accurate

struct Plane {
  std::array<Int128, 3> normal{};  // at most 83 bits
  GridPoint origin{};

  // Positive in front; linear in p, so comparing values for one plane is comparing distances. At most 126
  // bits.
  [[nodiscard]] Int128 height(const GridPoint& p) const
  {
    Int128 sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += normal[k] * (p[k] - origin[k]);
    return sum;
  }
};

Plane plane_through(const GridPoint& a, const GridPoint& b, const GridPoint& c)
{
  Plane plane;
  plane.origin = a;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t i = (k + 1) % 3;
    const std::size_t j = (k + 2) % 3;
    plane.normal[k] =
        static_cast<Int128>(b[i] - a[i]) * (c[j] - a[j]) - static_cast<Int128>(b[j] - a[j]) * (c[i] - a[i]);
  }
  return plane;
}

struct Face {
  Triangle corners{};
  Plane plane;
  std::vector<Index> outside;  // points strictly in front that are not assigned to another face
  bool alive = true;
};

class Quickhull {
 public:
  explicit Quickhull(std::span<const Vec3> points) : points_(points) { round_to_grid(); }

  mesh::TriangleMesh run()
  {
    start_with_tetrahedron();
    for (std::size_t f = 0; f < faces_.size(); ++f) {
      if (faces_[f].alive && !faces_[f].outside.empty()) add_point(f, farthest_point(faces_[f]));
    }
    return result();
  }

 private:
  void round_to_grid()
  {
    Box3 box;
    for (const Vec3& p : points_) {
      if (!p.allFinite()) throw Error("A point given to the convex hull is not finite.");
      box.extend(p);
    }
    const double size = points_.empty() ? 0 : box.sizes().maxCoeff();
    if (!(size > 0)) throw Error("The convex hull needs at least four points that are not in one plane.");
    for (const Vec3& p : points_) {
      const Vec3 scaled = (p - box.min()) * (kGridCells / size);
      grid_.push_back({std::llround(scaled.x()), std::llround(scaled.y()), std::llround(scaled.z())});
    }
  }

  [[nodiscard]] const GridPoint& at(Index i) const { return grid_[static_cast<std::size_t>(i)]; }

  // The point of maximum value; of equals the lexicographically largest. An extreme point in this order is a
  // corner of the hull, never a point inside an edge or a face.
  template <typename Value>
  [[nodiscard]] Index extreme(std::span<const Index> candidates, Value value) const
  {
    Index best = candidates.front();
    auto best_value = value(at(best));
    for (const Index i : candidates.subspan(1)) {
      const auto v = value(at(i));
      if (v > best_value || (v == best_value && at(i) > at(best))) {
        best = i;
        best_value = v;
      }
    }
    return best;
  }

  [[nodiscard]] Index farthest_point(const Face& face) const
  {
    return extreme(face.outside, [&](const GridPoint& p) { return face.plane.height(p); });
  }

  void start_with_tetrahedron()
  {
    std::vector<Index> all(grid_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
    const auto zero = [](const GridPoint&) {
      return 0;
    };
    const Index a =
        *std::min_element(all.begin(), all.end(), [&](Index i, Index j) { return at(i) < at(j); });
    const Index b = extreme(all, zero);
    const Index c = find_point_off_line(all, a, b);
    const Plane base = plane_through(at(a), at(b), at(c));
    Index d = extreme(all, [&](const GridPoint& p) { return base.height(p); });
    const Index below = extreme(all, [&](const GridPoint& p) { return -base.height(p); });
    if (base.height(at(d)) < -base.height(at(below))) d = below;
    if (base.height(at(d)) == 0) throw Error("The points given to the convex hull lie in one plane.");

    const bool in_front = base.height(at(d)) > 0;
    const std::array<Index, 3> t = in_front ? std::array{a, c, b} : std::array{a, b, c};
    add_face({t[0], t[1], t[2]});
    for (std::size_t k = 0; k < 3; ++k) add_face({t[(k + 1) % 3], t[k], d});
    std::vector<std::size_t> new_faces = {0, 1, 2, 3};
    assign_outside_points(all, new_faces);
  }

  // A corner of the hull away from the line a b: the extreme one in the direction of any point that is off
  // the line.
  [[nodiscard]] Index find_point_off_line(std::span<const Index> all, Index a, Index b) const
  {
    const auto real = [&](Index i) {
      return Vec3(static_cast<double>(at(i)[0]), static_cast<double>(at(i)[1]),
                  static_cast<double>(at(i)[2]));
    };
    const Vec3 line = (real(b) - real(a)).normalized();
    Index farthest = -1;
    double width = 0;
    for (const Index i : all) {
      const double w = (real(i) - real(a)).cross(line).norm();
      const Plane p = plane_through(at(a), at(b), at(i));
      const bool off = p.normal[0] != 0 || p.normal[1] != 0 || p.normal[2] != 0;
      if (off && (farthest < 0 || w > width)) {
        farthest = i;
        width = w;
      }
    }
    if (farthest < 0) throw Error("The points given to the convex hull lie on one line.");
    Vec3 out = real(farthest) - real(a);
    out = (out - out.dot(line) * line).normalized() * kDirectionCells;
    const GridPoint direction = {std::llround(out.x()), std::llround(out.y()), std::llround(out.z())};
    const Index c = extreme(all, [&](const GridPoint& p) {
      Int128 sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += static_cast<Int128>(direction[k]) * p[k];
      return sum;
    });
    const Plane p = plane_through(at(a), at(b), at(c));
    return p.normal[0] != 0 || p.normal[1] != 0 || p.normal[2] != 0 ? c : farthest;
  }

  [[nodiscard]] static std::uint64_t edge_key(Index a, Index b)
  {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32) | static_cast<std::uint32_t>(b);
  }

  std::size_t add_face(const Triangle& corners)
  {
    const std::size_t f = faces_.size();
    faces_.push_back({corners, plane_through(at(corners[0]), at(corners[1]), at(corners[2])), {}, true});
    for (std::size_t k = 0; k < 3; ++k) face_of_edge_[edge_key(corners[k], corners[(k + 1) % 3])] = f;
    return f;
  }

  void assign_outside_points(std::span<const Index> candidates, std::span<const std::size_t> faces)
  {
    for (const Index i : candidates) {
      for (const std::size_t f : faces) {
        if (faces_[f].plane.height(at(i)) > 0) {
          faces_[f].outside.push_back(i);
          break;
        }
      }
    }
  }

  // Removes the faces that see p strictly and closes the hole with a fan from p. With exact signs those faces
  // form one disc, and no new face is degenerate: were p in line with an edge of the rim, the removed face
  // could not see it.
  void add_point(std::size_t start, Index p)
  {
    std::vector<std::size_t> visible = {start};
    faces_[start].alive = false;
    std::vector<std::pair<Index, Index>> rim;
    for (std::size_t i = 0; i < visible.size(); ++i) {
      const Triangle corners = faces_[visible[i]].corners;
      for (std::size_t k = 0; k < 3; ++k) {
        const Index u = corners[k];
        const Index v = corners[(k + 1) % 3];
        const std::size_t across = face_of_edge_.at(edge_key(v, u));
        if (!faces_[across].alive) continue;
        if (faces_[across].plane.height(at(p)) > 0) {
          faces_[across].alive = false;
          visible.push_back(across);
        } else {
          rim.emplace_back(u, v);
        }
      }
    }
    // An edge recorded before its other side was found visible is not part of the rim.
    std::vector<std::size_t> new_faces;
    for (const auto& [u, v] : rim) {
      if (faces_[face_of_edge_.at(edge_key(v, u))].alive) new_faces.push_back(add_face({u, v, p}));
    }
    for (const std::size_t f : visible) {
      const std::vector<Index> unassigned = std::move(faces_[f].outside);
      faces_[f].outside.clear();
      assign_outside_points(unassigned, new_faces);
    }
  }

  [[nodiscard]] mesh::TriangleMesh result() const
  {
    std::vector<Index> renumbered(grid_.size(), -1);
    for (const Face& face : faces_) {
      if (!face.alive) continue;
      for (const Index v : face.corners) renumbered[static_cast<std::size_t>(v)] = 0;
    }
    mesh::TriangleMesh mesh;
    for (std::size_t i = 0; i < renumbered.size(); ++i) {
      if (renumbered[i] < 0) continue;
      renumbered[i] = count_of(mesh.vertices);
      mesh.vertices.push_back(points_[i]);
    }
    for (const Face& face : faces_) {
      if (!face.alive) continue;
      Triangle t{};
      for (std::size_t k = 0; k < 3; ++k) t[k] = renumbered[static_cast<std::size_t>(face.corners[k])];
      mesh.triangles.push_back(t);
    }
    return mesh;
  }

  std::span<const Vec3> points_;
  std::vector<GridPoint> grid_;
  std::vector<Face> faces_;
  std::unordered_map<std::uint64_t, std::size_t> face_of_edge_;
};

}  // namespace

mesh::TriangleMesh convex_hull(std::span<const Vec3> points)
{
  return Quickhull(points).run();
}

mesh::TriangleMesh generate(const ConvexHullDesc& desc)
{
  return convex_hull(desc.points);
}

}  // namespace thrum::shapes
