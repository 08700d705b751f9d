// SPDX-License-Identifier: MIT
#include "thrum/collision/time_of_impact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <random>

#include "thrum/collision/queries.h"
#include "thrum/shapes/shapes.h"

namespace thrum::collision {
namespace {

constexpr double kGap = 1e-6;  ///< [m]

struct Made {
  std::shared_ptr<const model::Shape> shape;
  PreparedShape prepared;
};

Made make(const model::Shape& shape)
{
  auto kept = std::make_shared<const model::Shape>(shape);
  PreparedShape prepared = prepare(*kept);
  return {kept, prepared};
}

ShapeMotion placed_at(const Vec3& position, const Quat& rotation = Quat::Identity())
{
  ShapeMotion motion;
  motion.X_ws = {position, rotation};
  motion.centre = position;
  return motion;
}

const ImpactDesc kDesc{.touch_gap = kGap, .allowed_depth = 0.01};

// The search ends with a gap between 1 and 1.5 times touch_gap, which at `speed` is so much of the motion.
double fraction_of_gap(double speed)
{
  return 1.5 * kGap / speed;
}

// t = sqrt(2 h / g), in a step of 0.5 s.
TEST(TimeOfImpact, OfAFallingBallIsThatOfItsParabola)
{
  const Made ball = make({model::Sphere{0.1}});
  const Made plane = make({model::Plane{}});
  constexpr double kTime = 0.5;
  constexpr double kGravity = 9.81;
  for (const double height : {0.01, 0.3, 1.2}) {
    ShapeMotion fall = placed_at({0, 0, 0.1 + height});
    fall.bend = {0, 0, -0.5 * kGravity * kTime * kTime};
    const double expected = std::sqrt(2 * height / kGravity) / kTime;
    const TimeOfImpact impact = time_of_impact(ball.prepared, fall, plane.prepared, ShapeMotion{}, kDesc);
    ASSERT_TRUE(impact.found());
    EXPECT_LE(impact.fraction, expected);
    EXPECT_NEAR(impact.fraction, expected, fraction_of_gap(std::sqrt(2 * kGravity * height) * kTime));
  }
  ShapeMotion fall = placed_at({0, 0, 1.4});
  fall.bend = {0, 0, -0.5 * kGravity * kTime * kTime};
  EXPECT_FALSE(time_of_impact(ball.prepared, fall, plane.prepared, ShapeMotion{}, kDesc).found());
}

// Thrown up at 4 m/s against a wall at x = 2 with 10 m/s: x decides when, z where.
TEST(TimeOfImpact, OfAThrownBallIsWhenItReachesTheWall)
{
  const Made ball = make({model::Sphere{0.1}});
  const Made wall = make({model::Box{{0.05, 3, 3}}});
  ShapeMotion thrown = placed_at({0, 0, 0});
  thrown.move = {10, 0, 4};
  thrown.bend = {0, 0, -0.5 * 9.81};
  const double expected = (2 - 0.05 - 0.1) / 10;
  const TimeOfImpact impact =
      time_of_impact(wall.prepared, placed_at({2, 0, 0}), ball.prepared, thrown, kDesc);
  ASSERT_TRUE(impact.found());
  EXPECT_LE(impact.fraction, expected);
  EXPECT_NEAR(impact.fraction, expected, fraction_of_gap(10));
}

// A capsule of half length L and radius r at height c above a plane: its end touches when
// c = r + L sin(angle). More than one turn is a turn.
TEST(TimeOfImpact, OfASpinningRodIsWhenItsEndReachesThePlane)
{
  const Made rod = make({model::Capsule{0.02, 0.5}});
  const Made plane = make({model::Plane{}});
  // The axis of a capsule is z: lying along x.
  const Quat lying(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitY()));
  for (const double turn : {1.6, 20.0, -20.0}) {
    for (const double height : {0.1, 0.3, 0.5}) {
      ShapeMotion spin = placed_at({0, 0, height}, lying);
      spin.turn = {0, turn, 0};
      const double angle = std::asin((height - 0.02) / 0.5);
      const TimeOfImpact impact = time_of_impact(rod.prepared, spin, plane.prepared, ShapeMotion{}, kDesc);
      ASSERT_TRUE(impact.found());
      const double speed = 0.5 * std::cos(angle) * std::abs(turn);
      EXPECT_NEAR(impact.fraction, angle / std::abs(turn), fraction_of_gap(speed)) << turn << " " << height;
    }
    ShapeMotion high = placed_at({0, 0, 0.53}, lying);
    high.turn = {0, turn, 0};
    EXPECT_FALSE(time_of_impact(rod.prepared, high, plane.prepared, ShapeMotion{}, kDesc).found());
  }
}

std::vector<Made> all_kinds()
{
  const auto share = [](const mesh::TriangleMesh& mesh) {
    return std::make_shared<const mesh::TriangleMesh>(mesh);
  };
  model::Compound dumbbell;
  const auto ball = std::make_shared<model::Shape>(model::Shape{model::Sphere{0.1}});
  dumbbell.parts.push_back({{{-0.3, 0, 0}, Quat::Identity()}, ball});
  dumbbell.parts.push_back({{{0.3, 0, 0}, Quat::Identity()}, ball});
  std::vector<Made> kinds;
  kinds.push_back(make({model::Sphere{0.2}}));
  kinds.push_back(make({model::Box{{0.4, 0.05, 0.1}}}));
  kinds.push_back(make({model::Capsule{0.05, 0.3}}));
  kinds.push_back(make({model::Cylinder{0.2, 0.1}}));
  kinds.push_back(make({dumbbell}));
  kinds.push_back(make(
      {model::Mesh{share(shapes::generate(shapes::TorusDesc{
                       .major_radius = 0.3, .minor_radius = 0.1, .major_segments = 16, .minor_segments = 8})),
                   nullptr}}));
  return kinds;
}

// Brute force: no overlap at any of a thousand moments before the time that was found, and an overlap at any
// moment means that a time was found.
TEST(TimeOfImpact, ComesBeforeTheFirstOverlapOfAllKinds)
{
  const std::vector<Made> kinds = all_kinds();
  std::mt19937 random(13);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto vector = [&] {
    return Vec3(unit(random), unit(random), unit(random));
  };
  int found = 0;
  int limited = 0;
  for (int i = 0; i < 300; ++i) {
    const Made& a = kinds[random() % kinds.size()];
    const Made& b = kinds[random() % kinds.size()];
    const auto rotation = [&] {
      return Quat(unit(random), unit(random), unit(random), unit(random)).normalized();
    };
    ShapeMotion motion_a = placed_at(vector().normalized(), rotation());
    ShapeMotion motion_b = placed_at(Vec3::Zero(), rotation());
    motion_a.move = -2 * motion_a.centre + 0.4 * vector();
    motion_a.bend = 0.3 * vector();
    motion_a.turn = 4 * vector();
    motion_b.turn = 4 * vector();
    motion_b.centre = 0.1 * vector();
    const auto overlaps_at = [&](double f) {
      return overlap(a.prepared, motion_a.pose_at(f), b.prepared, motion_b.pose_at(f));
    };
    if (overlaps_at(0)) continue;
    const TimeOfImpact impact = time_of_impact(a.prepared, motion_a, b.prepared, motion_b, kDesc);
    if (impact.limited) ++limited;
    constexpr int kMoments = 1000;
    for (int k = 0; k <= kMoments; ++k) {
      const double f = static_cast<double>(k) / kMoments;
      if (f > impact.fraction) break;
      ASSERT_FALSE(overlaps_at(f)) << "case " << i << " at " << f << ", found " << impact.fraction;
    }
    if (impact.found()) ++found;
  }
  EXPECT_GT(found, 50);
  EXPECT_LE(limited, 3);
}

// A ball that passes a box's edge at a distance is not held up, and one that grazes it is found.
TEST(TimeOfImpact, OfAGrazingBallIsFoundAndOfAPassingOneIsNot)
{
  const Made ball = make({model::Sphere{0.1}});
  const Made box = make({model::Box{{0.5, 0.5, 0.5}}});
  for (const double over : {-1e-4, 1e-4}) {
    ShapeMotion motion = placed_at({-50, 0, 0.6 + over});
    motion.move = {100, 0, 0};
    const TimeOfImpact impact =
        time_of_impact(ball.prepared, motion, box.prepared, placed_at(Vec3::Zero()), kDesc);
    EXPECT_EQ(impact.found(), over < 0);
    EXPECT_FALSE(impact.limited);
  }
}

// What is pressed into a body is held in each slice where it is. A step can have hundreds of slices: in 256
// of them, each stopped where the search says, a ball that has got beyond the allowed depth goes no deeper
// than a few hundredths of its width. One that moves out is not held.
TEST(TimeOfImpact, WhatIsBeyondTheAllowedDepthDoesNotPassBitByBit)
{
  constexpr double kWidth = 0.2;
  const Made ball = make({model::Sphere{0.5 * kWidth}});
  const Made wall = make({model::Box{{1, 1, 0.5 * kWidth}}});
  const Made plane = make({model::Plane{}});
  const ImpactDesc desc{.touch_gap = 0.00125 * kWidth, .allowed_depth = 0.25 * kWidth, .in_contact = true};
  const auto depth_after = [&](const PreparedShape& other, double top, double depth) {
    for (int slice = 0; slice < 256; ++slice) {
      ShapeMotion fall = placed_at({0, 0, top + 0.5 * kWidth - depth});
      fall.move = {0, 0, -2 * kWidth};
      const TimeOfImpact impact = time_of_impact(ball.prepared, fall, other, ShapeMotion{}, desc);
      depth += 2 * kWidth * (impact.found() ? impact.fraction : 1.0);
    }
    return depth;
  };
  const double start = 0.3 * kWidth;
  EXPECT_LT(depth_after(wall.prepared, 0.5 * kWidth, start), start + 0.05 * kWidth);
  EXPECT_LT(depth_after(plane.prepared, 0, start), start + 0.05 * kWidth);
  ShapeMotion out = placed_at({0, 0, kWidth - start});
  out.move = {0, 0, 2 * kWidth};
  EXPECT_FALSE(time_of_impact(ball.prepared, out, wall.prepared, ShapeMotion{}, desc).found());
}

// A plane is solid however deep: a rod wholly below its surface is still held. (A wall lets go of what is
// past its middle, since the way out may be on the other side.)
TEST(TimeOfImpact, APlaneHoldsWhatIsDeepInIt)
{
  const Made rod = make({model::Box{{0.5, 0.01, 0.01}}});
  const Made plane = make({model::Plane{}});
  const ImpactDesc desc{.touch_gap = 2.5e-5, .allowed_depth = 0.005, .in_contact = true};
  for (const double depth : {0.006, 0.012, 0.02, 0.05}) {
    ShapeMotion fall = placed_at({0, 0, 0.01 - depth});
    fall.move = {0, 0, -0.1};
    const TimeOfImpact impact = time_of_impact(rod.prepared, fall, plane.prepared, ShapeMotion{}, desc);
    ASSERT_TRUE(impact.found()) << depth;
    EXPECT_LT(impact.fraction, 1e-3) << depth;
  }
}

// An open surface holds a body whose origin is in front of it. A hull with its origin near its lower face
// gets behind within a quarter of its width, the way between two samples of its depth, at any depth from
// which it starts. One that moves out, or beside the surface, is not held.
TEST(TimeOfImpact, WhatGetsBehindAnOpenSurfaceIsHeld)
{
  constexpr double kWidth = 0.2;
  constexpr double kBelow = 0.02;  // of the origin above the lower face
  mesh::TriangleMesh block = shapes::generate(shapes::BoxDesc{.size = Vec3::Constant(kWidth)});
  for (Vec3& v : block.vertices) v.z() += 0.5 * kWidth - kBelow;
  const Made hull = make({model::ConvexHull{make_polyhedron(block)}});
  auto sheet = std::make_shared<mesh::TriangleMesh>();
  sheet->vertices = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
  sheet->triangles = {{0, 1, 2}, {0, 2, 3}};
  const Made surface = make({model::Mesh{sheet, nullptr}});
  const ImpactDesc desc{.touch_gap = 0.00125 * kWidth, .allowed_depth = 0.25 * kWidth, .in_contact = true};
  const auto found = [&](const Vec3& start, const Vec3& move) {
    ShapeMotion motion = placed_at(start);
    motion.move = move;
    const TimeOfImpact one = time_of_impact(hull.prepared, motion, surface.prepared, ShapeMotion{}, desc);
    const TimeOfImpact two = time_of_impact(surface.prepared, ShapeMotion{}, hull.prepared, motion, desc);
    EXPECT_EQ(one.fraction, two.fraction);
    return one.found();
  };
  for (const double depth : {0.0, 0.005, 0.015, 0.019}) {
    for (const double speed : {0.5, 2.0, 10.0}) {
      const Vec3 start(0.3, 0.1, kBelow - depth);
      EXPECT_TRUE(found(start, {0, 0, -speed * kWidth})) << depth << ", " << speed;
      EXPECT_FALSE(found(start, {0, 0, speed * kWidth})) << depth << ", " << speed;
      EXPECT_FALSE(found({1.5, 0, kBelow - depth}, {0, 0, -speed * kWidth})) << depth << ", " << speed;
    }
  }
}

// By bisection: the same times, to the way of the last halving.
TEST(BisectImpact, AgreesWithClosedFormsToTheTolerance)
{
  const Made ball = make({model::Sphere{0.1}});
  const Made plane = make({model::Plane{}});
  const Made wall = make({model::Box{{0.05, 1, 1}}});
  const Made rod = make({model::Box{{0.5, 0.01, 0.01}}});
  for (const double gap : {1e-3, 1e-6}) {
    const ImpactDesc desc{.touch_gap = gap};
    for (const double height : {0.01, 0.3, 1.2}) {
      ShapeMotion fall = placed_at({0, 0, 0.1 + height});
      fall.bend = {0, 0, -1.3};
      const double expected = std::sqrt(height / 1.3);
      const TimeOfImpact impact = bisect_impact(ball.prepared, fall, plane.prepared, ShapeMotion{}, desc);
      ASSERT_TRUE(impact.found());
      EXPECT_LE(impact.fraction, expected + 1e-12);
      // The reach is that of the fastest part of the motion.
      EXPECT_NEAR(impact.fraction, expected, gap / 2.6 + 1e-12);
    }
    // Through the wall and far beyond.
    for (const double speed : {1.5, 40.0, 900.0}) {
      ShapeMotion thrown = placed_at({-1, 0, 0});
      thrown.move = {speed, 0, 0};
      const TimeOfImpact impact =
          bisect_impact(ball.prepared, thrown, wall.prepared, placed_at(Vec3::Zero()), desc);
      ASSERT_TRUE(impact.found()) << speed;
      EXPECT_NEAR(impact.fraction, 0.85 / speed, gap / speed + 1e-12);
    }
    ShapeMotion spin = placed_at({0, 0, 0.3});
    spin.turn = {0, 2, 0};
    const double angle = std::asin(0.3 / std::hypot(0.5, 0.01)) - std::atan2(0.01, 0.5);
    const TimeOfImpact impact = bisect_impact(rod.prepared, spin, plane.prepared, ShapeMotion{}, desc);
    ASSERT_TRUE(impact.found());
    EXPECT_NEAR(impact.fraction, angle / 2, gap / (2 * 0.5) + 1e-9);
  }
  // What passes by is no impact.
  ShapeMotion past = placed_at({-1, 1.2, 0});
  past.move = {5, 0, 0};
  EXPECT_FALSE(
      bisect_impact(ball.prepared, past, wall.prepared, placed_at(Vec3::Zero()), ImpactDesc{1e-6}).found());
}

// A ball that grazes an edge overlaps it on a way of 2 sqrt(2 r d), here down to 0.9 mm where a quarter of
// its width is 50 mm. It touches when its centre is sqrt(r^2 - (r - d)^2) before the edge.
TEST(TimeOfImpact, BisectionSeesTouchesShorterThanItsSteps)
{
  constexpr double kRadius = 0.1;
  const Made ball = make({model::Sphere{kRadius}});
  const Made wall = make({model::Box{Vec3(0.5, 0.5, 0.5)}});
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  const Quat on_edge(Eigen::AngleAxisd(std::numbers::pi / 4, Vec3::UnitY()));
  const double top = 0.5 * std::sqrt(2.0);
  for (int i = 0; i < 200; ++i) {
    const double depth = 1e-6 * std::pow(1e4, uniform(random));
    const double start = -1 - uniform(random);
    ShapeMotion thrown = placed_at({start, 0, top + kRadius - depth});
    thrown.move = {3, 0, 0};
    const double expected = (-start - std::sqrt(2 * kRadius * depth - depth * depth)) / 3;
    const ImpactDesc desc{.touch_gap = 1e-7, .allowed_depth = 0.01};
    const TimeOfImpact impact =
        bisect_impact(ball.prepared, thrown, wall.prepared, placed_at(Vec3::Zero(), on_edge), desc);
    ASSERT_TRUE(impact.found()) << "depth " << depth;
    EXPECT_LE(impact.fraction, expected + 1e-9);
    // The gap closes as the square of the way.
    EXPECT_NEAR(impact.fraction, expected, std::sqrt(2 * kRadius * 4e-7) / 3) << "depth " << depth;
  }
}

}  // namespace
}  // namespace thrum::collision
