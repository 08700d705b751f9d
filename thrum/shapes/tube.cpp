// SPDX-License-Identifier: MIT
// Tubes along a path. Each straight piece carries one frame (u, v, t), rotated from piece to piece by the
// smallest rotation (parallel transport), so a tube does not twist at its bends. At a bend both pieces are
// cut by the plane that halves the angle; since the middle of the section lies on the path, the volume stays
// section area times path length.
#include <cmath>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/shapes/rings.h"
#include "thrum/shapes/shape_checks.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {

namespace {

constexpr int kDefaultTubeSegments = 24;
constexpr double kMinBendCosine =
    -0.98;  // of the angle between two pieces: a bend of nearly a half turn is rejected

struct PathSegment {
  Vec3 start;
  Vec3 direction;  // unit, towards the next point
  double length;   // [m]
  Vec3 u, v;       // unit, u x v = direction
};

// A cross-section: offsets are taken in `plane` (its normal), by sliding along the piece's direction.
struct Station {
  Vec3 at;
  Vec3 u, v, direction;
  Vec3 plane_normal;
  double along;  // from the start of the path [m]
};

std::vector<PathSegment> path_segments(const TubeDesc& desc)
{
  const std::size_t count = desc.closed ? desc.path.size() : desc.path.size() - 1;
  std::vector<PathSegment> result;
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3 step = desc.path[(i + 1) % desc.path.size()] - desc.path[i];
    const double length = step.norm();
    if (!(length > 0) || !std::isfinite(length)) {
      throw Error(fmt::format("Points {} and {} of the tube's path are the same or not finite.", i, i + 1));
    }
    PathSegment piece{desc.path[i], step / length, length, Vec3::Zero(), Vec3::Zero()};
    if (i == 0) {
      Eigen::Index smallest_component = 0;
      piece.direction.cwiseAbs().minCoeff(&smallest_component);
      piece.u = piece.direction.cross(Vec3::Unit(smallest_component)).normalized();
    } else {
      const PathSegment& before = result.back();
      if (before.direction.dot(piece.direction) < kMinBendCosine) {
        throw Error(fmt::format("The tube's path turns back at point {}.", i));
      }
      piece.u = Quat::FromTwoVectors(before.direction, piece.direction) * before.u;
      piece.u = (piece.u - piece.u.dot(piece.direction) * piece.direction).normalized();
    }
    piece.v = piece.direction.cross(piece.u);
    result.push_back(piece);
  }
  return result;
}

// The length of a straight piece that the mitre at the bend a -> b uses on the inner side [m].
double mitre(const PathSegment& a, const PathSegment& b, double radius)
{
  const double cosine = std::clamp(a.direction.dot(b.direction), -1.0, 1.0);
  return radius * std::tan(std::acos(cosine) / 2);
}

void check_bends(const std::vector<PathSegment>& straight, const TubeDesc& desc)
{
  const std::size_t n = straight.size();
  for (std::size_t i = 0; i < n; ++i) {
    double taken = 0;
    if (i > 0 || desc.closed) taken += mitre(straight[(i + n - 1) % n], straight[i], desc.radius);
    if (i + 1 < n || desc.closed) taken += mitre(straight[i], straight[(i + 1) % n], desc.radius);
    if (taken >= straight[i].length) {
      throw Error(fmt::format("The tube of radius {} m is too thick for the bends at point {} of its path.",
                              desc.radius, i));
    }
  }
}

std::vector<Station> stations(const std::vector<PathSegment>& straight, bool closed, double edge_length)
{
  std::vector<Station> result;
  double along = 0;
  const std::size_t n = straight.size();
  for (std::size_t i = 0; i < n; ++i) {
    const PathSegment& p = straight[i];
    const int count = segment_count(p.length, edge_length);
    for (int k = 0; k < count; ++k) {
      Station s{p.start + p.direction * (p.length * k / count),
                p.u,
                p.v,
                p.direction,
                p.direction,
                along + p.length * k / count};
      if (k == 0 && (i > 0 || closed)) s.plane_normal = straight[(i + n - 1) % n].direction + p.direction;
      result.push_back(s);
    }
    along += p.length;
  }
  const PathSegment& last = straight.back();
  if (!closed) {
    result.push_back(
        {last.start + last.direction * last.length, last.u, last.v, last.direction, last.direction, along});
  }
  return result;
}

// The angle between the transported frame after one round and the first one; it is distributed evenly over
// the stations.
double twist_of_closed_path(const std::vector<PathSegment>& straight)
{
  const PathSegment& first = straight.front();
  const PathSegment& last = straight.back();
  const Vec3 returned = Quat::FromTwoVectors(last.direction, first.direction) * last.u;
  return std::atan2(returned.dot(first.v), returned.dot(first.u));
}

Ring add_ring(mesh::TriangleMesh& mesh, const Station& s, double radius, int count, double turn)
{
  const Ring ring{count_of(mesh.vertices), radius > 0 ? count : 1};
  for (int i = 0; i < ring.count; ++i) {
    const double angle = 2 * std::numbers::pi * i / count + turn;
    const Vec3 offset = radius * (std::cos(angle) * s.u + std::sin(angle) * s.v);
    const double slide = offset.dot(s.plane_normal) / s.direction.dot(s.plane_normal);
    mesh.vertices.push_back(s.at + offset - slide * s.direction);
  }
  return ring;
}

}  // namespace

mesh::TriangleMesh generate(const TubeDesc& desc)
{
  require_positive(desc.radius, "radius of the tube");
  require_not_negative(desc.inner_radius, "inner radius of the tube");
  require_not_negative(desc.edge_length, "edge length");
  if (desc.inner_radius >= desc.radius)
    throw Error("The inner radius of a tube must be less than its radius.");
  if (desc.path.size() < (desc.closed ? 3u : 2u)) throw Error("The path of a tube has too few points.");
  if (desc.segments != 0 && (desc.segments < 3 || desc.segments > kMaxSegments)) {
    throw Error(fmt::format("A tube has 3 to {} segments around, or 0 for automatic.", kMaxSegments));
  }
  const std::vector<PathSegment> straight = path_segments(desc);
  check_bends(straight, desc);
  const std::vector<Station> all = stations(straight, desc.closed, desc.edge_length);
  double path_length = 0;
  for (const PathSegment& p : straight) path_length += p.length;

  const auto around = [&](double radius) {
    if (desc.segments > 0) return desc.segments;
    if (desc.edge_length == 0) return kDefaultTubeSegments;
    return segment_count(2 * std::numbers::pi * radius, desc.edge_length, kMinSegments);
  };
  const double twist = desc.closed ? twist_of_closed_path(straight) : 0;
  const auto ring_at = [&](mesh::TriangleMesh& mesh, const Station& s, double radius) {
    return add_ring(mesh, s, radius, around(radius), -twist * s.along / path_length);
  };

  mesh::TriangleMesh mesh;
  // One round through the section's outline, as on the lathe: start cap outwards, outer wall, end cap
  // inwards, inner wall.
  std::vector<Ring> outer;
  std::vector<Ring> inner;
  for (const Station& s : all) outer.push_back(ring_at(mesh, s, desc.radius));
  if (desc.inner_radius > 0) {
    for (const Station& s : all) inner.push_back(ring_at(mesh, s, desc.inner_radius));
  }
  for (std::size_t i = 0; i + 1 < outer.size(); ++i) add_band(mesh, outer[i], outer[i + 1]);
  for (std::size_t i = 0; i + 1 < inner.size(); ++i) add_band(mesh, inner[i + 1], inner[i]);
  if (desc.closed) {
    add_band(mesh, outer.back(), outer.front());
    if (!inner.empty()) add_band(mesh, inner.front(), inner.back());
    return mesh;
  }
  const int cap_rings = segment_count(desc.radius - desc.inner_radius, desc.edge_length);
  for (const bool at_start : {true, false}) {
    const Station& s = at_start ? all.front() : all.back();
    Ring outside = at_start ? outer.front() : outer.back();
    for (int i = cap_rings - 1; i >= 0; --i) {
      const double radius = desc.inner_radius + (desc.radius - desc.inner_radius) * i / cap_rings;
      const bool on_wall = i == 0 && !inner.empty();
      const Ring inside = on_wall ? (at_start ? inner.front() : inner.back()) : ring_at(mesh, s, radius);
      if (at_start) {
        add_band(mesh, inside, outside);
      } else {
        add_band(mesh, outside, inside);
      }
      outside = inside;
    }
  }
  return mesh;
}

}  // namespace thrum::shapes
