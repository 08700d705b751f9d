// SPDX-License-Identifier: MIT
#include "thrum/sim/support_regions.h"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using testing::add_box;
using testing::add_plane;

mesh::TriangleMesh box_mesh(const Vec3& half)
{
  mesh::TriangleMesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.emplace_back((i & 1) != 0 ? half.x() : -half.x(), (i & 2) != 0 ? half.y() : -half.y(),
                               (i & 4) != 0 ? half.z() : -half.z());
  }
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

/// Each side of the box is where it is wanted, within what widening, rounding and sampling may do.
void expect_box(const Box3& box, const Box3& wanted, const SupportRegionDesc& desc, double size)
{
  const double off = (desc.margin * 1.1 + desc.sample_spacing) * size + 1e-9;
  EXPECT_LT((box.min() - wanted.min()).cwiseAbs().maxCoeff(), off);
  EXPECT_LT((box.max() - wanted.max()).cwiseAbs().maxCoeff(), off);
}

const Vec3 kHalf(0.5, 0.3, 0.02);
const double kSize = 2 * kHalf.norm();

TEST(SupportRegions, IsTheBottomOfABoxOnTheFloor)
{
  World world;
  add_plane(world);
  const model::BodyId slab = add_box(world, kHalf, {0, 0, 0.02});
  const SupportRegionDesc desc;
  const std::vector<Box3> places = find_support_regions(world, slab, box_mesh(kHalf), desc);
  ASSERT_EQ(places.size(), 1U);
  expect_box(places[0], Box3(Vec3(-0.5, -0.3, -0.02), Vec3(0.5, 0.3, -0.02)), desc, kSize);
}

// The corners of the slab touch nothing: its bottom is looked at in between.
TEST(SupportRegions, AreWhereTheBricksAre)
{
  World world;
  add_plane(world);
  (void)add_box(world, {0.05, 0.1, 0.05}, {-0.35, 0, 0.05});
  (void)add_box(world, {0.05, 0.1, 0.05}, {0.35, 0, 0.05});
  const model::BodyId slab = add_box(world, kHalf, {0, 0, 0.12});
  (void)add_box(world, {0.1, 0.1, 0.1}, {0, 0, 0.24});  // lies on it
  const SupportRegionDesc desc;
  const std::vector<Box3> places = find_support_regions(world, slab, box_mesh(kHalf), desc);
  ASSERT_EQ(places.size(), 2U);
  expect_box(places[0], Box3(Vec3(-0.4, -0.1, -0.02), Vec3(-0.3, 0.1, -0.02)), desc, kSize);
  expect_box(places[1], Box3(Vec3(0.3, -0.1, -0.02), Vec3(0.4, 0.1, -0.02)), desc, kSize);
}

// In the axes of the shape, however the body is turned.
TEST(SupportRegions, TurnWithTheBody)
{
  World world;
  add_plane(world);
  const Quat turned(Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitY()));
  const model::BodyId slab = add_box(world, kHalf, {0, 0, 0.5}, 1, turned);
  const SupportRegionDesc desc;
  const std::vector<Box3> places = find_support_regions(world, slab, box_mesh(kHalf), desc);
  ASSERT_EQ(places.size(), 1U);
  // The x axis of the slab points down.
  expect_box(places[0], Box3(Vec3(0.5, -0.3, -0.02), Vec3(0.5, 0.3, 0.02)), desc, kSize);
}

TEST(SupportRegions, AreNoneInTheAirAndWithoutGravity)
{
  World world;
  add_plane(world);
  const model::BodyId slab = add_box(world, kHalf, {0, 0, 0.5});
  EXPECT_TRUE(find_support_regions(world, slab, box_mesh(kHalf)).empty());
  WorldDesc weightless;
  weightless.gravity = Vec3::Zero();
  World space(weightless);
  add_plane(space);
  EXPECT_TRUE(find_support_regions(space, add_box(space, kHalf, {0, 0, 0.02}), box_mesh(kHalf)).empty());
}

TEST(StepToRest, LetsABodyComeToRestFirst)
{
  World world;
  add_plane(world);
  const model::BodyId slab = add_box(world, kHalf, {0, 0, 0.07});
  const model::SceneState before = world.save();
  const base::Hash128 hash = world.hash();
  ASSERT_TRUE(step_to_rest(world, std::span(&slab, 1)));
  EXPECT_NEAR(world.body(slab).X_wb.position.z(), 0.02, 0.002);
  EXPECT_EQ(find_support_regions(world, slab, box_mesh(kHalf)).size(), 1U);
  world.restore(before);
  EXPECT_EQ(world.hash(), hash);
}

TEST(StepToRest, ReportsWhenTheBodyDoesNotComeToRest)
{
  World world;
  const model::BodyId slab = add_box(world, kHalf, {0, 0, 0});
  EXPECT_FALSE(step_to_rest(world, std::span(&slab, 1), {.max_time = 0.5}));
  // What is fixed is at rest.
  BodyDesc spec;
  spec.shape = world.add_shape({model::Box{kHalf}});
  spec.motion = model::Motion::fixed;
  const model::BodyId fixed = world.add_body(spec);
  EXPECT_TRUE(step_to_rest(world, std::span(&fixed, 1), {.max_time = 0.5}));
}

}  // namespace
}  // namespace thrum::sim
