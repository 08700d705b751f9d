// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "thrum/base/error.h"
#include "thrum/collision/pair_table.h"
#include "thrum/shapes/shapes.h"

namespace thrum::collision {
namespace {

using model::ContactPatch;
using model::Shape;

std::vector<ContactPatch> touch(const Shape& a, const Pose& X_wa, const Shape& b, const Pose& X_wb,
                                double margin = 0.01)
{
  const PreparedShape pa = prepare(a);
  const PreparedShape pb = prepare(b);
  PairInput pair;
  pair.a = &pa;
  pair.b = &pb;
  pair.X_wa = X_wa;
  pair.X_wb = X_wb;
  pair.margin = margin;
  pair.table = &default_pair_table();
  std::vector<ContactPatch> patches;
  default_pair_table().collide(pair, patches);
  return patches;
}

Pose at(double x, double y, double z)
{
  return {{x, y, z}, Quat::Identity()};
}

const Shape kUnitBox{model::Box{Vec3::Constant(0.5)}};

Shape hull_of_box()
{
  shapes::BoxDesc desc;
  desc.size = Vec3::Ones();
  return {model::ConvexHull{make_polyhedron(shapes::generate(desc))}};
}

TEST(Contact, BoxOnBoxHasFourCornersOfTheCommonFace)
{
  const auto patches = touch(kUnitBox, at(0, 0, 0), kUnitBox, at(0.3, 0.2, 0.99));
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0].count, 4);
  EXPECT_NEAR((patches[0].normal - Vec3::UnitZ()).norm(), 0, 1e-12);
  for (const auto& point : patches[0].active()) {
    EXPECT_NEAR(point.depth, 0.01, 1e-12);
    EXPECT_NEAR(point.position.z(), 0.495, 1e-12);
    EXPECT_GE(point.position.x(), -0.2 - 1e-12);
    EXPECT_LE(point.position.x(), 0.5 + 1e-12);
  }
}

TEST(Contact, CrossedBoxesTouchWithTheirEdges)
{
  const Pose tilted_a{{0, 0, 0}, Quat(Eigen::AngleAxisd(std::numbers::pi / 4, Vec3::UnitX()))};
  const Pose tilted_b{{0, 0, std::sqrt(2.0) - 0.01},
                      Quat(Eigen::AngleAxisd(std::numbers::pi / 4, Vec3::UnitY()))};
  const auto patches = touch(kUnitBox, tilted_a, kUnitBox, tilted_b);
  ASSERT_EQ(patches.size(), 1u);
  ASSERT_EQ(patches[0].count, 1);
  EXPECT_NEAR(patches[0].points[0].depth, 0.01, 1e-9);
  EXPECT_NEAR(patches[0].normal.z(), 1, 1e-9);
  EXPECT_NEAR(patches[0].points[0].position.head<2>().norm(), 0, 1e-9);
}

// The same cube as a box and as a hull must touch a floor, a box and a sphere alike.
TEST(Contact, AHullOfABoxTouchesLikeTheBox)
{
  const Shape hull = hull_of_box();
  const Shape sphere{model::Sphere{0.5}};
  const Pose turned{{0.1, 0.05, 0.995}, Quat(Eigen::AngleAxisd(0.3, Vec3::UnitZ()))};
  for (const Shape& other : {kUnitBox, sphere}) {
    const auto by_box = touch(kUnitBox, at(0, 0, 0), other, turned);
    const auto by_hull = touch(hull, at(0, 0, 0), other, turned);
    ASSERT_EQ(by_box.size(), 1u);
    ASSERT_EQ(by_hull.size(), 1u);
    EXPECT_EQ(by_box[0].count, by_hull[0].count);
    EXPECT_NEAR((by_box[0].normal - by_hull[0].normal).norm(), 0, 1e-6);
    EXPECT_NEAR(by_box[0].points[0].depth, by_hull[0].points[0].depth, 1e-6);
  }
}

TEST(Contact, SphereOnBoxFaceEdgeAndCorner)
{
  const Shape sphere{model::Sphere{0.25}};
  for (const Vec3& direction : {Vec3(0, 0, 1), Vec3(0, 1, 1), Vec3(1, 1, 1)}) {
    const Vec3 surface = 0.5 * direction;
    const Vec3 n = direction.normalized();
    const auto patches = touch(kUnitBox, at(0, 0, 0), sphere, {surface + 0.245 * n, Quat::Identity()});
    ASSERT_EQ(patches.size(), 1u);
    EXPECT_NEAR(patches[0].points[0].depth, 0.005, 1e-9);
    EXPECT_NEAR((patches[0].normal - n).norm(), 0, 1e-7);
  }
}

TEST(Contact, ACapsuleLyingOnABoxTouchesAtTwoPoints)
{
  const Shape capsule{model::Capsule{0.1, 0.3}};
  const Pose lying{{0, 0, 0.595}, Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitY()))};
  const auto patches = touch(kUnitBox, at(0, 0, 0), capsule, lying);
  ASSERT_EQ(patches.size(), 1u);
  ASSERT_EQ(patches[0].count, 2);
  for (const auto& point : patches[0].active()) {
    EXPECT_NEAR(point.depth, 0.005, 1e-9);
    EXPECT_NEAR(std::abs(point.position.x()), 0.3, 1e-9);
  }
}

TEST(Contact, ACylinderStandsOnFourPointsAndLiesOnTwo)
{
  const Shape cylinder{model::Cylinder{0.3, 0.5}};
  const Shape plane{model::Plane{}};
  const auto standing = touch(plane, at(0, 0, 0), cylinder, at(0, 0, 0.495));
  ASSERT_EQ(standing.size(), 1u);
  EXPECT_EQ(standing[0].count, 4);
  EXPECT_NEAR(standing[0].normal.z(), 1, 1e-12);
  const Pose lying{{0, 0, 0.295}, Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX()))};
  const auto side = touch(plane, at(0, 0, 0), cylinder, lying);
  ASSERT_EQ(side.size(), 1u);
  EXPECT_EQ(side[0].count, 2);
  EXPECT_NEAR(side[0].points[0].depth, 0.005, 1e-12);
}

TEST(Contact, SwappingTheBodiesFlipsTheNormal)
{
  const Shape sphere{model::Sphere{0.5}};
  const auto ab = touch(kUnitBox, at(0, 0, 0), sphere, at(0, 0, 0.995));
  const auto ba = touch(sphere, at(0, 0, 0.995), kUnitBox, at(0, 0, 0));
  ASSERT_EQ(ab.size(), 1u);
  ASSERT_EQ(ba.size(), 1u);
  EXPECT_NEAR((ab[0].normal + ba[0].normal).norm(), 0, 1e-9);
  EXPECT_NEAR((ab[0].points[0].position - ba[0].points[0].position).norm(), 0, 1e-9);
}

TEST(Contact, ABoxOnAHeightFieldAndOnAMeshRestsOnTheFlat)
{
  model::HeightField field;
  field.columns = field.rows = 9;
  field.spacing = 0.4;
  field.heights = std::make_shared<std::vector<double>>(81, 0.0);
  const auto on_field = touch(kUnitBox, at(1.63, 1.57, 0.495), Shape{field}, at(0, 0, 0));
  ASSERT_EQ(on_field.size(), 1u) << "seams between triangles must not give normals of their own";
  EXPECT_EQ(on_field[0].count, 4);
  EXPECT_NEAR(on_field[0].normal.z(), -1, 1e-9);
  for (const auto& point : on_field[0].active()) EXPECT_NEAR(point.depth, 0.005, 1e-9);
}

TEST(Contact, EveryPartOfACompoundTouches)
{
  model::Compound table;
  for (const double x : {-1.0, 1.0}) {
    table.parts.push_back({at(x, 0, -0.5), std::make_shared<Shape>(Shape{model::Box{{0.1, 0.1, 0.5}}})});
  }
  const auto patches = touch(Shape{table}, at(0, 0, 0.995), Shape{model::Plane{}}, at(0, 0, 0));
  ASSERT_EQ(patches.size(), 2u);
  std::set<std::uint32_t> parts;
  for (const auto& patch : patches) {
    parts.insert(patch.part_a);
    EXPECT_EQ(patch.count, 4);
  }
  EXPECT_EQ(parts, (std::set<std::uint32_t>{0, 1}));
}

// A body that moves a little keeps the names of its contact points.
TEST(Contact, FeaturesStayTheSameWhenABoxShifts)
{
  const auto before = touch(kUnitBox, at(0, 0, 0), kUnitBox, at(0.3, 0.2, 0.999));
  const auto after = touch(kUnitBox, at(0, 0, 0), kUnitBox, at(0.301, 0.1995, 0.9991));
  ASSERT_EQ(before[0].count, after[0].count);
  for (std::size_t i = 0; i < before[0].count; ++i) {
    EXPECT_EQ(before[0].points[i].feature_a, after[0].points[i].feature_a);
    EXPECT_EQ(before[0].points[i].feature_b, after[0].points[i].feature_b);
  }
}

TEST(PreparedShape, RejectsNonPositiveSizes)
{
  EXPECT_THROW(static_cast<void>(prepare(Shape{model::Sphere{0}})), Error);
  EXPECT_THROW(static_cast<void>(prepare(Shape{model::Box{{1, -1, 1}}})), Error);
  EXPECT_THROW(static_cast<void>(prepare(Shape{model::Compound{}})), Error);
}

}  // namespace
}  // namespace thrum::collision
