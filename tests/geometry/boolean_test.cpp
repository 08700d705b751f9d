// SPDX-License-Identifier: MIT
#include "thrum/geometry/boolean.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/geometry/drawing.h"
#include "tests/geometry/mesh_checks.h"
#include "thrum/base/error.h"
#include "thrum/geometry/shapes.h"

namespace thrum::geometry {
namespace {

using test::component_count;
using test::euler_number;
using test::is_closed_manifold;
using test::real;
using test::whole;
using test::winding_number;

TriangleMesh box_between(const Vec3& low, const Vec3& high)
{
  TriangleMesh mesh = generate(BoxDesc{high - low});
  transform(mesh, {(low + high) / 2, Quat::Identity()});
  return mesh;
}

TriangleMesh any_shape()
{
  switch (whole(0, 5)) {
    case 0:
      return generate(BoxDesc{Vec3(1, 1, 1), 0, whole(0, 2) * 0.5});
    case 1:
      return generate(CylinderDesc{0.5, 1, 0, whole(3, 16)});
    case 2:
      return generate(TorusDesc{0.5, 0.2, 0, whole(5, 14), whole(3, 8)});
    case 3:
      return generate(SphereDesc{0.6, 0.4});
    default:
      return generate(ConeDesc{0.6, 0.1, 1, 0, whole(3, 12)});
  }
}

Quat any_rotation()
{
  const Vec3 axis(real(-1, 1), real(-1, 1), real(0.1, 1));
  return Quat(Eigen::AngleAxisd(real(-3, 3), axis.normalized()));
}

// Volumes add up, everything is closed and outward, and random points agree with the logic of the operation.
void check_all_operations(const TriangleMesh& a, const TriangleMesh& b)
{
  const TriangleMesh both = boolean_union(a, b);
  const TriangleMesh common = boolean_intersection(a, b);
  const TriangleMesh rest = boolean_difference(a, b);
  RC_ASSERT(is_closed_manifold(both));
  RC_ASSERT(is_closed_manifold(common));
  RC_ASSERT(is_closed_manifold(rest));
  const double va = signed_volume(a);
  const double vb = signed_volume(b);
  const double small = 1e-7 * (va + vb);
  RC_ASSERT(std::abs(signed_volume(both) + signed_volume(common) - va - vb) < small);
  RC_ASSERT(std::abs(signed_volume(rest) + signed_volume(common) - va) < small);
  RC_ASSERT(signed_volume(common) > -small);
  RC_ASSERT(signed_volume(both) > std::max(va, vb) - small);
  for (int i = 0; i < 8; ++i) {
    const Vec3 p(real(-1, 1), real(-1, 1), real(-1, 1));
    const double wa = winding_number(a, p);
    const double wb = winding_number(b, p);
    // A point nearly on a surface has no clear answer.
    const bool clear = std::abs(wa - std::round(wa)) < 1e-6 && std::abs(wb - std::round(wb)) < 1e-6;
    if (!clear) continue;
    const bool in_a = wa > 0.5;
    const bool in_b = wb > 0.5;
    RC_ASSERT(std::abs(winding_number(both, p) - (in_a || in_b ? 1 : 0)) < 1e-4);
    RC_ASSERT(std::abs(winding_number(common, p) - (in_a && in_b ? 1 : 0)) < 1e-4);
    RC_ASSERT(std::abs(winding_number(rest, p) - (in_a && !in_b ? 1 : 0)) < 1e-4);
  }
}

RC_GTEST_PROP(Boolean, OfShapesInAnyPoseIsClosedAndAddsUp, ())
{
  const TriangleMesh a = any_shape();
  TriangleMesh b = any_shape();
  transform(b, {Vec3(real(-0.7, 0.7), real(-0.7, 0.7), real(-0.7, 0.7)), any_rotation()});
  check_all_operations(a, b);
}

RC_GTEST_PROP(Boolean, OfBoxesOnACoarseGridIsClosedAndAddsUp, ())
{
  // Corners on multiples of 0.25: faces, edges and corners coincide more often than not.
  const auto any_box = [] {
    Vec3 low;
    Vec3 high;
    for (int k = 0; k < 3; ++k) {
      low[k] = 0.25 * whole(-3, 2);
      high[k] = low[k] + 0.25 * whole(1, 5);
    }
    return box_between(low, high);
  };
  const TriangleMesh a = any_box();
  const TriangleMesh b = any_box();
  check_all_operations(a, b);
  // A third flush part on top of a result: what is on the grid stays on it.
  check_all_operations(boolean_union(a, b), any_box());
}

RC_GTEST_PROP(Boolean, OfRoundShapesStackedFlushIsClosedAndAddsUp, ())
{
  // Same axis, caps in one plane, rings of different counts or the same: coplanar circles of triangles.
  const TriangleMesh a = *rc::gen::arbitrary<bool>() ? generate(CylinderDesc{0.5, 0.5, 0.35})
                                                     : generate(CylinderDesc{0.5, 0.5, 0, 12});
  TriangleMesh b = generate(CylinderDesc{0.25 * whole(1, 4), 0.5, 0, whole(3, 20)});
  transform(b, {Vec3(0.25 * whole(-1, 2), 0, 0.25 * whole(-2, 3)), Quat::Identity()});
  check_all_operations(a, b);
}

RC_GTEST_PROP(Boolean, OfAShapeWithItselfIsItself, ())
{
  TriangleMesh a = any_shape();
  transform(a, {Vec3(0.1, 0.2, 0.3), any_rotation()});
  const double small = 1e-7 * signed_volume(a);
  RC_ASSERT(std::abs(signed_volume(boolean_union(a, a)) - signed_volume(a)) < small);
  RC_ASSERT(std::abs(signed_volume(boolean_intersection(a, a)) - signed_volume(a)) < small);
  RC_ASSERT(boolean_difference(a, a).triangles.empty());
}

TEST(Boolean, OfBoxesSideBySideIsOneBody)
{
  const TriangleMesh both =
      boolean_union(box_between({0, 0, 0}, {1, 1, 1}), box_between({1, 0, 0}, {2, 1, 1}));
  EXPECT_TRUE(is_closed_manifold(both));
  EXPECT_EQ(component_count(both), 1);
  EXPECT_EQ(euler_number(both), 2);
  EXPECT_DOUBLE_EQ(signed_volume(both), 2);
}

TEST(Boolean, OfBoxesThatTouchInAnEdgeOrACornerStaysManifold)
{
  const TriangleMesh first = box_between({0, 0, 0}, {1, 1, 1});
  for (const TriangleMesh& second : {box_between({1, 1, 0}, {2, 2, 1}), box_between({1, 1, 1}, {2, 2, 2})}) {
    const TriangleMesh both = boolean_union(first, second);
    EXPECT_TRUE(is_closed_manifold(both));
    EXPECT_EQ(component_count(both), 2);
    EXPECT_DOUBLE_EQ(signed_volume(both), 2);
    EXPECT_TRUE(boolean_intersection(first, second).triangles.empty());
  }
}

TEST(Boolean, DrillsACavityAndAHole)
{
  const TriangleMesh block = box_between({-1, -1, -1}, {1, 1, 1});
  const TriangleMesh hollow = boolean_difference(block, box_between({-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}));
  EXPECT_DOUBLE_EQ(signed_volume(hollow), 7);
  EXPECT_EQ(component_count(hollow), 2);
  const TriangleMesh drilled = boolean_difference(block, box_between({-0.5, -0.5, -2}, {0.5, 0.5, 2}));
  EXPECT_DOUBLE_EQ(signed_volume(drilled), 6);
  EXPECT_EQ(euler_number(drilled), 0);
  EXPECT_TRUE(is_closed_manifold(drilled));
  // A body inside the cavity touches nothing and stays its own component.
  const TriangleMesh filled = boolean_union(hollow, box_between({-0.25, -0.25, -0.25}, {0.25, 0.25, 0.25}));
  EXPECT_DOUBLE_EQ(signed_volume(filled), 7.125);
  EXPECT_EQ(component_count(filled), 3);
}

TEST(Boolean, OfManyPartsIsDoneInOnePass)
{
  // A frame of twelve flush bars about a cube: genus 5.
  std::vector<TriangleMesh> bars;
  for (const double u : {0.0, 3.0}) {
    for (const double v : {0.0, 3.0}) {
      bars.push_back(box_between({0, u, v}, {4, u + 1, v + 1}));
      bars.push_back(box_between({u, 0, v}, {u + 1, 4, v + 1}));
      bars.push_back(box_between({u, v, 0}, {u + 1, v + 1, 4}));
    }
  }
  const TriangleMesh frame = boolean_union(bars);
  EXPECT_TRUE(is_closed_manifold(frame));
  EXPECT_EQ(component_count(frame), 1);
  EXPECT_EQ(euler_number(frame), 2 - 2 * 5);
  EXPECT_NEAR(signed_volume(frame), 8 + 12 * 2, 1e-7);
}

TEST(Boolean, RefusesAnOpenMesh)
{
  TriangleMesh open = box_between({0, 0, 0}, {1, 1, 1});
  open.triangles.pop_back();
  EXPECT_THROW(static_cast<void>(boolean_union(open, box_between({0, 0, 0}, {2, 2, 2}))), Error);
}

}  // namespace
}  // namespace thrum::geometry
