// SPDX-License-Identifier: MIT
#include "thrum/tets/surface_triangles.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>

namespace thrum::tets {

namespace {

// Two triangles are flat when their normals differ by less than this [rad]: a flip then moves the surface by
// less than 1e-4 of an edge.
constexpr double kFlatAngle = 1e-4;
// ... and when neither triangle of the other diagonal is thinner than this share of its longest side.
constexpr double kThinTriangle = 1e-3;

std::uint64_t side_key(Index a, Index b)
{
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32) | static_cast<std::uint32_t>(b);
}

Index third_corner(const Triangle& t, Index a, Index b)
{
  for (const Index v : t)
    if (v != a && v != b) return v;
  return -1;
}

}  // namespace

SurfaceTriangles::SurfaceTriangles(std::vector<Triangle> triangles) : triangles_(std::move(triangles))
{
  for (Index t = 0; t < count_of(triangles_); ++t) set_triangle(t, triangles_[at(t)]);
}

void SurfaceTriangles::set_triangle(Index t, const Triangle& triangle)
{
  if (t == count_of(triangles_)) triangles_.emplace_back();
  triangles_[at(t)] = triangle;
  for (std::size_t k = 0; k < 3; ++k) triangle_of_side_[side_key(triangle[k], triangle[(k + 1) % 3])] = t;
}

Index SurfaceTriangles::triangle_at(Index a, Index b) const
{
  const auto found = triangle_of_side_.find(side_key(a, b));
  return found == triangle_of_side_.end() ? -1 : found->second;
}

std::array<Index, 2> SurfaceTriangles::opposite_corners(Index a, Index b) const
{
  return {third_corner(triangles_[at(triangle_at(a, b))], a, b),
          third_corner(triangles_[at(triangle_at(b, a))], a, b)};
}

void SurfaceTriangles::fix_edge(Index a, Index b)
{
  fixed_.insert({std::min(a, b), std::max(a, b)});
}

bool SurfaceTriangles::is_fixed(Index a, Index b) const
{
  return fixed_.contains({std::min(a, b), std::max(a, b)});
}

std::vector<std::array<Index, 2>> SurfaceTriangles::fixed_edges() const
{
  return {fixed_.begin(), fixed_.end()};
}

void SurfaceTriangles::split_edge(Index a, Index b, Index m)
{
  if (fixed_.erase({std::min(a, b), std::max(a, b)}) > 0) {
    fix_edge(a, m);
    fix_edge(m, b);
  }
  for (const auto& [from, to] : {std::array{a, b}, std::array{b, a}}) {
    const Index t = triangle_at(from, to);
    const Index c = third_corner(triangles_[at(t)], a, b);
    triangle_of_side_.erase(side_key(from, to));
    set_triangle(t, {from, m, c});
    set_triangle(count_of(triangles_), {m, to, c});
  }
}

void SurfaceTriangles::split_triangle(Index triangle, Index m)
{
  const Triangle t = triangles_[at(triangle)];
  set_triangle(triangle, {t[0], t[1], m});
  set_triangle(count_of(triangles_), {t[1], t[2], m});
  set_triangle(count_of(triangles_), {t[2], t[0], m});
}

bool SurfaceTriangles::is_flat(Index a, Index b, const Point& point) const
{
  const auto [c, d] = opposite_corners(a, b);
  if (is_fixed(a, b) || c == d || triangle_at(c, d) >= 0 || triangle_at(d, c) >= 0) return false;
  const auto normal = [&](Index i, Index j, Index k) -> Vec3 {
    return (point(j) - point(i)).cross(point(k) - point(i));
  };
  const Vec3 all = normal(a, b, c) + normal(b, a, d);
  const double longest = std::max((point(a) - point(b)).squaredNorm(), (point(c) - point(d)).squaredNorm());
  const std::array<Vec3, 4> normals = {normal(a, b, c), normal(b, a, d), normal(a, d, c), normal(d, b, c)};
  for (std::size_t k = 0; k < 4; ++k) {
    const Vec3& n = normals[k];
    if (n.dot(all) <= 0 || (k > 1 && n.norm() < kThinTriangle * longest)) return false;
    if (n.cross(all).norm() > kFlatAngle * n.norm() * all.norm()) return false;
  }
  return true;
}

//       c                 c
//     /   \             / | \        .
//    a-----b    ->     a  |  b
//     \   /             \ | /
//       d                 d
void SurfaceTriangles::flip(Index a, Index b)
{
  const Index t = triangle_at(a, b);
  const Index s = triangle_at(b, a);
  const auto [c, d] = opposite_corners(a, b);
  triangle_of_side_.erase(side_key(a, b));
  triangle_of_side_.erase(side_key(b, a));
  set_triangle(t, {a, d, c});
  set_triangle(s, {d, b, c});
}

bool is_delaunay(const SurfaceTriangles& surface, Index a, Index b, const SurfaceTriangles::Point& point)
{
  constexpr double kTie = 1e-9;
  const auto [c, d] = surface.opposite_corners(a, b);
  const auto cotangent = [&](Index v) {
    const Vec3 p = point(a) - point(v);
    const Vec3 q = point(b) - point(v);
    return p.dot(q) / p.cross(q).norm();
  };
  return cotangent(c) + cotangent(d) >= -kTie;
}

double narrow_width(const SurfaceTriangles& surface, Index a, Index b, const SurfaceTriangles::Point& point)
{
  const Vec3 along = point(b) - point(a);
  double width = along.norm();
  for (const Index c : surface.opposite_corners(a, b))
    width = std::min(width, along.cross(point(c) - point(a)).norm() / along.norm());
  return width;
}

namespace {

class Refinement {
 public:
  Refinement(SurfacePieces surface, double longest)
      : vertices_(std::move(surface.vertices)), surface_(std::move(surface.triangles)), longest_(longest)
  {
    for (const auto& [a, b] : surface.fixed_edges) surface_.fix_edge(a, b);
  }

  // Edges between triangles that are not flat together: at most twice as long as these are wide now.
  void shorten_narrow_edges()
  {
    const auto point = [this](Index v) -> const Vec3& {
      return vertices_[at(v)];
    };
    for (const Triangle& t : surface_.triangles()) {
      for (std::size_t k = 0; k < 3; ++k) {
        const Index a = t[k], b = t[(k + 1) % 3];
        if (a > b || surface_.is_flat(a, b, point)) continue;
        const double width = narrow_width(surface_, a, b, point);
        if (width > 0) limits_[{a, b}] = std::min(longest_, 2 * width);
      }
    }
  }

  SurfacePieces run() &&
  {
    for (Index t = 0; t < count_of(surface_.triangles()); ++t) push_sides(surface_.triangles()[at(t)]);
    make_delaunay();
    while (!long_.empty()) {
      const auto [length, a, b] = long_.top();
      long_.pop();
      if (surface_.triangle_at(a, b) < 0) continue;
      const Index m = count_of(vertices_);
      const std::array<Index, 2> across = surface_.opposite_corners(a, b);
      vertices_.push_back(0.5 * (vertices_[at(a)] + vertices_[at(b)]));
      surface_.split_edge(a, b, m);
      if (const auto found = limits_.find({a, b}); found != limits_.end()) {
        const double limit = found->second;
        for (const Index end : {a, b}) limits_[{std::min(end, m), std::max(end, m)}] = limit;
      }
      for (const Index v : {a, b, across[0], across[1]}) push(m, v);
      for (const Index v : across) {
        suspects_.push_back({v, a});
        suspects_.push_back({v, b});
      }
      make_delaunay();
    }
    return {std::move(vertices_), surface_.triangles(), surface_.fixed_edges()};
  }

 private:
  struct LongEdge {
    double length;
    Index a, b;
    bool operator<(const LongEdge& other) const
    {
      return std::tie(length, other.a, other.b) < std::tie(other.length, a, b);
    }
  };

  void push(Index a, Index b)
  {
    const double length = (vertices_[at(a)] - vertices_[at(b)]).norm();
    const auto found = limits_.find({std::min(a, b), std::max(a, b)});
    if (length > (found == limits_.end() ? longest_ : found->second))
      long_.push({length, std::min(a, b), std::max(a, b)});
  }
  void push_sides(const Triangle& t)
  {
    for (std::size_t k = 0; k < 3; ++k) {
      if (t[k] > t[(k + 1) % 3]) continue;
      push(t[k], t[(k + 1) % 3]);
      suspects_.push_back({t[k], t[(k + 1) % 3]});
    }
  }

  void make_delaunay()
  {
    const auto point = [this](Index v) -> const Vec3& {
      return vertices_[at(v)];
    };
    while (!suspects_.empty()) {
      const auto [a, b] = suspects_.back();
      suspects_.pop_back();
      if (surface_.triangle_at(a, b) < 0 || is_delaunay(surface_, a, b, point)) continue;
      if (!surface_.is_flat(a, b, point)) continue;
      const auto [c, d] = surface_.opposite_corners(a, b);
      surface_.flip(a, b);
      push(c, d);
      for (const Index v : {a, b}) {
        suspects_.push_back({v, c});
        suspects_.push_back({v, d});
      }
    }
  }

  std::vector<Vec3> vertices_;
  SurfaceTriangles surface_;
  double longest_;
  std::map<std::array<Index, 2>, double> limits_;  // of edges that shall be shorter, ascending
  std::priority_queue<LongEdge> long_;
  std::vector<std::array<Index, 2>> suspects_;
};

}  // namespace

SurfacePieces refine_surface(SurfacePieces surface, double longest)
{
  return Refinement(std::move(surface), longest).run();
}

SurfacePieces refine_narrow_triangles(SurfacePieces surface, double longest)
{
  Refinement refinement(std::move(surface), longest);
  refinement.shorten_narrow_edges();
  return std::move(refinement).run();
}

void cut_at_plane(SurfacePieces& surface, const Vec3& normal, double offset)
{
  constexpr double kOnPlane = 1e-7;  // relative to the length of an edge
  SurfaceTriangles triangles(std::move(surface.triangles));
  for (const auto& [a, b] : surface.fixed_edges) triangles.fix_edge(a, b);
  const auto height = [&](Index v) {
    return normal.dot(surface.vertices[at(v)]) - offset;
  };
  for (Index t = 0; t < count_of(triangles.triangles()); ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = triangles.triangles()[at(t)][k];
      const Index b = triangles.triangles()[at(t)][(k + 1) % 3];
      const double tolerance =
          kOnPlane * normal.norm() * (surface.vertices[at(a)] - surface.vertices[at(b)]).norm();
      const double from = height(a), to = height(b);
      if (std::min(from, to) > -tolerance || std::max(from, to) < tolerance) continue;
      const Index m = count_of(surface.vertices);
      surface.vertices.push_back(surface.vertices[at(a)] +
                                 from / (from - to) * (surface.vertices[at(b)] - surface.vertices[at(a)]));
      triangles.split_edge(a, b, m);
      k = 2;  // this triangle has changed; it comes again
      --t;
    }
  }
  const double on_plane = kOnPlane * normal.norm();
  for (const Triangle& t : triangles.triangles()) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k], b = t[(k + 1) % 3];
      const double tolerance = on_plane * (surface.vertices[at(a)] - surface.vertices[at(b)]).norm();
      if (std::abs(height(a)) <= tolerance && std::abs(height(b)) <= tolerance) triangles.fix_edge(a, b);
    }
  }
  surface.triangles = triangles.triangles();
  surface.fixed_edges = triangles.fixed_edges();
}

}  // namespace thrum::tets
