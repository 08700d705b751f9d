// SPDX-License-Identifier: MIT
// Which four of many candidate points make a patch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/base/random.h"
#include "thrum/collision/patch_builder.h"

namespace thrum::collision {
namespace {

void add_ring(double radius, int count, double gap, std::vector<CandidatePoint>& points)
{
  for (int i = 0; i < count; ++i) {
    const double angle = 2 * std::numbers::pi * i / count;
    points.push_back({{radius * std::cos(angle), radius * std::sin(angle), 0},
                      -gap,
                      static_cast<std::uint32_t>(points.size()),
                      0});
  }
}

// Area of the four as corners of a polygon, in order of their angle about the middle [m^2].
double spanned_area(std::vector<CandidatePoint> points)
{
  Vec3 middle = Vec3::Zero();
  for (const CandidatePoint& p : points) middle += p.position / static_cast<double>(points.size());
  const auto angle = [&](const CandidatePoint& p) {
    return std::atan2(p.position.y() - middle.y(), p.position.x() - middle.x());
  };
  std::sort(points.begin(), points.end(), [&](const auto& a, const auto& b) { return angle(a) < angle(b); });
  double area = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    area += points[i].position.cross(points[(i + 1) % points.size()].position).z() / 2;
  return area;
}

// A plate on its foot ring at a long step: the margin of g h^2 lets in its rim, which hovers above the table.
TEST(PatchReduction, APlateRestsOnItsFootNotOnTheRimAboveIt)
{
  base::Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<CandidatePoint> points;
    const double foot = random.uniform(0.04, 0.08);
    add_ring(foot, 16, 0, points);
    add_ring(random.uniform(foot, 2 * foot), 16, random.uniform(1e-3, 5e-3), points);
    // Rounding, and overlap of a body that has settled.
    for (CandidatePoint& p : points) p.depth += random.uniform(0, 2e-6);
    for (std::size_t i = points.size() - 1; i > 0; --i) std::swap(points[i], points[random.index(i + 1)]);
    reduce_to_four(Vec3::UnitZ(), points);
    ASSERT_EQ(points.size(), 4U);
    for (const CandidatePoint& p : points) EXPECT_GT(p.depth, -1e-4);
    // A square inscribed in the foot has 2 r^2.
    EXPECT_GT(spanned_area(points), 1.5 * foot * foot);
  }
}

// A tin that stands on its edge touches in a point or two: the rest of the rim is needed to catch it when it
// comes down.
TEST(PatchReduction, ATiltedRimKeepsPointsAllRound)
{
  for (const double tilt : {0.002, 0.01, 0.05}) {
    std::vector<CandidatePoint> points;
    add_ring(0.05, 24, 0, points);
    for (CandidatePoint& p : points) p.depth = tilt * (p.position.x() - 0.05);
    reduce_to_four(Vec3::UnitZ(), points);
    ASSERT_EQ(points.size(), 4U);
    EXPECT_NEAR(points[0].depth, 0, tilt * 2e-3);
    // The square has 2 r^2, an arc of points that touch next to nothing.
    EXPECT_GT(spanned_area(points), 0.9 * 0.05 * 0.05) << tilt;
  }
}

// The choice does not depend on where the axes are: shifted candidates give the same four.
TEST(PatchReduction, DoesNotDependOnTheOrigin)
{
  base::Random random(8);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<CandidatePoint> points;
    for (std::uint32_t i = 0; i < 12; ++i)
      points.push_back(
          {{random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), 0}, random.uniform(-2e-3, 1e-4), i, 0});
    std::vector<CandidatePoint> shifted = points;
    for (CandidatePoint& p : shifted) p.position += Vec3(8, -4, 0);
    reduce_to_four(Vec3::UnitZ(), points);
    reduce_to_four(Vec3::UnitZ(), shifted);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(points[i].feature_a, shifted[i].feature_a);
  }
}

// Ten directions, of which two pairs agree, are eight patches; with two more directions their points are
// counted.
TEST(PatchesByNormal, CountsThePointsThatDoNotFit)
{
  PairScratch scratch;
  PairInput pair;
  pair.scratch = &scratch;
  std::vector<DirectedPoint> points;
  const auto add = [&](double angle) {
    const Vec3 n(std::cos(angle), std::sin(angle), 0);
    points.push_back({n, {n, 0.001, static_cast<std::uint32_t>(points.size()), 0}});
  };
  for (int i = 0; i < 8; ++i) add(0.5 * i);
  add(0.001);
  add(0.501);
  std::vector<model::ContactPatch> patches;
  append_patches_by_normal(pair, Pose{}, 0.99, 1e-6, points, patches);
  EXPECT_EQ(patches.size(), 8U);
  EXPECT_EQ(scratch.left_out, 0U);
  for (int i = 0; i < 3; ++i) add(4.5 + 0.5 * (i % 2));
  patches.clear();
  append_patches_by_normal(pair, Pose{}, 0.99, 1e-6, points, patches);
  EXPECT_EQ(patches.size(), 8U);
  EXPECT_EQ(scratch.left_out, 3U);
}

}  // namespace
}  // namespace thrum::collision
