// SPDX-License-Identifier: MIT
#include "thrum/shapes/shapes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/drawing.h"
#include "tests/support/mesh_checks.h"
#include "thrum/base/error.h"

namespace thrum::shapes {
namespace {

using support::edge_lengths;
using support::euler_number;
using support::is_closed_manifold;
using support::min_angle;
using support::real;
using support::whole;

constexpr double kPi = std::numbers::pi;
constexpr double kDegree = kPi / 180;

double ngon_area(int n, double radius)
{
  return n / 2.0 * radius * radius * std::sin(2 * kPi / n);
}

TEST(Box, WithoutAnEdgeLengthHasTwelveTriangles)
{
  const mesh::TriangleMesh mesh = generate(BoxDesc{Vec3(1, 2, 3)});
  EXPECT_EQ(mesh.triangles.size(), 12u);
  EXPECT_EQ(mesh.vertices.size(), 8u);
  EXPECT_DOUBLE_EQ(mesh::signed_volume(mesh), 6);
}

RC_GTEST_PROP(Box, IsClosedWithTheRequestedEdges, ())
{
  const Vec3 size(real(0.2, 2), real(0.2, 2), real(0.2, 2));
  const double edge = real(0.08, 0.2);
  const mesh::TriangleMesh mesh = generate(BoxDesc{size, 0, edge});
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(euler_number(mesh) == 2);
  RC_ASSERT(std::abs(mesh::signed_volume(mesh) - size.prod()) < 1e-12 * size.prod());
  RC_ASSERT(edge_lengths(mesh).min > 0.66 * edge);
  RC_ASSERT(edge_lengths(mesh).max < 1.51 * std::sqrt(2.0) * edge);
}

RC_GTEST_PROP(Box, RoundedApproachesTheSteinerFormula, ())
{
  // Core box grown by r: V = abc + 2 r (ab + bc + ca) + pi r^2 (a + b + c) + 4/3 pi r^3.
  const Vec3 c(real(0, 1), real(0, 1), real(0, 1));
  const double r = real(0.1, 0.4);
  const mesh::TriangleMesh mesh = generate(BoxDesc{c + Vec3::Constant(2 * r), r, r / 10});
  const double volume = c.prod() + 2 * r * (c.x() * c.y() + c.y() * c.z() + c.z() * c.x()) +
                        kPi * r * r * c.sum() + 4.0 / 3 * kPi * r * r * r;
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(mesh::signed_volume(mesh) < volume);
  RC_ASSERT(mesh::signed_volume(mesh) > 0.99 * volume);
}

RC_GTEST_PROP(Sphere, IsEvenAndOnTheSphere, ())
{
  const double radius = real(0.05, 5);
  const double edge = radius * real(0.05, 0.5);
  const auto grid = *rc::gen::arbitrary<bool>() ? SphereGrid::cube : SphereGrid::icosahedron;
  const mesh::TriangleMesh mesh = generate(SphereDesc{radius, edge, grid});
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(euler_number(mesh) == 2);
  for (const Vec3& v : mesh.vertices) RC_ASSERT(std::abs(v.norm() - radius) < 1e-12 * radius);
  const double volume = 4.0 / 3 * kPi * radius * radius * radius;
  RC_ASSERT(mesh::signed_volume(mesh) < volume);
  RC_ASSERT(mesh::signed_volume(mesh) > volume * (1 - 1.0 * edge * edge / (radius * radius)));
  if (grid == SphereGrid::icosahedron) {
    RC_ASSERT(min_angle(mesh) > 48 * kDegree);
    RC_ASSERT(edge_lengths(mesh).min > 0.6 * edge);
    RC_ASSERT(edge_lengths(mesh).max < 1.45 * edge);
  }
}

RC_GTEST_PROP(Lathe, OfAnyRingHasPappusVolume, ())
{
  // Every level is a regular n-gon, so V = (n/2) sin(2 pi/n) * integral of r^2 over the outline, exactly.
  const int n = whole(3, 40);
  const double r = real(0.2, 1);
  const double width = real(0.1, 0.5);
  const double height = real(0.1, 0.5);
  const mesh::TriangleMesh mesh =
      generate(LatheDesc{{{r, 0}, {r, height}, {r + width, height}, {r + width, 0}}, 0, n});
  const double volume = ngon_area(n, 1) * height * ((r + width) * (r + width) - r * r);
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(euler_number(mesh) == 0);
  RC_ASSERT(std::abs(mesh::signed_volume(mesh) - volume) < 1e-12 * volume);
}

RC_GTEST_PROP(Cone, BySegmentsHasTheFrustumVolume, ())
{
  const int n = whole(3, 40);
  const double a = real(0, 1);
  const double b = real(0.1, 1);
  const double h = real(0.1, 2);
  const mesh::TriangleMesh mesh = generate(ConeDesc{a, b, h, 0, n});
  RC_ASSERT(is_closed_manifold(mesh));
  const double volume = ngon_area(n, 1) * h * (a * a + a * b + b * b) / 3;
  RC_ASSERT(std::abs(mesh::signed_volume(mesh) - volume) < 1e-12 * volume);
}

RC_GTEST_PROP(Cylinder, ByEdgeLengthIsClosedAndEven, ())
{
  const double radius = real(0.1, 1);
  const double height = real(0.1, 1);
  const double edge = real(0.04, 0.1);
  const mesh::TriangleMesh mesh = generate(CylinderDesc{radius, height, edge});
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(euler_number(mesh) == 2);
  const double volume = kPi * radius * radius * height;
  RC_ASSERT(std::abs(mesh::signed_volume(mesh) - volume) < 0.8 * edge * edge / (radius * radius) * volume);
  RC_ASSERT(edge_lengths(mesh).max < 1.9 * edge);
  RC_ASSERT(edge_lengths(mesh).min > 0.45 * edge);
  RC_ASSERT(min_angle(mesh) > 20 * kDegree);
}

RC_GTEST_PROP(Capsule, IsClosedWithTheVolumeOfItsParts, ())
{
  const double radius = real(0.1, 1);
  const double height = real(0, 1);
  const double edge = radius * real(0.05, 0.3);
  const mesh::TriangleMesh mesh = generate(CapsuleDesc{radius, height, edge});
  const double volume = kPi * radius * radius * (height + 4.0 / 3 * radius);
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(euler_number(mesh) == 2);
  RC_ASSERT(mesh::signed_volume(mesh) < volume);
  RC_ASSERT(mesh::signed_volume(mesh) > volume * (1 - edge * edge / (radius * radius)));
}

TEST(Torus, BySegmentsHasTheCountAndVolumeOfItsPolygons)
{
  const mesh::TriangleMesh mesh = generate(TorusDesc{0.5, 0.15, 0, 25, 10});
  EXPECT_EQ(mesh.triangles.size(), 500u);
  EXPECT_TRUE(is_closed_manifold(mesh));
  EXPECT_EQ(euler_number(mesh), 0);
  // Integral of r^2 over a regular polygon about R: 2 R times its area (its centroid is at R).
  const double volume = ngon_area(25, 1) * 2 * 0.5 * ngon_area(10, 0.15);
  EXPECT_NEAR(mesh::signed_volume(mesh), volume, 1e-12);
}

RC_GTEST_PROP(Torus, ByEdgeLengthIsEven, ())
{
  const double minor = real(0.1, 0.3);
  const double major = minor * real(1.3, 4);
  const double edge = minor * real(0.1, 0.4);
  const mesh::TriangleMesh mesh = generate(TorusDesc{major, minor, edge});
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(euler_number(mesh) == 0);
  const double volume = 2 * kPi * kPi * major * minor * minor;
  RC_ASSERT(std::abs(mesh::signed_volume(mesh) - volume) < volume * edge * edge / (minor * minor));
  RC_ASSERT(min_angle(mesh) > 20 * kDegree);
}

TEST(Lathe, RejectsProfilesThatAreNotSolids)
{
  EXPECT_THROW(static_cast<void>(generate(LatheDesc{{{0, 0}, {1, 0}}, 0, 8})), Error);
  EXPECT_THROW(static_cast<void>(generate(LatheDesc{{{-1, 0}, {1, 0}, {1, 1}}, 0, 8})), Error);
  EXPECT_THROW(static_cast<void>(generate(LatheDesc{{{1, 0}, {2, 1}, {2, 0}, {1, 1}}, 0, 8})), Error);
  EXPECT_THROW(static_cast<void>(generate(LatheDesc{{{0, 0}, {1, 0}, {0, 0.5}, {1, 1}, {0, 1}}, 0, 8})),
               Error);
  EXPECT_THROW(static_cast<void>(generate(SphereDesc{0})), Error);
  EXPECT_THROW(static_cast<void>(generate(BoxDesc{Vec3(1, 1, 1), 0, 1e-9})), Error);
}

TEST(Extrusion, OfAConcaveOutlineWithHolesHasItsVolumeAndGenus)
{
  // A comb with three teeth and two holes in its back, given clockwise.
  ExtrusionDesc desc;
  desc.outline = {{0, 0}, {0, 3}, {1, 3}, {1, 1}, {2, 1}, {2, 3},
                  {3, 3}, {3, 1}, {4, 1}, {4, 3}, {5, 3}, {5, 0}};
  desc.holes = {{{0.5, 0.25}, {0.5, 0.75}, {1.5, 0.75}, {1.5, 0.25}}, {{3, 0.25}, {4, 0.25}, {3.5, 0.75}}};
  desc.height = 0.5;
  const double base = 15 - 4 - 0.5 - 0.25;
  for (const double edge : {0.0, 0.2}) {
    desc.edge_length = edge;
    const mesh::TriangleMesh mesh = generate(desc);
    EXPECT_TRUE(is_closed_manifold(mesh));
    EXPECT_EQ(euler_number(mesh), 2 - 2 * 2);
    EXPECT_NEAR(mesh::signed_volume(mesh), base * 0.5, 1e-12);
    if (edge > 0) {
      EXPECT_LT(edge_lengths(mesh).max, 2 * edge);
    }
  }
}

RC_GTEST_PROP(Extrusion, OfAnyStarHasTheAreaOfItsOutline, ())
{
  const int n = whole(3, 40);
  ExtrusionDesc desc;
  desc.outline.clear();
  double twice = 0;
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * kPi * i / n;
    desc.outline.push_back(real(0.1, 1) * Vec2(std::cos(angle), std::sin(angle)));
  }
  for (int i = 0; i < n; ++i) {
    const Vec2& a = desc.outline[static_cast<std::size_t>(i)];
    const Vec2& b = desc.outline[static_cast<std::size_t>((i + 1) % n)];
    twice += a.x() * b.y() - a.y() * b.x();
  }
  desc.height = 2;
  const mesh::TriangleMesh mesh = generate(desc);
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(std::abs(mesh::signed_volume(mesh) - twice) < 1e-12);
}

TEST(Extrusion, RejectsAnOutlineThatCrossesItself)
{
  ExtrusionDesc desc;
  desc.outline = {{0, 0}, {1, 1}, {1, 0}, {0, 1}};
  EXPECT_THROW(static_cast<void>(generate(desc)), Error);
}

RC_GTEST_PROP(Tube, MitredHasSectionTimesLength, ())
{
  TubeDesc desc;
  desc.path = {Vec3::Zero()};
  double length = 0;
  Vec3 direction(0, 0, 1);
  for (int i = 0; i < 6; ++i) {
    const Vec3 turned = direction + Vec3(real(-0.8, 0.8), real(-0.8, 0.8), real(-0.3, 0.3));
    direction = turned.normalized();
    const double step = real(0.3, 0.6);
    desc.path.push_back(desc.path.back() + step * direction);
    length += step;
  }
  desc.radius = 0.05;
  desc.inner_radius = *rc::gen::arbitrary<bool>() ? 0.03 : 0;
  desc.segments = whole(3, 20);
  const mesh::TriangleMesh mesh = generate(desc);
  const double section = ngon_area(desc.segments, 0.05) - ngon_area(desc.segments, desc.inner_radius);
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(euler_number(mesh) == (desc.inner_radius > 0 ? 0 : 2));
  RC_ASSERT(std::abs(mesh::signed_volume(mesh) - section * length) < 1e-10 * section * length);
}

TEST(Tube, ClosedInSpaceIsContinuous)
{
  // A trefoil knot: its transported frame does not return to itself.
  TubeDesc desc;
  desc.path.clear();
  desc.closed = true;
  for (int i = 0; i < 120; ++i) {
    const double t = 2 * kPi * i / 120;
    desc.path.emplace_back(std::sin(t) + 2 * std::sin(2 * t), std::cos(t) - 2 * std::cos(2 * t),
                           -std::sin(3 * t));
  }
  desc.radius = 0.3;
  for (const double inner : {0.0, 0.2}) {
    desc.inner_radius = inner;
    const mesh::TriangleMesh mesh = generate(desc);
    EXPECT_TRUE(is_closed_manifold(mesh));
    EXPECT_EQ(euler_number(mesh), 0);
    double length = 0;
    for (std::size_t i = 0; i < 120; ++i) length += (desc.path[(i + 1) % 120] - desc.path[i]).norm();
    const double volume = (ngon_area(24, 0.3) - ngon_area(24, inner)) * length;
    EXPECT_NEAR(mesh::signed_volume(mesh), volume, 0.003 * volume);
  }
}

RC_GTEST_PROP(HeightField, HasTheVolumeUnderItsTriangles, ())
{
  HeightFieldDesc desc;
  desc.columns = whole(2, 9);
  desc.rows = whole(2, 9);
  desc.spacing = real(0.1, 1);
  desc.bottom = -1;
  desc.heights.clear();
  for (int i = 0; i < desc.columns * desc.rows; ++i) desc.heights.push_back(real(-0.9, 1));
  const mesh::TriangleMesh mesh = generate(desc);
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(euler_number(mesh) == 2);
  // Between the volumes below the lower and the upper of the two triangulations of each cell.
  double low = 0;
  double high = 0;
  const auto height = [&](int i, int j) {
    return desc.heights[static_cast<std::size_t>(j * desc.columns + i)] + 1;
  };
  for (int j = 0; j + 1 < desc.rows; ++j) {
    for (int i = 0; i + 1 < desc.columns; ++i) {
      const double sum = height(i, j) + height(i + 1, j) + height(i, j + 1) + height(i + 1, j + 1);
      const double one = sum + height(i, j) + height(i + 1, j + 1);
      const double other = sum + height(i + 1, j) + height(i, j + 1);
      low += desc.spacing * desc.spacing / 6 * std::min(one, other);
      high += desc.spacing * desc.spacing / 6 * std::max(one, other);
    }
  }
  RC_ASSERT(mesh::signed_volume(mesh) > low - 1e-12);
  RC_ASSERT(mesh::signed_volume(mesh) < high + 1e-12);
}

}  // namespace
}  // namespace thrum::shapes
