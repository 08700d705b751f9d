// SPDX-License-Identifier: MIT
#include "thrum/collision/gjk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace thrum::collision {
namespace {

constexpr double kFar = 1e9;

ConvexView box(const Vec3& half)
{
  ConvexView view;
  view.core = ConvexView::Core::box;
  view.half = half;
  return view;
}

Quat random_rotation(std::mt19937& random)
{
  std::normal_distribution<double> normal;
  return Quat(normal(random), normal(random), normal(random), normal(random)).normalized();
}

TEST(ConvexDistance, OfTwoBoxesFaceToFace)
{
  const Pose X_ab{{3, 0.2, -0.1}, Quat::Identity()};
  const ConvexDistance d = convex_distance(box({1, 1, 1}), box({0.5, 0.5, 0.5}), X_ab, kFar);
  EXPECT_NEAR(d.distance, 1.5, 1e-12);
  EXPECT_NEAR((d.normal - Vec3::UnitX()).norm(), 0, 1e-9);
}

TEST(ConvexDistance, OfCornerToCorner)
{
  const Pose X_ab{{3, 3, 3}, Quat::Identity()};
  const ConvexDistance d = convex_distance(box({1, 1, 1}), box({1, 1, 1}), X_ab, kFar);
  EXPECT_NEAR(d.distance, std::sqrt(3.0), 1e-12);
  EXPECT_NEAR((d.on_b - d.on_a).norm(), d.distance, 1e-12);
}

TEST(ConvexDistance, DepthOfOverlappingBoxesIsTheShortestWayOut)
{
  const Pose X_ab{{0.3, 1.7, 0.2}, Quat::Identity()};
  const ConvexDistance d = convex_distance(box({1, 1, 1}), box({1, 1, 1}), X_ab, kFar);
  EXPECT_NEAR(d.distance, -0.3, 1e-9);
  EXPECT_NEAR((d.normal - Vec3::UnitY()).norm(), 0, 1e-9);
}

TEST(ConvexDistance, OfACylinderLyingOverABox)
{
  ConvexView cylinder;
  cylinder.core = ConvexView::Core::cylinder;
  cylinder.half = {0.3, 0.3, 1.0};
  const Pose lying{{0, 0, 1.5}, Quat(Eigen::AngleAxisd(std::acos(0.0), Vec3::UnitX()))};
  const ConvexDistance d = convex_distance(box({1, 1, 1}), cylinder, lying, kFar);
  EXPECT_NEAR(d.distance, 0.2, 1e-9);
  EXPECT_NEAR(d.normal.z(), 1, 1e-9);
}

// Moving b out along the normal by the depth must leave the two just touching; for separate shapes the
// witness points are on the surfaces and as far apart as the distance says.
TEST(ConvexDistance, IsConsistentForRandomBoxesAndCylinders)
{
  std::mt19937 random(3);
  std::uniform_real_distribution<double> place(-1.6, 1.6);
  for (int trial = 0; trial < 300; ++trial) {
    ConvexView a = box({0.4, 0.7, 1.0});
    ConvexView b = box({0.6, 0.5, 0.8});
    if (trial % 2 == 1) {
      b.core = ConvexView::Core::cylinder;
      b.half = {0.5, 0.5, 0.8};
    }
    Pose X_ab{{place(random), place(random), place(random)}, random_rotation(random)};
    const ConvexDistance d = convex_distance(a, b, X_ab, kFar);
    EXPECT_NEAR(d.normal.norm(), 1, 1e-9);
    EXPECT_NEAR((d.on_b - d.on_a).dot(d.normal), d.distance, 1e-4);
    // A plane across the normal separates them once b has been moved out.
    X_ab.position -= d.distance * d.normal;
    const double reach_a = support(a, d.normal).dot(d.normal);
    const double reach_b = X_ab.point(support(b, -X_ab.direction_to_local(d.normal))).dot(d.normal);
    EXPECT_NEAR(reach_a, reach_b, 1e-4) << trial << " distance " << d.distance;
  }
}

// Swapping the two must not matter, however small the gap: a plane that separates them for one order does for
// the other.
TEST(ConvexDistance, OfNearlyTouchingCylindersIsTheSameWithThemSwapped)
{
  ConvexView a;
  a.core = ConvexView::Core::cylinder;
  a.half = {0.3, 0.3, 0.4};
  ConvexView b = a;
  b.half = {0.5, 0.5, 0.1};
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 5000; ++i) {
    const Vec3 direction = Vec3(uniform(random), uniform(random), uniform(random)).normalized();
    Pose X_ab{2 * direction, random_rotation(random)};
    // Nearer along the normal, to a gap of 1e-2 to 1e-5 m.
    const double gap = std::pow(10.0, -3.5 + 1.5 * uniform(random));
    for (int k = 0; k < 3; ++k) {
      const ConvexDistance d = convex_distance(a, b, X_ab, kFar);
      X_ab.position -= (d.distance - gap) * d.normal;
    }
    const double forth = convex_distance(a, b, X_ab, kFar).distance;
    const double back = convex_distance(b, a, X_ab.inverse(), kFar).distance;
    EXPECT_NEAR(forth, back, 1e-7) << i;
  }
}

TEST(ConvexDistance, StopsEarlyBeyondMaxDistance)
{
  const ConvexDistance d =
      convex_distance(box({1, 1, 1}), box({1, 1, 1}), {{10, 0, 0}, Quat::Identity()}, 0.1);
  EXPECT_TRUE(d.beyond);
}

}  // namespace
}  // namespace thrum::collision
