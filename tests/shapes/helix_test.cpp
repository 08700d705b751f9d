// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/support/drawing.h"
#include "tests/support/mesh_checks.h"
#include "thrum/base/error.h"
#include "thrum/mesh/self_intersections.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {
namespace {

using support::edge_lengths;
using support::euler_number;
using support::is_closed_manifold;
using support::real;
using support::whole;

constexpr double kPi = std::numbers::pi;

double outline_area(const std::vector<Vec2>& outline)
{
  double twice = 0;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Vec2& a = outline[i];
    const Vec2& b = outline[(i + 1) % outline.size()];
    twice += a.x() * b.y() - a.y() * b.x();
  }
  return twice / 2;
}

// Of the outline, from its origin [m].
double centroid_x(const std::vector<Vec2>& outline)
{
  double sum = 0;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Vec2& a = outline[i];
    const Vec2& b = outline[(i + 1) % outline.size()];
    sum += (a.x() + b.x()) * (a.x() * b.y() - a.y() * b.x());
  }
  return sum / (6 * outline_area(outline));
}

/// A gutter: half of a ring, open at the top, its outer wall higher than its inner one.
std::vector<Vec2> gutter(double inner, double wall, int pieces)
{
  std::vector<Vec2> outline;
  const auto add = [&](double radius, int i) {
    const double angle = (-60 + 160.0 * i / pieces) * kPi / 180;  // from straight down, outwards
    outline.emplace_back(radius * std::sin(angle), -radius * std::cos(angle));
  };
  for (int i = 0; i <= pieces; ++i) add(inner + wall, i);
  for (int i = pieces; i >= 0; --i) add(inner, i);
  return outline;
}

// Without a pitch every layer is planar: it has the area of the outline times r_c sin d, r_c the radius of
// the centroid and d the angle of the layer.
TEST(Helix, WithoutAPitchHasTheVolumeOfItsLayers)
{
  HelixDesc desc;
  desc.outline = gutter(0.014, 0.003, 12);
  desc.radius = 0.2;
  desc.pitch = 0;
  desc.turns = 0.5;
  for (const int segments : {16, 48, 90}) {
    desc.segments = segments;
    const mesh::TriangleMesh mesh = generate(desc);
    const double layer =
        outline_area(desc.outline) * (desc.radius + centroid_x(desc.outline)) * std::sin(2 * kPi / segments);
    EXPECT_NEAR(mesh::signed_volume(mesh), layer * segments / 2, 1e-12 * layer) << segments;
    EXPECT_TRUE(is_closed_manifold(mesh));
  }
}

// A shear along the axis keeps the volume, so that Pappus' holds for any pitch; what chords miss falls with
// the square of their length.
TEST(Helix, HasTheVolumeOfPappusWhateverThePitch)
{
  for (const double pitch : {-0.1, 0.0, 0.1, 0.4}) {
    HelixDesc desc;
    desc.outline = gutter(0.014, 0.003, 12);
    desc.radius = 0.2;
    desc.pitch = pitch;
    desc.turns = 2.5;
    const double volume =
        outline_area(desc.outline) * (desc.radius + centroid_x(desc.outline)) * 2 * kPi * desc.turns;
    const auto missing = [&](int segments) {
      desc.segments = segments;
      return 1 - mesh::signed_volume(generate(desc)) / volume;
    };
    const bool meets_itself = pitch == 0;
    if (meets_itself) {
      EXPECT_THROW(missing(60), Error);
      continue;
    }
    EXPECT_NEAR(missing(60) / missing(120), 4, 0.1) << pitch;
    EXPECT_LT(std::abs(missing(120)), 1e-3) << pitch;
  }
}

// One turn on, every vertex of the wall is the same, higher by the pitch.
TEST(Helix, RisesByThePitchInATurn)
{
  for (const double pitch : {0.06, -0.06}) {
    HelixDesc desc;
    desc.outline = gutter(0.014, 0.003, 8);
    desc.radius = 0.1;
    desc.pitch = pitch;
    desc.turns = 2;
    desc.segments = 36;
    const mesh::TriangleMesh mesh = generate(desc);
    const std::size_t turn = 36 * desc.outline.size();
    ASSERT_EQ(mesh.vertices.size(), 2 * turn + desc.outline.size());
    for (std::size_t i = 0; i + turn < mesh.vertices.size(); ++i)
      ASSERT_NEAR((mesh.vertices[i + turn] - mesh.vertices[i] - pitch * Vec3::UnitZ()).norm(), 0, 1e-14);
    // A quarter of a turn on it stands across y, counter-clockwise from the beginning on x.
    EXPECT_NEAR((mesh.vertices[0] - Vec3(0.1 + desc.outline[0].x(), 0, desc.outline[0].y())).norm(), 0,
                1e-15);
    const Vec3 quarter = mesh.vertices[9 * desc.outline.size()];
    EXPECT_NEAR((quarter - Vec3(0, 0.1 + desc.outline[0].x(), desc.outline[0].y() + pitch / 4)).norm(), 0,
                1e-15);
  }
}

RC_GTEST_PROP(Helix, IsClosedAndKeepsApartFromItself, ())
{
  HelixDesc desc;
  desc.outline = gutter(real(0.01, 0.02), real(0.001, 0.004), whole(3, 12));
  desc.radius = real(0.06, 0.3);
  desc.turns = real(0.1, 2.5);
  desc.pitch = (*rc::gen::arbitrary<bool>() ? 1 : -1) * real(0.06, 0.2);
  desc.edge_length = *rc::gen::arbitrary<bool>() ? real(0.005, 0.02) : 0;
  const mesh::TriangleMesh mesh = generate(desc);
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(euler_number(mesh) == 2);
  RC_ASSERT(mesh::signed_volume(mesh) > 0);
  RC_ASSERT(mesh::self_intersections(mesh).empty());
  if (desc.edge_length > 0) RC_ASSERT(edge_lengths(mesh).max < 2.2 * desc.edge_length);
}

TEST(Helix, RejectsWhatIsNoHelix)
{
  const auto rejects = [](HelixDesc desc) {
    EXPECT_THROW(static_cast<void>(generate(desc)), Error);
  };
  rejects({.radius = 0});
  rejects({.turns = 0});
  rejects({.turns = -1});
  rejects({.radius = 0.01});  // its outline reaches the axis
  rejects({.pitch = std::numeric_limits<double>::infinity()});
  rejects({.pitch = 0.01, .turns = 1.5});  // it would meet itself
  rejects({.segments = 3});
  rejects({.edge_length = 1e-9});
  rejects({.outline = {{0, 0}, {1, 1}}, .radius = 2});
  EXPECT_NO_THROW(static_cast<void>(generate(HelixDesc{.pitch = 0.01, .turns = 0.9})));
}

}  // namespace
}  // namespace thrum::shapes
