// SPDX-License-Identifier: MIT
#include "thrum/mesh/wall.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "thrum/base/index.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/mesh/sheet.h"

namespace thrum::mesh {

namespace {

// Triangles face each other when the cosine of the angle between their normals is below this.
constexpr double kFacing = -0.85;
// Of the median thickness: what is thinner or thicker is no side of the wall.
constexpr double kMinThickness = 0.3;
constexpr double kMaxThickness = 2.0;
// A side has at least this many squares of the thickness.
constexpr double kMinSquares = 200;
// Share of the area of each side from which the other side is seen.
constexpr double kMinSeen = 0.9;
// Rays start this far inside, as a share of the size of the body.
constexpr double kInside = 1e-9;
// Weight of staying along the normal where the opposite faces leave a vertex free to move along them.
constexpr double kAlongNormal = 1e-3;
// How far the other side may be from the surface, as a share of the thickness, and what may differ between
// the sides and the solid.
constexpr double kMaxGap = 0.05;
constexpr double kMaxVolumeError = 1e-3;
constexpr double kMaxInertiaError = 3e-3;

struct Opposite {
  double distance = 0;  // [m]
  Index triangle = -1;  // -1: none that faces it
};

using EdgeKey = std::pair<Index, Index>;

EdgeKey edge_key(Index a, Index b)
{
  return {std::min(a, b), std::max(a, b)};
}

class WallFinder {
 public:
  explicit WallFinder(const TriangleMesh& solid)
      : solid_(solid), bvh_(solid), size_(bounding_box(solid).sizes().maxCoeff())
  {
    for (std::size_t t = 0; t < solid.triangles.size(); ++t) {
      const Vec3 area = area_vector(solid, t);
      areas_.push_back(0.5 * area.norm());
      normals_.push_back(area.norm() > 0 ? Vec3(area.normalized()) : Vec3(Vec3::Zero()));
    }
  }

  std::optional<Wall> find()
  {
    if (std::any_of(areas_.begin(), areas_.end(), [](double a) { return !(a > 0); })) return std::nullopt;
    find_opposites();
    if (!find_thickness() || !find_sides()) return std::nullopt;
    for (const int side : {finer_side(), 1 - finer_side()})
      if (std::optional<Wall> wall = wall_from(side)) return wall;
    return std::nullopt;
  }

 private:
  [[nodiscard]] Opposite opposite_of(std::size_t t, const Vec3& from) const
  {
    const RayHit hit =
        bvh_.first_hit({.origin = from - kInside * size_ * normals_[t], .direction = -normals_[t]});
    if (!hit.found() || normals_[t].dot(normals_[at(hit.triangle)]) > kFacing) return {};
    return {hit.t + kInside * size_, hit.triangle};
  }

  void find_opposites()
  {
    for (std::size_t t = 0; t < solid_.triangles.size(); ++t)
      opposites_.push_back(
          opposite_of(t, (solid_.corner(t, 0) + solid_.corner(t, 1) + solid_.corner(t, 2)) / 3));
  }

  // The median over the area that sees another; false when the body is not thin.
  bool find_thickness()
  {
    std::vector<std::pair<double, double>> by_distance;  // with the area
    double total = 0;
    for (std::size_t t = 0; t < opposites_.size(); ++t)
      if (opposites_[t].triangle >= 0) {
        by_distance.emplace_back(opposites_[t].distance, areas_[t]);
        total += areas_[t];
      }
    std::sort(by_distance.begin(), by_distance.end());
    double below = 0;
    for (const auto& [distance, area] : by_distance) {
      below += area;
      thickness_ = distance;
      if (below >= 0.5 * total) break;
    }
    return thickness_ > 0 && 0.5 * total > kMinSquares * thickness_ * thickness_;
  }

  [[nodiscard]] bool is_of_thickness(const Opposite& o) const
  {
    return o.triangle >= 0 && o.distance > kMinThickness * thickness_ &&
           o.distance < kMaxThickness * thickness_;
  }

  // Numbers of connected triangles among those of equal `kind`.
  [[nodiscard]] std::vector<int> components(const std::vector<int>& kind, int& count) const
  {
    std::vector<std::size_t> parent(kind.size());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto root = [&](std::size_t t) {
      while (parent[t] != t) t = parent[t] = parent[parent[t]];
      return t;
    };
    for (const auto& [edge, triangles] : edges_)
      if (kind[triangles.first] == kind[triangles.second])
        parent[root(triangles.first)] = root(triangles.second);
    std::vector<int> number(kind.size(), -1);
    std::vector<int> of_root(kind.size(), -1);
    count = 0;
    for (std::size_t t = 0; t < kind.size(); ++t) {
      int& n = of_root[root(t)];
      if (n < 0) n = count++;
      number[t] = n;
    }
    return number;
  }

  // side_: 0 and 1 for the two sides, 2 for rims. False when there are not two sides that see each other.
  bool find_sides()
  {
    std::map<EdgeKey, std::vector<std::size_t>> around;
    for (std::size_t t = 0; t < solid_.triangles.size(); ++t)
      for (std::size_t k = 0; k < 3; ++k)
        around[edge_key(solid_.triangles[t][k], solid_.triangles[t][(k + 1) % 3])].push_back(t);
    for (const auto& [edge, triangles] : around) {
      if (triangles.size() != 2) return false;
      edges_[edge] = {triangles[0], triangles[1]};
    }
    std::vector<int> is_side;
    for (const Opposite& o : opposites_) is_side.push_back(is_of_thickness(o) ? 1 : 0);
    int count = 0;
    std::vector<int> part = components(is_side, count);
    // A patch that is no side but touches only one is part of it: what is seen from near a fold is the wall
    // beyond it. A small side that touches one rim only is part of that.
    std::vector<double> area(at(count), 0.0);
    for (std::size_t t = 0; t < part.size(); ++t) area[at(part[t])] += areas_[t];
    std::vector<int> sides;
    for (int p = 0; p < count; ++p) {
      const auto first = static_cast<std::size_t>(std::find(part.begin(), part.end(), p) - part.begin());
      if (is_side[first] == 1 && area[at(p)] > 0.5 * kMinSquares * thickness_ * thickness_)
        sides.push_back(p);
    }
    if (sides.size() != 2) return false;
    std::vector<int> kind(part.size(), 2);
    for (std::size_t t = 0; t < part.size(); ++t)
      for (int s = 0; s < 2; ++s)
        if (part[t] == sides[at(s)]) kind[t] = s;
    const std::vector<int> patch = components(kind, count);
    std::vector<int> touches(at(count), 0);
    for (const auto& [edge, t] : edges_)
      for (const auto& [a, b] : {t, std::pair(t.second, t.first)})
        if (kind[a] == 2 && kind[b] < 2) touches[at(patch[a])] |= 1 << kind[b];
    for (std::size_t t = 0; t < kind.size(); ++t)
      if (kind[t] == 2 && touches[at(patch[t])] != 3) kind[t] = touches[at(patch[t])] == 2 ? 1 : 0;
    side_ = std::move(kind);
    return see_each_other();
  }

  [[nodiscard]] bool see_each_other() const
  {
    std::array<double, 2> all{};
    std::array<double, 2> seen{};
    for (std::size_t t = 0; t < side_.size(); ++t) {
      if (side_[t] > 1) continue;
      all[at(side_[t])] += areas_[t];
      if (is_of_thickness(opposites_[t]) && side_[at(opposites_[t].triangle)] == 1 - side_[t])
        seen[at(side_[t])] += areas_[t];
    }
    return seen[0] > kMinSeen * all[0] && seen[1] > kMinSeen * all[1];
  }

  [[nodiscard]] int finer_side() const
  {
    return std::count(side_.begin(), side_.end(), 0) >= std::count(side_.begin(), side_.end(), 1) ? 0 : 1;
  }

  // The opposite of a triangle near one of its corners, where a curved wall differs from that of the middle.
  [[nodiscard]] Opposite opposite_near(std::size_t t, int corner) const
  {
    constexpr double kNear = 0.8;  // of the way from the middle to the corner
    const Vec3 middle = (solid_.corner(t, 0) + solid_.corner(t, 1) + solid_.corner(t, 2)) / 3;
    const Opposite near = opposite_of(t, middle + kNear * (solid_.corner(t, corner) - middle));
    return is_of_thickness(near) && side_[at(near.triangle)] == 1 - side_[t] ? near : opposites_[t];
  }

  // v + d lies in the planes of all opposite triangles and, on a rim, in those of the rim: least squares.
  struct PlaneSums {
    Mat3 squares = Mat3::Zero();
    Vec3 sum = Vec3::Zero();
    double squared = 0;
    double weight = 0;
    Vec3 normal = Vec3::Zero();
    std::vector<Index> opposite;  // triangles

    // Root mean square of the distances of v + d from the planes [m].
    [[nodiscard]] double distance(const Vec3& d) const
    {
      return std::sqrt(std::max(0.0, d.dot(squares * d) - 2 * d.dot(sum) + squared) / weight);
    }
  };

  [[nodiscard]] std::vector<PlaneSums> plane_sums(int side) const
  {
    std::vector<PlaneSums> sums(solid_.vertices.size());
    for (std::size_t t = 0; t < side_.size(); ++t) {
      if (side_[t] == 1 - side) continue;
      for (int k = 0; k < 3; ++k) {
        const Index v = solid_.triangles[t][at(k)];
        const Vec3& p = solid_.vertices[at(v)];
        const Vec3 a = (solid_.corner(t, (k + 1) % 3) - p).normalized();
        const Vec3 b = (solid_.corner(t, (k + 2) % 3) - p).normalized();
        const double angle = std::acos(std::clamp(a.dot(b), -1.0, 1.0));
        PlaneSums& s = sums[at(v)];
        if (side_[t] == 2) {
          s.squares += angle * normals_[t] * normals_[t].transpose();
          s.weight += angle;
          continue;
        }
        const Opposite o = opposite_near(t, k);
        if (!is_of_thickness(o) || side_[at(o.triangle)] != 1 - side) continue;
        const Vec3& n = normals_[at(o.triangle)];
        s.squares += angle * n * n.transpose();
        const double height = n.dot(solid_.corner(at(o.triangle), 0) - p);
        s.sum += angle * height * n;
        s.squared += angle * height * height;
        s.weight += angle;
        s.normal += angle * n;
        s.opposite.push_back(o.triangle);
      }
    }
    return sums;
  }

  // The way from a vertex to the other side: to a vertex there if one lies in the same planes, close to where
  // the least squares put it.
  [[nodiscard]] Vec3 way_across(const Vec3& v, const PlaneSums& s) const
  {
    constexpr double kSameVertex = 0.7;  // of the way
    constexpr double kInPlanes = 1e-3;   // of the thickness
    const Vec3 normal = s.normal.normalized();
    const Mat3 along = Mat3::Identity() - normal * normal.transpose();
    const Vec3 d = (s.squares + kAlongNormal * s.squares.trace() * along).ldlt().solve(s.sum);
    Vec3 best = d;
    double closest = kSameVertex * d.norm();
    for (const Index t : s.opposite)
      for (int k = 0; k < 3; ++k) {
        const Vec3 way = solid_.corner(at(t), k) - v;
        if ((way - d).norm() < closest && s.distance(way) < kInPlanes * thickness_) {
          closest = (way - d).norm();
          best = way;
        }
      }
    return best;
  }

  [[nodiscard]] std::optional<Wall> wall_from(int side) const
  {
    Wall wall;
    wall.thickness = thickness_;
    const std::vector<PlaneSums> sums = plane_sums(side);
    std::vector<Index> number(solid_.vertices.size(), -1);
    for (std::size_t t = 0; t < side_.size(); ++t) {
      if (side_[t] != side) continue;
      Triangle triangle = solid_.triangles[t];
      for (Index& v : triangle) {
        Index& n = number[at(v)];
        if (n < 0) {
          const PlaneSums& s = sums[at(v)];
          if (!(s.normal.norm() > 0)) return std::nullopt;
          n = count_of(wall.side.vertices);
          wall.side.vertices.push_back(solid_.vertices[at(v)]);
          wall.across.push_back(way_across(solid_.vertices[at(v)], s));
        }
        v = n;
      }
      wall.side.triangles.push_back(triangle);
    }
    return is_the_solid(wall) ? std::optional(std::move(wall)) : std::nullopt;
  }

  [[nodiscard]] bool is_the_solid(Wall& wall) const
  {
    // The other side is on the surface.
    for (std::size_t v = 0; v < wall.across.size(); ++v)
      if (!(bvh_.closest_point(wall.side.vertices[v] + wall.across[v]).distance < kMaxGap * thickness_))
        return false;
    for (const Triangle& t : wall.side.triangles) {
      Vec3 middle = Vec3::Zero();
      for (const Index v : t) middle += (wall.side.vertices[at(v)] + wall.across[at(v)]) / 3;
      if (!(bvh_.closest_point(middle).distance < kMaxGap * thickness_)) return false;
    }
    const TriangleMesh closed = solid_between(wall.side, wall.across);
    const MassProperties given = solid_mass_properties(solid_);
    if (!(signed_volume(closed) > 0)) return false;
    const MassProperties found = solid_mass_properties(closed);
    wall.volume_error = found.volume / given.volume - 1;
    return std::abs(wall.volume_error) < kMaxVolumeError &&
           (found.center - given.center).norm() < kMaxGap * thickness_ &&
           (found.inertia - given.inertia).norm() < kMaxInertiaError * given.inertia.norm();
  }

  const TriangleMesh& solid_;
  Bvh bvh_;
  double size_ = 0;       // of the body [m]
  double thickness_ = 0;  // [m]
  std::vector<double> areas_;
  std::vector<Vec3> normals_;
  std::vector<Opposite> opposites_;
  std::map<EdgeKey, std::pair<std::size_t, std::size_t>> edges_;
  std::vector<int> side_;
};

}  // namespace

std::optional<Wall> find_wall(const TriangleMesh& solid)
{
  if (solid.triangles.empty()) return std::nullopt;
  return WallFinder(solid).find();
}

}  // namespace thrum::mesh
