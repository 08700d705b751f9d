// SPDX-License-Identifier: MIT
// What is swept along a helix. A prism over the outline is bent, (x, y, s) with s the angle a about the axis
// going to
//
//     ((radius + x) cos a,  (radius + x) sin a,  y + pitch a / 2 pi).                              (1)
//
// Sections stand upright, in planes through the axis. (1) is a turn about the axis with a shear along it,
// which keeps the volume: that of the whole is by Pappus the area of the outline times the way of its
// centroid about the axis, whatever the pitch. The quadrilaterals of a layer are not planar: with diagonals
// that all go the same way the walls bulge to the same side, and volumes are off in the first order of the
// length of a layer instead of the second.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/shapes/prism.h"
#include "thrum/shapes/shape_checks.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {

namespace {

constexpr int kMinSegmentsPerTurn = 8;

// A section meets itself one turn later, where it is higher by the pitch: in one plane through the axis both
// are the same outline, so that they must be apart from each other by their extent along the axis.
void check_turns(const HelixDesc& desc)
{
  if (desc.turns <= 1) return;
  const auto [low, high] = std::minmax_element(desc.outline.begin(), desc.outline.end(),
                                               [](const Vec2& a, const Vec2& b) { return a.y() < b.y(); });
  if (std::abs(desc.pitch) > high->y() - low->y()) return;
  throw Error(
      fmt::format("A helix of {} turns whose outline is {} m high needs a pitch of more than that; "
                  "it is {} m.",
                  desc.turns, high->y() - low->y(), desc.pitch));
}

}  // namespace

mesh::TriangleMesh generate(const HelixDesc& desc)
{
  require_positive(desc.radius, "radius of the helix");
  require_positive(desc.turns, "number of turns of the helix");
  require_not_negative(desc.edge_length, "edge length");
  if (!std::isfinite(desc.pitch)) throw Error("The pitch of a helix must be finite.");
  if (desc.segments != 0 && (desc.segments < kMinSegmentsPerTurn || desc.segments > kMaxSegments)) {
    throw Error(fmt::format("A helix has {} to {} segments in a turn, or 0 for automatic.",
                            kMinSegmentsPerTurn, kMaxSegments));
  }
  double farthest = 0;
  for (const Vec2& p : desc.outline) {
    if (!(desc.radius + p.x() > 0))
      throw Error(fmt::format("The outline of a helix reaches its axis at x = {} m.", p.x()));
    farthest = std::max(farthest, desc.radius + p.x());
  }
  check_turns(desc);

  const double angle = 2 * std::numbers::pi * desc.turns;
  const double layers =
      desc.segments == 0 && desc.edge_length > 0
          ? segment_count(std::hypot(farthest * angle, desc.pitch * desc.turns), desc.edge_length)
          : desc.turns * (desc.segments > 0 ? desc.segments : kDefaultSegments);
  const double least = desc.turns * kMinSegmentsPerTurn;
  const double count = std::ceil(std::max(layers, least) - 1e-9);
  if (count > kMaxSegments)
    throw Error(fmt::format("A helix of {} turns would have {} segments; the maximum is {}.", desc.turns,
                            count, kMaxSegments));
  mesh::TriangleMesh mesh =
      make_prism({.outline = desc.outline, .holes = {}, .height = angle, .edge_length = desc.edge_length},
                 static_cast<int>(count), PrismDiagonals::alternating);
  for (Vec3& v : mesh.vertices) {
    const double r = desc.radius + v.x();
    const double a = v.z();
    v = {r * std::cos(a), r * std::sin(a), v.y() + desc.pitch * a / (2 * std::numbers::pi)};
  }
  // (outwards, upwards, along) is left-handed.
  for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  return mesh;
}

}  // namespace thrum::shapes
