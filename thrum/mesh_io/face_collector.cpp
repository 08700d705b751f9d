// SPDX-License-Identifier: MIT
#include "thrum/mesh_io/face_collector.h"

#include <fmt/format.h>

#include <numeric>

#include "thrum/base/index.h"

namespace thrum::mesh_io {

namespace {

// Ear clipping tests at most this many corners against ears per corner of the polygon. A gear of 400 corners
// takes about 600; an adversarial outline stops here instead of costing the cube of its size.
constexpr std::size_t kTestsPerCorner = 4000;

// Newell's normal: twice the area vector, also correct for concave and slightly warped polygons.
Vec3 newell_normal(std::span<const Vec3> corners)
{
  Vec3 normal = Vec3::Zero();
  const Vec3& origin = corners.front();
  for (std::size_t i = 0; i < corners.size(); ++i) {
    normal += (corners[i] - origin).cross(corners[(i + 1) % corners.size()] - origin);
  }
  return normal;
}

double turn(const Vec2& a, const Vec2& b, const Vec2& c)
{
  return (b - a).x() * (c - a).y() - (b - a).y() * (c - a).x();
}

// Closed triangle, so that a reflex corner on the edge of an ear rejects it.
bool holds(const Vec2& a, const Vec2& b, const Vec2& c, const Vec2& p)
{
  return turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0;
}

// The corners in the plane across `normal`, turning counter-clockwise.
std::vector<Vec2> flatten(std::span<const Vec3> corners, const Vec3& normal)
{
  int drop = 0;
  normal.cwiseAbs().maxCoeff(&drop);
  const int u = (drop + 1) % 3;
  const int v = (drop + 2) % 3;
  const double side = normal[drop] < 0 ? -1 : 1;
  std::vector<Vec2> flat;
  flat.reserve(corners.size());
  for (const Vec3& p : corners) flat.emplace_back(side * p[u], p[v]);
  return flat;
}

bool is_convex(const std::vector<Vec2>& flat)
{
  const std::size_t n = flat.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (turn(flat[i], flat[(i + 1) % n], flat[(i + 2) % n]) < 0) return false;
  }
  return true;
}

// An ear at ring position i: a left turn that contains no other corner of the ring. Counts its tests.
bool is_ear(const std::vector<Vec2>& flat, const std::vector<Index>& ring, std::size_t i, std::size_t& tests)
{
  const std::size_t n = ring.size();
  const auto at = [&](std::size_t k) {
    return flat[static_cast<std::size_t>(ring[k % n])];
  };
  const Vec2 a = at(i + n - 1);
  const Vec2 b = at(i);
  const Vec2 c = at(i + 1);
  if (turn(a, b, c) <= 0) return false;
  for (std::size_t k = i + 2; k < i + n - 1; ++k) {
    ++tests;
    const Vec2 p = at(k);
    // A corner at the same place as one of the ear's own (a bridge to a hole) does not block it.
    if (p != a && p != b && p != c && holds(a, b, c, p)) return false;
  }
  return true;
}

}  // namespace

bool triangulate_polygon(std::span<const Vec3> corners, std::span<Triangle> triangles)
{
  const std::size_t n = corners.size();
  const auto fan = [&triangles](const std::vector<Index>& ring, std::size_t next) {
    for (std::size_t k = 1; k + 1 < ring.size(); ++k) triangles[next++] = {ring[0], ring[k], ring[k + 1]};
  };
  std::vector<Index> ring(n);
  std::iota(ring.begin(), ring.end(), 0);
  const Vec3 normal = newell_normal(corners);
  const std::vector<Vec2> flat = flatten(corners, normal);
  if (is_convex(flat)) {
    fan(ring, 0);
    return true;
  }

  // Clip ears, continuing after the last one so that they do not all meet at one corner.
  std::size_t next = 0;
  std::size_t at = 0;
  std::size_t misses = 0;
  std::size_t tests = 0;
  while (ring.size() > 3 && misses < ring.size() && tests < kTestsPerCorner * n) {
    const std::size_t m = ring.size();
    if (is_ear(flat, ring, at, tests)) {
      triangles[next++] = {ring[(at + m - 1) % m], ring[at], ring[(at + 1) % m]};
      ring.erase(ring.begin() + static_cast<std::ptrdiff_t>(at));
      misses = 0;
      if (at == ring.size()) at = 0;
    } else {
      at = (at + 1) % m;
      ++misses;
    }
  }
  fan(ring, next);
  return ring.size() == 3;
}

void FaceCollector::add_polygon(std::span<const Index> corners)
{
  if (corners.size() == 3) {
    add_triangle(corners[0], corners[1], corners[2]);
    return;
  }
  polygons_.push_back({triangles_.size(), corners_.size(), corners.size()});
  corners_.insert(corners_.end(), corners.begin(), corners.end());
  triangles_.resize(triangles_.size() + corners.size() - 2);
}

void FaceCollector::finish(mesh::TriangleMesh& mesh, std::vector<std::string>& notes)
{
  std::vector<Vec3> points;
  std::size_t crossed = 0;
  for (const Polygon& polygon : polygons_) {
    const std::span<const Index> indices(corners_.data() + polygon.first_corner, polygon.corners);
    points.clear();
    for (const Index v : indices) points.push_back(mesh.vertices[at(v)]);
    const std::span<Triangle> out(triangles_.data() + polygon.first_triangle, polygon.corners - 2);
    if (!triangulate_polygon(points, out)) ++crossed;
    for (Triangle& t : out) {
      for (Index& v : t) v = indices[at(v)];
    }
  }
  if (!polygons_.empty()) {
    notes.push_back(
        fmt::format("{} polygons of more than three corners were triangulated.", polygons_.size()));
  }
  if (crossed > 0) {
    notes.push_back(fmt::format(
        "{} of these polygons cross themselves or are too complex and were cut into fans.", crossed));
  }
  mesh.triangles = std::move(triangles_);
  triangles_.clear();
  polygons_.clear();
  corners_.clear();
}

}  // namespace thrum::mesh_io
