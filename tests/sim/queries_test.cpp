// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tests/sim/world_fixture.h"
#include "thrum/sim/world_queries.h"

namespace thrum::sim {
namespace {

using namespace testing;

struct Row {
  World world{desc_without_sleep()};
  model::BodyId plane = add_plane(world);
  model::BodyId box = add_box(world, Vec3::Constant(0.5), {0, 0, 0.5});
  model::BodyId ball = add(world, {model::Sphere{0.5}}, {3, 0, 0.5});
  model::BodyId cylinder = add(world, {model::Cylinder{0.5, 0.5}}, {6, 0, 0.5});
};

TEST(Query, ARayMeetsTheFirstBodyWhereTheFormulaSays)
{
  Row row;
  const auto box = cast_ray(row.world, {{-5, 0.2, 0.7}, Vec3::UnitX(), 100});
  ASSERT_TRUE(box);
  EXPECT_EQ(box->body, row.box);
  EXPECT_NEAR(box->hit.distance, 4.5, 1e-6);
  EXPECT_NEAR((box->hit.normal + Vec3::UnitX()).norm(), 0, 1e-6);
  const auto ball = cast_ray(row.world, {{3.3, 0, 5}, -Vec3::UnitZ(), 100});
  ASSERT_TRUE(ball);
  EXPECT_EQ(ball->body, row.ball);
  EXPECT_NEAR(ball->hit.position.z(), 0.5 + 0.4, 1e-6);  // 3-4-5
  const auto floor = cast_ray(row.world, {{1.5, 0, 5}, -Vec3::UnitZ(), 100});
  ASSERT_TRUE(floor);
  EXPECT_EQ(floor->body, row.plane);
  EXPECT_FALSE(cast_ray(row.world, {{1.5, 0, 5}, Vec3::UnitZ(), 100}));
}

TEST(Query, TheClosestBodyAndItsDistance)
{
  Row row;
  const auto near = closest_body(row.world, {3, 0, 1.3}, 10);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->body, row.ball);
  EXPECT_NEAR(near->point.distance, 0.3, 1e-9);
  EXPECT_FALSE(closest_body(row.world, {0, 0, 50}, 1));
}

TEST(Query, OverlappingBodies)
{
  Row row;
  const auto found =
      overlapping_bodies(row.world, {model::Box{{2, 0.1, 0.1}}}, {{1.5, 0, 0.5}, Quat::Identity()});
  EXPECT_EQ(found, (std::vector<model::BodyId>{row.box, row.ball}));
}

}  // namespace
}  // namespace thrum::sim
