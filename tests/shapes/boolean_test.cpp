// SPDX-License-Identifier: MIT
#include "thrum/shapes/boolean.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/drawing.h"
#include "tests/support/mesh_checks.h"
#include "thrum/base/error.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {
namespace {

using support::component_count;
using support::euler_number;
using support::is_closed_manifold;
using support::real;
using support::whole;
using support::winding_number;

mesh::TriangleMesh box_between(const Vec3& low, const Vec3& high)
{
  mesh::TriangleMesh mesh = generate(BoxDesc{high - low});
  transform(mesh, {(low + high) / 2, Quat::Identity()});
  return mesh;
}

mesh::TriangleMesh any_shape()
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

// Volumes add up, everything is closed and faces outwards, and random points agree with the definition of the
// operation.
void check_all_operations(const mesh::TriangleMesh& a, const mesh::TriangleMesh& b)
{
  const mesh::TriangleMesh both = boolean_union(a, b);
  const mesh::TriangleMesh common = boolean_intersection(a, b);
  const mesh::TriangleMesh rest = boolean_difference(a, b);
  RC_ASSERT(is_closed_manifold(both));
  RC_ASSERT(is_closed_manifold(common));
  RC_ASSERT(is_closed_manifold(rest));
  const double va = mesh::signed_volume(a);
  const double vb = mesh::signed_volume(b);
  const double small = 1e-7 * (va + vb);
  RC_ASSERT(std::abs(mesh::signed_volume(both) + mesh::signed_volume(common) - va - vb) < small);
  RC_ASSERT(std::abs(mesh::signed_volume(rest) + mesh::signed_volume(common) - va) < small);
  RC_ASSERT(mesh::signed_volume(common) > -small);
  RC_ASSERT(mesh::signed_volume(both) > std::max(va, vb) - small);
  for (int i = 0; i < 8; ++i) {
    const Vec3 p(real(-1, 1), real(-1, 1), real(-1, 1));
    const double wa = winding_number(a, p);
    const double wb = winding_number(b, p);
    // A point almost on a surface has no definite result.
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
  const mesh::TriangleMesh a = any_shape();
  mesh::TriangleMesh b = any_shape();
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
  const mesh::TriangleMesh a = any_box();
  const mesh::TriangleMesh b = any_box();
  check_all_operations(a, b);
  // A third flush part on top of a result: points on the grid stay on it.
  check_all_operations(boolean_union(a, b), any_box());
}

RC_GTEST_PROP(Boolean, OfRoundShapesStackedFlushIsClosedAndAddsUp, ())
{
  // Same axis, caps in one plane, rings of different counts or the same: coplanar circles of triangles.
  const mesh::TriangleMesh a = *rc::gen::arbitrary<bool>() ? generate(CylinderDesc{0.5, 0.5, 0.35})
                                                           : generate(CylinderDesc{0.5, 0.5, 0, 12});
  mesh::TriangleMesh b = generate(CylinderDesc{0.25 * whole(1, 4), 0.5, 0, whole(3, 20)});
  transform(b, {Vec3(0.25 * whole(-1, 2), 0, 0.25 * whole(-2, 3)), Quat::Identity()});
  check_all_operations(a, b);
}

RC_GTEST_PROP(Boolean, OfAShapeWithItselfIsItself, ())
{
  mesh::TriangleMesh a = any_shape();
  transform(a, {Vec3(0.1, 0.2, 0.3), any_rotation()});
  const double small = 1e-7 * mesh::signed_volume(a);
  RC_ASSERT(std::abs(mesh::signed_volume(boolean_union(a, a)) - mesh::signed_volume(a)) < small);
  RC_ASSERT(std::abs(mesh::signed_volume(boolean_intersection(a, a)) - mesh::signed_volume(a)) < small);
  RC_ASSERT(boolean_difference(a, a).triangles.empty());
}

TEST(Boolean, OfBoxesSideBySideIsOneBody)
{
  const mesh::TriangleMesh both =
      boolean_union(box_between({0, 0, 0}, {1, 1, 1}), box_between({1, 0, 0}, {2, 1, 1}));
  EXPECT_TRUE(is_closed_manifold(both));
  EXPECT_EQ(component_count(both), 1);
  EXPECT_EQ(euler_number(both), 2);
  EXPECT_DOUBLE_EQ(mesh::signed_volume(both), 2);
}

TEST(Boolean, OfBoxesThatTouchAtAnEdgeOrACornerStaysManifold)
{
  const mesh::TriangleMesh first = box_between({0, 0, 0}, {1, 1, 1});
  for (const mesh::TriangleMesh& second :
       {box_between({1, 1, 0}, {2, 2, 1}), box_between({1, 1, 1}, {2, 2, 2})}) {
    const mesh::TriangleMesh both = boolean_union(first, second);
    EXPECT_TRUE(is_closed_manifold(both));
    EXPECT_EQ(component_count(both), 2);
    EXPECT_DOUBLE_EQ(mesh::signed_volume(both), 2);
    EXPECT_TRUE(boolean_intersection(first, second).triangles.empty());
  }
}

TEST(Boolean, DrillsACavityAndAHole)
{
  const mesh::TriangleMesh block = box_between({-1, -1, -1}, {1, 1, 1});
  const mesh::TriangleMesh hollow =
      boolean_difference(block, box_between({-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}));
  EXPECT_DOUBLE_EQ(mesh::signed_volume(hollow), 7);
  EXPECT_EQ(component_count(hollow), 2);
  const mesh::TriangleMesh drilled = boolean_difference(block, box_between({-0.5, -0.5, -2}, {0.5, 0.5, 2}));
  EXPECT_DOUBLE_EQ(mesh::signed_volume(drilled), 6);
  EXPECT_EQ(euler_number(drilled), 0);
  EXPECT_TRUE(is_closed_manifold(drilled));
  // A body inside the cavity touches nothing and stays a separate component.
  const mesh::TriangleMesh filled =
      boolean_union(hollow, box_between({-0.25, -0.25, -0.25}, {0.25, 0.25, 0.25}));
  EXPECT_DOUBLE_EQ(mesh::signed_volume(filled), 7.125);
  EXPECT_EQ(component_count(filled), 3);
}

TEST(Boolean, OfManyPartsIsDoneInOnePass)
{
  // A frame of twelve flush bars about a cube: genus 5.
  std::vector<mesh::TriangleMesh> bars;
  for (const double u : {0.0, 3.0}) {
    for (const double v : {0.0, 3.0}) {
      bars.push_back(box_between({0, u, v}, {4, u + 1, v + 1}));
      bars.push_back(box_between({u, 0, v}, {u + 1, 4, v + 1}));
      bars.push_back(box_between({u, v, 0}, {u + 1, v + 1, 4}));
    }
  }
  const mesh::TriangleMesh frame = boolean_union(bars);
  EXPECT_TRUE(is_closed_manifold(frame));
  EXPECT_EQ(component_count(frame), 1);
  EXPECT_EQ(euler_number(frame), 2 - 2 * 5);
  EXPECT_NEAR(mesh::signed_volume(frame), 8 + 12 * 2, 1e-7);
}

TEST(Boolean, RejectsAnOpenMesh)
{
  mesh::TriangleMesh open = box_between({0, 0, 0}, {1, 1, 1});
  open.triangles.pop_back();
  EXPECT_THROW(static_cast<void>(boolean_union(open, box_between({0, 0, 0}, {2, 2, 2}))), Error);
}

}  // namespace
}  // namespace thrum::shapes
