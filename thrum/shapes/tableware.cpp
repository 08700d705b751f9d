// SPDX-License-Identifier: MIT
// Outlines run from the axis along the underside to the rim and back along the inside to the axis. Details of
// a shape are fractions of its own dimensions, so that it keeps its proportions at every size.
#include "thrum/shapes/tableware.h"

#include <cmath>
#include <numbers>

#include "thrum/mesh/remesh.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/profile.h"
#include "thrum/shapes/shape_checks.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {

namespace {

constexpr double kPi = std::numbers::pi;

mesh::TriangleMesh turned(const std::vector<Vec2>& profile, double edge_length)
{
  return generate(LatheDesc{profile, edge_length, 0});
}

// Outer radius of a cup's wall at a height [m].
double wall_radius(const CupDesc& cup, double z)
{
  return cup.foot_radius + (cup.radius - cup.foot_radius) * z / cup.height;
}

// A path for the handle: out from the wall, down in a bow, and back into it. It begins and ends a radius
// deeper than the middle of the wall, so that no edge of its ends, which are not parallel to the wall, is
// left outside.
std::vector<Vec3> handle_path(const CupDesc& cup, double reach, double handle_radius)
{
  const double high = 0.8 * cup.height;
  const double low = 0.25 * cup.height;
  const double depth = cup.thickness / 2 + handle_radius;
  const double x_top = wall_radius(cup, high) - depth;
  const double x_bottom = wall_radius(cup, low) - depth;
  const double x_out = cup.radius + reach;
  // Cubic Bezier curve with its middle at x_out = (x_top + 6 bow + x_bottom) / 8.
  const double bow = (8 * x_out - x_top - x_bottom) / 6;
  std::vector<Vec3> path;
  constexpr int kSteps = 24;
  for (int i = 0; i <= kSteps; ++i) {
    const double t = static_cast<double>(i) / kSteps;
    const double s = 1 - t;
    const double x = s * s * s * x_top + 3 * s * s * t * bow + 3 * s * t * t * bow + t * t * t * x_bottom;
    const double z =
        s * s * s * high + 3 * s * s * t * (high + 0.12 * cup.height) + 3 * s * t * t * low + t * t * t * low;
    path.emplace_back(x, 0, z);
  }
  return path;
}

}  // namespace

std::vector<Vec2> profile_of(const PlateDesc& d)
{
  require_positive(d.radius, "radius of the plate");
  require_positive(d.thickness, "thickness of the plate");
  require_positive(d.height - 3 * d.thickness, "height of the plate minus three times its thickness");
  const double t = d.thickness;
  const double foot = 0.58 * d.radius;  // outer edge of the foot ring
  const double lift = 0.5 * t;          // of the underside within the ring
  const double lip = t / 2;
  ProfileDrawing outline({0, lift});
  outline.line_to({foot - 1.5 * t, lift})
      .line_to({foot - 1.2 * t, 0})
      .line_to({foot, 0})
      .line_to({foot + 0.3 * t, lift})
      .curve_to({0.68 * d.radius, lift}, {0.68 * d.radius, d.height - 2.2 * t},
                {0.78 * d.radius, d.height - 1.8 * t})
      .line_to({d.radius - lip, d.height - 2 * lip})
      .arc({d.radius - lip, d.height - lip}, kPi)
      .line_to({0.77 * d.radius, d.height - 0.8 * t})
      .curve_to({0.655 * d.radius, d.height - 1.2 * t}, {0.655 * d.radius, lift + t},
                {0.58 * d.radius, lift + t})
      .line_to({0, lift + t});
  return outline.points();
}

std::vector<Vec2> profile_of(const BowlDesc& d)
{
  require_positive(d.radius, "radius of the bowl");
  require_positive(d.thickness, "thickness of the bowl");
  require_positive(d.height - 5 * d.thickness, "height of the bowl minus five times its thickness");
  require_positive(d.radius - 5 * d.thickness, "radius of the bowl minus five times its thickness");
  const double t = d.thickness;
  const double foot = 0.45 * d.radius;
  const double lift = t;
  const double lip = t / 2;
  ProfileDrawing outline({0, lift});
  outline.line_to({foot - 1.3 * t, lift})
      .line_to({foot - t, 0})
      .line_to({foot, 0})
      .line_to({foot + 0.2 * t, lift})
      .curve_to({0.85 * d.radius, 1.2 * lift}, {d.radius, 0.5 * d.height}, {d.radius, d.height - lip})
      .arc({d.radius - lip, d.height - lip}, kPi)
      .curve_to({d.radius - t, 0.52 * d.height}, {0.83 * d.radius - t, 1.4 * lift + t},
                {foot - 0.5 * t, lift + t})
      .line_to({0, lift + t});
  return outline.points();
}

std::vector<Vec2> profile_of(const CupDesc& d)
{
  require_positive(d.thickness, "thickness of the cup");
  require_positive(std::min(d.radius, d.foot_radius) - 3 * d.thickness,
                   "radius of the cup minus three times its thickness");
  require_positive(d.height - 5 * d.thickness, "height of the cup minus five times its thickness");
  const double t = d.thickness;
  const double lip = t / 2;
  const double lift = 0.5 * t;
  const double bend = 1.5 * t;  // rounding of the lower edge
  ProfileDrawing outline({0, lift});
  outline.line_to({d.foot_radius - 2 * t - bend, lift})
      .line_to({d.foot_radius - 1.7 * t - bend, 0})
      .line_to({d.foot_radius - bend, 0})
      .curve_to({d.foot_radius - 0.4 * bend, 0}, {d.foot_radius, 0.4 * bend}, {d.foot_radius, bend})
      .line_to({d.radius, d.height - lip})
      .arc({d.radius - lip, d.height - lip}, kPi)
      .line_to({d.foot_radius - t, lift + t + bend})
      .curve_to({d.foot_radius - t, lift + t + 0.4 * bend}, {d.foot_radius - t - 0.4 * bend, lift + t},
                {d.foot_radius - t - bend, lift + t})
      .line_to({0, lift + t});
  return outline.points();
}

std::vector<Vec2> profile_of(const PotDesc& d)
{
  require_positive(d.thickness, "thickness of the pot");
  require_positive(d.radius - 8 * d.thickness, "radius of the pot minus eight times its thickness");
  require_positive(d.height - 12 * d.thickness, "height of the pot minus twelve times its thickness");
  const double t = d.thickness;
  const double bend = 5 * t;
  const double flare = 1.6 * t;
  ProfileDrawing outline({0, 0});
  outline.line_to({d.radius - bend, 0})
      .arc({d.radius - bend, bend}, kPi / 2)
      .line_to({d.radius, d.height - 3 * t})
      .curve_to({d.radius, d.height - 1.8 * t}, {d.radius + 0.6 * flare, d.height - t},
                {d.radius + flare, d.height - t})
      .arc({d.radius + flare, d.height - t / 2}, kPi)
      .curve_to({d.radius - 0.1 * flare, d.height}, {d.radius - t, d.height - 1.5 * t},
                {d.radius - t, d.height - 3 * t})
      .line_to({d.radius - t, bend})
      .arc({d.radius - bend, bend}, -kPi / 2)
      .line_to({0, t});
  // The inner arc has the radius bend - t and so ends on the floor at height t.
  return outline.points();
}

std::vector<Vec2> profile_of(const BottleDesc& d)
{
  require_positive(d.thickness, "thickness of the bottle");
  require_positive(d.neck_radius - 1.5 * d.thickness,
                   "radius of the bottle's neck minus 1.5 times its thickness");
  require_positive(d.radius - 1.5 * d.neck_radius, "radius of the bottle minus 1.5 times that of its neck");
  require_positive(d.height - 5 * d.radius, "height of the bottle minus five times its radius");
  const double t = d.thickness;
  const double punt = 0.35 * d.radius;  // height of the hollow under the base
  const double bend = 1.2 * t;
  const double shoulder = 0.62 * d.height;
  const double neck = 0.75 * d.height;
  const double ring = 0.06 * d.height;  // thicker part at the mouth
  const double rn = d.neck_radius;
  ProfileDrawing outline({0, punt});
  outline.curve_to({0.4 * d.radius, punt}, {0.6 * d.radius, 0}, {d.radius - 2 * bend, 0})
      .line_to({d.radius - bend, 0})
      .arc({d.radius - bend, bend}, kPi / 2)
      .line_to({d.radius, shoulder})
      .curve_to({d.radius, 0.69 * d.height}, {rn, 0.66 * d.height}, {rn, neck})
      .line_to({rn, d.height - ring})
      .line_to({rn + 0.4 * t, d.height - ring})
      .line_to({rn + 0.4 * t, d.height - 0.3 * t})
      .line_to({rn + 0.1 * t, d.height})
      .line_to({rn - 0.8 * t, d.height})
      .line_to({rn - t, d.height - 0.2 * t})
      .line_to({rn - t, neck})
      .curve_to({rn - t, 0.655 * d.height}, {d.radius - t, 0.685 * d.height},
                {d.radius - t, shoulder - 0.3 * t})
      .line_to({d.radius - t, t + bend})
      .curve_to({d.radius - t, t + 0.4 * bend}, {d.radius - t - 0.4 * bend, 1.2 * t},
                {d.radius - t - bend, 1.2 * t})
      .curve_to({0.6 * d.radius, 1.2 * t}, {0.4 * d.radius, punt + t}, {0, punt + t});
  return outline.points();
}

std::vector<Vec2> profile_of(const CandlestickDesc& d)
{
  require_positive(d.base_radius, "base radius of the candlestick");
  require_positive(d.socket_radius, "socket radius of the candlestick");
  require_positive(d.base_radius - 3 * d.socket_radius,
                   "base radius of the candlestick minus three times its socket radius");
  require_positive(d.height - 3 * d.base_radius,
                   "height of the candlestick minus three times its base radius");
  const double R = d.base_radius;
  const double h = d.height;
  const double s = d.socket_radius;
  const double stem = 0.16 * R;
  const double dish = 2.2 * s;  // the drip dish under the socket
  ProfileDrawing outline({0, 0});
  outline.line_to({R, 0})
      .line_to({R, 0.03 * h})
      .curve_to({0.9 * R, 0.09 * h}, {0.35 * R, 0.05 * h}, {stem + 0.08 * R, 0.16 * h})
      // Two knops on the stem.
      .curve_to({stem + 0.3 * R, 0.19 * h}, {stem + 0.3 * R, 0.25 * h}, {stem, 0.28 * h})
      .curve_to({stem + 0.02 * R, 0.4 * h}, {stem + 0.12 * R, 0.5 * h}, {stem + 0.06 * R, 0.62 * h})
      .curve_to({stem + 0.26 * R, 0.64 * h}, {stem + 0.26 * R, 0.7 * h}, {stem + 0.04 * R, 0.72 * h})
      .curve_to({stem + 0.04 * R, 0.77 * h}, {dish, 0.76 * h}, {dish, 0.79 * h})
      .line_to({dish, 0.805 * h})
      .line_to({1.35 * s, 0.815 * h})
      .line_to({1.35 * s, h})
      .line_to({s, h})
      .line_to({s, 0.87 * h})
      .line_to({0, 0.87 * h});
  return outline.points();
}

mesh::TriangleMesh generate(const PlateDesc& desc)
{
  return turned(profile_of(desc), desc.edge_length);
}

mesh::TriangleMesh generate(const BowlDesc& desc)
{
  return turned(profile_of(desc), desc.edge_length);
}

mesh::TriangleMesh generate(const CupDesc& desc)
{
  return turned(profile_of(desc), desc.edge_length);
}

mesh::TriangleMesh generate(const PotDesc& desc)
{
  return turned(profile_of(desc), desc.edge_length);
}

mesh::TriangleMesh generate(const BottleDesc& desc)
{
  return turned(profile_of(desc), desc.edge_length);
}

mesh::TriangleMesh generate(const CandlestickDesc& desc)
{
  return turned(profile_of(desc), desc.edge_length);
}

mesh::TriangleMesh generate(const MugDesc& desc)
{
  require_positive(desc.handle_radius, "radius of the mug's handle");
  require_positive(desc.handle_reach - 2 * desc.handle_radius,
                   "reach of the mug's handle minus its thickness");
  const mesh::TriangleMesh cup = generate(desc.cup);
  TubeDesc tube;
  tube.path = handle_path(desc.cup, desc.handle_reach, desc.handle_radius);
  tube.radius = desc.handle_radius;
  tube.segments = 16;
  // The part of the handle inside the cup is cut off along the inner wall.
  const auto inner = [&](double z) {
    return wall_radius(desc.cup, z) - 0.5 * desc.cup.thickness;
  };
  const double above = 2 * desc.cup.height;
  const mesh::TriangleMesh core = generate(LatheDesc{
      {{0, -desc.cup.height}, {inner(-desc.cup.height), -desc.cup.height}, {inner(above), above}, {0, above}},
      0,
      64});
  mesh::TriangleMesh joined = boolean_union(cup, boolean_difference(generate(tube), core));
  if (desc.cup.edge_length <= 0) return joined;
  mesh::RemeshDesc even;
  even.edge_length = desc.cup.edge_length;
  return mesh::remesh(joined, even);
}

}  // namespace thrum::shapes
