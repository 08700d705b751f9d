// SPDX-License-Identifier: MIT
#include "thrum/shapes/convex_hull.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/support/drawing.h"
#include "tests/support/mesh_checks.h"
#include "thrum/base/error.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {
namespace {

using support::whole;

void check_hull(const std::vector<Vec3>& points, const mesh::TriangleMesh& hull)
{
  RC_ASSERT(support::is_closed_manifold(hull));
  RC_ASSERT(support::euler_number(hull) == 2);
  RC_ASSERT(mesh::signed_volume(hull) > 0);
  for (std::size_t t = 0; t < hull.triangles.size(); ++t) {
    const Vec3 normal = mesh::area_vector(hull, t).normalized();
    for (const Vec3& p : points) RC_ASSERT(normal.dot(p - hull.corner(t, 0)) < 1e-9);
  }
}

RC_GTEST_PROP(ConvexHull, ContainsAllPointsInGeneralPosition, ())
{
  const int n = whole(10, 60);
  std::vector<Vec3> points;
  for (int i = 0; i < n; ++i) {
    const auto c = [] {
      return whole(-1000000, 1000000) * 1e-6;
    };
    const double x = c();
    const double y = c();
    points.emplace_back(x, y, c());
  }
  check_hull(points, convex_hull(points));
}

RC_GTEST_PROP(ConvexHull, ContainsAllPointsOfASmallGrid, ())
{
  // Integer coordinates 0..3: many repeated, collinear and coplanar points.
  const int n = whole(12, 80);
  std::vector<Vec3> points = {{0, 0, 0}, {3, 0, 0}, {0, 3, 0}, {0, 0, 3}};
  for (int i = 0; i < n; ++i) {
    const auto c = [] {
      return static_cast<double>(whole(0, 4));
    };
    const double x = c();
    const double y = c();
    points.emplace_back(x, y, c());
  }
  check_hull(points, convex_hull(points));
}

TEST(ConvexHull, OfAFineBoxHasItsEightCorners)
{
  const mesh::TriangleMesh box = generate(BoxDesc{Vec3(1, 2, 3), 0, 0.2});
  const mesh::TriangleMesh hull = convex_hull(box.vertices);
  EXPECT_EQ(hull.vertices.size(), 8u);
  EXPECT_EQ(hull.triangles.size(), 12u);
  EXPECT_NEAR(mesh::signed_volume(hull), 6, 1e-12);
}

TEST(ConvexHull, OfAnIcosphereIsTheIcosphere)
{
  const mesh::TriangleMesh sphere = generate(SphereDesc{1, 0.2});
  const mesh::TriangleMesh hull = convex_hull(sphere.vertices);
  EXPECT_EQ(hull.triangles.size(), sphere.triangles.size());
  EXPECT_NEAR(mesh::signed_volume(hull), mesh::signed_volume(sphere), 1e-12);
}

TEST(ConvexHull, RejectsFlatPoints)
{
  const std::vector<Vec3> flat = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  EXPECT_THROW(static_cast<void>(convex_hull(flat)), Error);
  const std::vector<Vec3> line = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}};
  EXPECT_THROW(static_cast<void>(convex_hull(line)), Error);
  EXPECT_THROW(static_cast<void>(convex_hull(std::vector<Vec3>{})), Error);
}

}  // namespace
}  // namespace thrum::shapes
