// SPDX-License-Identifier: MIT
// Shapes of revolution: the lathe, and cylinder, capsule, torus and cone as profiles on it.
#include <cmath>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/shapes/profile.h"
#include "thrum/shapes/rings.h"
#include "thrum/shapes/shape_checks.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {

namespace {

void check_segments(int segments)
{
  if (segments != 0 && (segments < 3 || segments > kMaxSegments)) {
    throw Error(fmt::format("A shape of revolution has 3 to {} segments, or 0 for automatic; found {}.",
                            kMaxSegments, segments));
  }
}

Ring add_ring(mesh::TriangleMesh& mesh, const Vec2& rz, int count)
{
  const Ring ring{count_of(mesh.vertices), rz.x() > 0 ? count : 1};
  for (int i = 0; i < ring.count; ++i) {
    const double angle = 2 * std::numbers::pi * i / ring.count;
    mesh.vertices.emplace_back(rz.x() * std::cos(angle), rz.x() * std::sin(angle), rz.y());
  }
  return ring;
}

// The maximum radius, from which the default edge length is derived.
double max_radius(const std::vector<Vec2>& profile)
{
  double r = 0;
  for (const Vec2& p : profile) r = std::max(r, p.x());
  return r;
}

Vec2 on_circle(const Vec2& center, double radius, double angle)
{
  return center + radius * Vec2(std::cos(angle), std::sin(angle));
}

// A ring for every point of a counter-clockwise profile and a band between neighbours. Such a profile has the
// material on its left; turning about z to the left then gives outward triangles: e_theta x (dr, dz) = (dz,
// -dr).
mesh::TriangleMesh revolve(const std::vector<Vec2>& profile, bool on_axis, int segments, double edge)
{
  mesh::TriangleMesh mesh;
  std::vector<Ring> rings;
  for (const Vec2& rz : profile) {
    const int around = segment_count(2 * std::numbers::pi * rz.x(), edge, kMinSegments);
    rings.push_back(add_ring(mesh, rz, segments > 0 ? segments : around));
  }
  for (std::size_t i = 0; i + 1 < rings.size(); ++i) add_band(mesh, rings[i], rings[i + 1]);
  if (!on_axis) add_band(mesh, rings.back(), rings.front());
  return mesh;
}

}  // namespace

mesh::TriangleMesh generate(const LatheDesc& desc)
{
  require_not_negative(desc.edge_length, "edge length");
  check_segments(desc.segments);
  OrderedProfile profile = ordered_profile(desc.profile);
  double edge = desc.edge_length;
  if (edge == 0 && desc.segments == 0)
    edge = 2 * std::numbers::pi * max_radius(profile.points) / kDefaultSegments;
  if (edge > 0) profile.points = resampled(profile, edge);

  return revolve(profile.points, profile.on_axis, desc.segments, edge);
}

mesh::TriangleMesh generate(const CylinderDesc& desc)
{
  require_positive(desc.radius, "radius of the cylinder");
  require_positive(desc.height, "height of the cylinder");
  const double h = desc.height / 2;
  return generate(
      LatheDesc{{{0, -h}, {desc.radius, -h}, {desc.radius, h}, {0, h}}, desc.edge_length, desc.segments});
}

mesh::TriangleMesh generate(const ConeDesc& desc)
{
  require_positive(desc.height, "height of the cone");
  require_not_negative(desc.bottom_radius, "bottom radius of the cone");
  require_not_negative(desc.top_radius, "top radius of the cone");
  require_positive(std::max(desc.bottom_radius, desc.top_radius), "larger radius of the cone");
  const double h = desc.height / 2;
  std::vector<Vec2> profile = {{0, -h}};
  if (desc.bottom_radius > 0) profile.emplace_back(desc.bottom_radius, -h);
  if (desc.top_radius > 0) profile.emplace_back(desc.top_radius, h);
  profile.emplace_back(0, h);
  return generate(LatheDesc{profile, desc.edge_length, desc.segments});
}

mesh::TriangleMesh generate(const CapsuleDesc& desc)
{
  require_positive(desc.radius, "radius of the capsule");
  require_not_negative(desc.height, "height of the capsule");
  check_segments(desc.segments);
  require_not_negative(desc.edge_length, "edge length");
  // The half circles are divided here, not by the lathe, so that their points lie on the true surface and the
  // seams at the ends of the straight part are rings.
  const double around = desc.segments > 0 ? desc.segments : kDefaultSegments;
  const double edge = desc.edge_length > 0 ? desc.edge_length : 2 * std::numbers::pi * desc.radius / around;
  const int quarter = segment_count(std::numbers::pi / 2 * desc.radius, edge, 2);
  const int straight = desc.height > 0 ? segment_count(desc.height, edge) : 0;
  const double h = desc.height / 2;
  std::vector<Vec2> profile = {{0, -h - desc.radius}};
  for (int i = 1; i < quarter; ++i) {
    profile.push_back(
        on_circle({0, -h}, desc.radius, std::numbers::pi / 2 * (static_cast<double>(i) / quarter - 1)));
  }
  for (int i = 0; i <= straight; ++i)
    profile.emplace_back(desc.radius, straight == 0 ? 0 : h * (2.0 * i / straight - 1));
  for (int i = 1; i < quarter; ++i) {
    profile.push_back(on_circle({0, h}, desc.radius, std::numbers::pi / 2 * i / quarter));
  }
  profile.emplace_back(0, h + desc.radius);
  return revolve(profile, true, desc.segments, edge);
}

mesh::TriangleMesh generate(const TorusDesc& desc)
{
  require_positive(desc.minor_radius, "tube radius of the torus");
  if (!(desc.major_radius > desc.minor_radius)) {
    throw Error(fmt::format("The torus has radius {} m and tube radius {} m; the tube must be the smaller.",
                            desc.major_radius, desc.minor_radius));
  }
  require_not_negative(desc.edge_length, "edge length");
  check_segments(desc.major_segments);
  check_segments(desc.minor_segments);
  const double longest = 2 * std::numbers::pi * (desc.major_radius + desc.minor_radius);
  const double around = desc.major_segments > 0 ? desc.major_segments : kDefaultSegments;
  const double edge = desc.edge_length > 0 ? desc.edge_length : longest / around;
  // Where nothing is asked for, the section of a thin ring is as round as 32 corners make it: with the edges
  // of the ring alone it would have eight, and ring 5 % too low.
  constexpr int kDefaultTubeSegments = 32;
  const bool is_default = desc.edge_length == 0 && desc.major_segments == 0;
  const int minor = desc.minor_segments > 0 ? desc.minor_segments
                                            : segment_count(2 * std::numbers::pi * desc.minor_radius, edge,
                                                            is_default ? kDefaultTubeSegments : kMinSegments);
  std::vector<Vec2> profile;
  for (int i = 0; i < minor; ++i) {
    profile.push_back(on_circle({desc.major_radius, 0}, desc.minor_radius, 2 * std::numbers::pi * i / minor));
  }
  return revolve(profile, false, desc.major_segments, edge);
}

}  // namespace thrum::shapes
