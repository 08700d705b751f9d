// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "thrum/collision/broad_phase.h"

namespace thrum::collision {
namespace {

// Boxes of edges from 1 mm to 100 m in a cube of 40 m, every fifth one fixed, some exactly on the boundaries
// of cells.
struct Cloud {
  std::mt19937 random;
  BroadPhase broad_phase;
  std::vector<Box3> boxes;

  explicit Cloud(unsigned seed, int count = 400) : random(seed)
  {
    for (int i = 0; i < count; ++i) {
      broad_phase.add(i, i % 5 == 0, false);
      boxes.emplace_back();
      move(i);
    }
  }
  double uniform(double low, double high)
  {
    return std::uniform_real_distribution<double>(low, high)(random);
  }
  Vec3 point(double half) { return {uniform(-half, half), uniform(-half, half), uniform(-half, half)}; }
  void move(int i)
  {
    const double half = std::pow(10.0, i % 40 == 0 ? uniform(0, 1.7) : uniform(-3.3, 0.3));
    Vec3 centre = point(20);
    if (i % 3 == 0) centre = (2 * centre).array().round() / 2;
    boxes[static_cast<std::size_t>(i)] = Box3(centre - Vec3::Constant(half), centre + Vec3::Constant(half));
    broad_phase.update(i, boxes[static_cast<std::size_t>(i)]);
  }
};

// When a box on its way first meets another: by the planes of each axis.
double first_meeting(const Box3& moving, const Vec3& motion, const Box3& box)
{
  double enters = 0;
  double leaves = 1;
  for (int k = 0; k < 3; ++k) {
    const double low = box.min()[k] - moving.max()[k];
    const double high = box.max()[k] - moving.min()[k];
    if (motion[k] == 0 && (low > 0 || high < 0)) return std::numeric_limits<double>::infinity();
    if (motion[k] == 0) continue;
    enters = std::max(enters, std::min(low / motion[k], high / motion[k]));
    leaves = std::min(leaves, std::max(low / motion[k], high / motion[k]));
  }
  return enters <= leaves ? enters : std::numeric_limits<double>::infinity();
}

Vec3 some_motion(Cloud& cloud, int i)
{
  switch (i % 5) {
    case 0:
      return cloud.point(60);
    case 1:
      return cloud.uniform(-50, 50) * Vec3::Unit(i / 5 % 3);
    case 2:
      return Vec3(Vec3::Constant(cloud.uniform(-20, 20)));
    case 3:
      return cloud.point(0.5);
    default:
      return i % 2 == 0 ? Vec3(Vec3::Zero()) : Vec3(1e4 * cloud.point(1));
  }
}

TEST(BroadPhaseSweep, MeetsAllBoxesThatBruteForceMeets)
{
  for (unsigned seed = 0; seed < 10; ++seed) {
    Cloud cloud(seed);
    for (int i = 0; i < 200; ++i) {
      cloud.move(i);
      Vec3 centre = cloud.point(25);
      if (i % 2 == 0) centre = (2 * centre).array().round() / 2;  // along the boundaries of cells
      const Vec3 half = i % 3 == 0 ? Vec3(Vec3::Zero()) : Vec3(cloud.point(i % 7 == 0 ? 15 : 1).cwiseAbs());
      const Box3 moving(centre - half, centre + half);
      const Vec3 motion = some_motion(cloud, i);
      std::multiset<model::BodyIndex> met;
      cloud.broad_phase.sweep(moving, motion, [&](model::BodyIndex body, double reach) {
        met.insert(body);
        return reach;
      });
      for (std::size_t body = 0; body < cloud.boxes.size(); ++body) {
        const std::size_t visits = met.count(static_cast<model::BodyIndex>(body));
        EXPECT_LE(visits, 1u);
        if (first_meeting(moving, motion, cloud.boxes[body]) <= 1) {
          EXPECT_EQ(visits, 1u) << "seed " << seed << " sweep " << i << " body " << body;
        }
      }
    }
  }
}

TEST(BroadPhaseSweep, FindsTheFirstWhenHitsShortenTheReach)
{
  std::size_t visited = 0;
  std::size_t all = 0;
  for (unsigned seed = 20; seed < 30; ++seed) {
    Cloud cloud(seed);
    for (int i = 0; i < 200; ++i) {
      const Vec3 centre = cloud.point(25);
      const Box3 moving(centre, centre);
      const Vec3 motion = some_motion(cloud, i);
      double first = std::numeric_limits<double>::infinity();
      for (const Box3& box : cloud.boxes) first = std::min(first, first_meeting(moving, motion, box));
      double best = std::numeric_limits<double>::infinity();
      cloud.broad_phase.sweep(moving, motion, [&](model::BodyIndex body, double reach) {
        ++visited;
        const double at = first_meeting(moving, motion, cloud.boxes[static_cast<std::size_t>(body)]);
        best = std::min(best, at);
        return std::min(reach, best);
      });
      all += cloud.boxes.size();
      EXPECT_EQ(best, first) << "seed " << seed << " sweep " << i;
    }
  }
  EXPECT_LT(visited, all / 50);
}

TEST(BroadPhaseSearch, FindsTheNearestBoxOfBruteForce)
{
  std::size_t visited = 0;
  std::size_t all = 0;
  for (unsigned seed = 40; seed < 50; ++seed) {
    Cloud cloud(seed);
    for (int i = 0; i < 200; ++i) {
      cloud.move(i);
      Vec3 p = cloud.point(i % 10 == 0 ? 1e6 : 30);
      if (i % 2 == 0) p = (2 * p).array().round() / 2;
      const double max_distance = i % 3 == 0 ? std::numeric_limits<double>::infinity() : cloud.uniform(0, 5);
      double nearest = std::numeric_limits<double>::infinity();
      for (const Box3& box : cloud.boxes) nearest = std::min(nearest, box.exteriorDistance(p));
      if (nearest > max_distance) nearest = std::numeric_limits<double>::infinity();
      double best = std::numeric_limits<double>::infinity();
      cloud.broad_phase.search_near(p, max_distance, [&](model::BodyIndex body, double reach) {
        ++visited;
        const double distance = cloud.boxes[static_cast<std::size_t>(body)].exteriorDistance(p);
        if (distance <= max_distance) best = std::min(best, distance);
        return std::min(reach, best);
      });
      all += cloud.boxes.size();
      EXPECT_EQ(best, nearest) << "seed " << seed << " point " << i;
    }
  }
  EXPECT_LT(visited, all / 20);
}

TEST(BroadPhaseQueries, LeaveOutBodiesWithoutABoxAndIncludeUnboundedOnes)
{
  BroadPhase broad_phase;
  broad_phase.add(0, true, true);
  broad_phase.add(1, false, false);
  broad_phase.add(2, false, false);
  const Box3 box(Vec3::Constant(-1), Vec3::Constant(1));
  for (int i = 0; i < 3; ++i) broad_phase.update(i, box);
  broad_phase.update(1, Box3());
  std::vector<model::BodyIndex> met;
  const auto collect = [&](model::BodyIndex body, double reach) {
    met.push_back(body);
    return reach;
  };
  broad_phase.sweep(Box3(Vec3(-5, 0, 0), Vec3(-5, 0, 0)), Vec3(10, 0, 0), collect);
  EXPECT_EQ(met, (std::vector<model::BodyIndex>{0, 2}));
  met.clear();
  broad_phase.search_near(Vec3(5, 0, 0), 10, collect);
  EXPECT_EQ(met, (std::vector<model::BodyIndex>{0, 2}));
}

}  // namespace
}  // namespace thrum::collision
