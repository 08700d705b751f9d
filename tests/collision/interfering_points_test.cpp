// SPDX-License-Identifier: MIT
// Points inside another body, against every vertex tested by the exact distance.
#include "thrum/collision/interfering_points.h"

#include <gtest/gtest.h>

#include <memory>
#include <numbers>
#include <random>

#include "thrum/distance/mesh_distance.h"
#include "thrum/shapes/shapes.h"

namespace thrum::collision {
namespace {

mesh::TriangleMesh ring()
{
  shapes::TorusDesc desc;
  desc.major_segments = 25;
  desc.minor_segments = 10;
  return shapes::generate(desc);
}

/// A prepared shape points to the one that it was made of.
struct Made {
  std::shared_ptr<const model::Shape> shape;
  PreparedShape prepared;
  explicit Made(const model::Shape& from)
      : shape(std::make_shared<const model::Shape>(from)), prepared(prepare(*shape))
  {
  }
};

TEST(InterferingPoints, AreAllVerticesInsideTheOtherRing)
{
  const mesh::TriangleMesh mesh = ring();
  const Made made({model::Mesh{std::make_shared<mesh::TriangleMesh>(mesh), nullptr}});
  const PreparedShape& shape = made.prepared;
  const distance::MeshDistance distance(mesh);
  // The stored distance is good to half a cell.
  constexpr double kUncertain = 0.004;
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(-1, 1);
  InterferingPointFinder finder;
  int inside = 0;
  for (int round = 0; round < 50; ++round) {
    const Pose X_wb{0.9 * Vec3(uniform(random), uniform(random), 0.4 * uniform(random)),
                    Quat(Eigen::AngleAxisd(3 * uniform(random), Vec3(uniform(random), 1, 0.5).normalized()))};
    const auto& found = finder.find(shape, Pose{}, shape, X_wb);
    const auto is_listed = [&](const Vec3& p) {
      return std::any_of(found.begin(), found.end(),
                         [&](const InterferingPoint& point) { return (point.position - p).norm() < 1e-9; });
    };
    for (const Vec3& v : mesh.vertices) {
      const Vec3 of_b = X_wb.point(v);
      const double depth_b = -distance.signed_distance(of_b).distance;
      const double depth_a = -distance.signed_distance(X_wb.point_to_local(v)).distance;
      if (depth_b > kUncertain) {
        EXPECT_TRUE(is_listed(of_b)) << round;
        ++inside;
      }
      if (depth_a > kUncertain) {
        EXPECT_TRUE(is_listed(v)) << round;
      }
      if (depth_b < -kUncertain) {
        EXPECT_FALSE(is_listed(of_b)) << round;
      }
    }
    for (const InterferingPoint& point : found) {
      EXPECT_GT(point.depth, 0);
      EXPECT_NEAR(point.normal.norm(), 1, 1e-9);
    }
  }
  EXPECT_GT(inside, 500);
}

// Two bars that cross edge on edge: no vertex of one is inside the other.
TEST(InterferingPoints, AreOnEdgesWhereNoVertexIsInside)
{
  constexpr double kPi = std::numbers::pi;
  const Made made({model::Box{{1, 0.1, 0.1}}});
  const PreparedShape& bar = made.prepared;
  const Quat on_edge(Eigen::AngleAxisd(kPi / 4, Vec3::UnitX()));
  const Quat across(Eigen::AngleAxisd(kPi / 2, Vec3::UnitZ()));
  constexpr double kOverlap = 0.01;
  const double height = 2 * 0.1 * std::sqrt(2.0) - kOverlap;
  InterferingPointFinder finder;
  const auto found = finder.find(bar, {Vec3::Zero(), on_edge}, bar, {{0, 0, height}, across * on_edge});
  ASSERT_FALSE(found.empty());
  for (const InterferingPoint& point : found) {
    EXPECT_LT(point.position.head<2>().norm(), 2 * kOverlap);
    // The nearest face of a bar on its edge slopes by 45 degrees.
    EXPECT_NEAR(point.depth, kOverlap / std::sqrt(2.0), 1e-3);
    EXPECT_NEAR(point.normal.z(), std::sqrt(0.5), 1e-6);
  }
}

TEST(InterferingPoints, NormalsPointFromTheFirstToTheSecond)
{
  const Made made_box({model::Box{Vec3::Constant(0.5)}});
  const Made made_plane({model::Plane{}});
  const Made ball({model::Sphere{1}});
  const PreparedShape& box = made_box.prepared;
  const PreparedShape& plane = made_plane.prepared;
  InterferingPointFinder finder;
  const Pose sunk{{0, 0, 0.49}, Quat::Identity()};
  for (const InterferingPoint& point : finder.find(plane, Pose{}, box, sunk)) {
    EXPECT_NEAR(point.normal.z(), 1, 1e-12);
    EXPECT_NEAR(point.depth, 0.01, 1e-12);
  }
  EXPECT_EQ(finder.find(plane, Pose{}, box, sunk).size(), 4U);
  for (const InterferingPoint& point : finder.find(box, sunk, plane, Pose{}))
    EXPECT_NEAR(point.normal.z(), -1, 1e-12);
  EXPECT_FALSE(has_interfering_points(plane, ball.prepared));
  EXPECT_FALSE(has_interfering_points(plane, plane));
}

}  // namespace
}  // namespace thrum::collision
