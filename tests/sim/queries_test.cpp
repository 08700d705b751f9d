// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <limits>

#include "tests/sim/world_fixture.h"
#include "thrum/base/error.h"
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

TEST(Query, AllHitsOfARayInOrder)
{
  Row row;
  const auto hits = cast_ray_all(row.world, {{-5, 0, 0.5}, Vec3::UnitX(), 100});
  ASSERT_EQ(hits.size(), 3u);
  EXPECT_EQ(hits[0].body, row.box);
  EXPECT_EQ(hits[1].body, row.ball);
  EXPECT_EQ(hits[2].body, row.cylinder);
  EXPECT_NEAR(hits[2].hit.distance, 10.5, 1e-6);
}

TEST(Query, AShapeCastStopsAtTheFirstBody)
{
  Row row;
  const auto ball =
      cast_shape(row.world, {model::Sphere{0.25}}, {{1.5, 0, 0.5}, Quat::Identity()}, {10, 0, 0});
  ASSERT_TRUE(ball);
  EXPECT_EQ(ball->body, row.ball);
  EXPECT_NEAR(ball->hit.fraction, 0.075, 1e-7);  // from 1.5 to 3 - 0.5 - 0.25
  EXPECT_NEAR((ball->hit.position - Vec3(2.5, 0, 0.5)).norm(), 0, 1e-6);
  EXPECT_NEAR((ball->hit.normal + Vec3::UnitX()).norm(), 0, 1e-6);
  const auto floor =
      cast_shape(row.world, {model::Box{{0.1, 0.2, 0.3}}}, {{1.5, 0, 5}, Quat::Identity()}, {0, 0, -10});
  ASSERT_TRUE(floor);
  EXPECT_EQ(floor->body, row.plane);
  EXPECT_NEAR(floor->hit.fraction, 0.47, 1e-12);
  EXPECT_FALSE(cast_shape(row.world, {model::Sphere{0.2}}, {{0, 0, 5}, Quat::Identity()}, {10, 0, 0}));
}

TEST(Query, BodiesWithinADistanceNearestFirst)
{
  Row row;
  const auto near = bodies_within(row.world, {2, 0, 0.9}, 2);
  ASSERT_EQ(near.size(), 3u);
  EXPECT_EQ(near[0].body, row.ball);  // sqrt(1.16) - 0.5 = 0.577
  EXPECT_EQ(near[1].body, row.plane);
  EXPECT_EQ(near[2].body, row.box);
  EXPECT_NEAR(near[2].point.distance, 1.5, 1e-9);
  // Inside a body the distance is negative.
  const auto inside = closest_body(row.world, {3, 0, 0.6});
  ASSERT_TRUE(inside);
  EXPECT_NEAR(inside->point.distance, -0.4, 1e-9);
}

TEST(Query, FiltersByGroupMotionBodyAndPredicate)
{
  World world(desc_without_sleep());
  const auto ball_at = [&](double x, model::Motion motion, std::uint32_t group) {
    BodyDesc spec;
    spec.shape = world.add_shape({model::Sphere{0.5}});
    spec.motion = motion;
    spec.collision_group = group;
    spec.X_ws.position = {x, 0, 0};
    return world.add_body(spec);
  };
  const model::BodyId dynamic = ball_at(2, model::Motion::dynamic, 1);
  const model::BodyId kinematic = ball_at(4, model::Motion::kinematic, 2);
  const model::BodyId fixed = ball_at(6, model::Motion::fixed, 6);
  const collision::ShapeRay ray{{0, 0, 0}, Vec3::UnitX(), 10};
  const collision::PreparedShape tube = collision::prepare(world.model().shapes[0]);
  using Ids = std::vector<model::BodyId>;
  const model::Shape long_box{model::Box{{10, 0.1, 0.1}}};
  const auto check = [&](const QueryFilter& filter, const Ids& expected) {
    Ids met;
    for (const WorldRayHit& hit : cast_ray_all(world, ray, filter)) met.push_back(hit.body);
    EXPECT_EQ(met, expected);
    EXPECT_EQ(overlapping_bodies(world, long_box, Pose{}, filter), expected);
    Ids near;
    for (const ClosestBodyHit& hit : bodies_within(world, Vec3::Zero(), 20, filter)) near.push_back(hit.body);
    EXPECT_EQ(near, expected);
    const auto first = cast_ray(world, ray, filter);
    const auto cast = cast_shape(world, tube, Pose{}, {10, 0, 0}, filter);
    const auto closest = closest_body(world, Vec3::Zero(), 20, filter);
    ASSERT_EQ(first.has_value(), !expected.empty());
    ASSERT_EQ(cast.has_value(), !expected.empty());
    ASSERT_EQ(closest.has_value(), !expected.empty());
    if (expected.empty()) return;
    EXPECT_EQ(first->body, expected.front());
    EXPECT_EQ(cast->body, expected.front());
    EXPECT_EQ(closest->body, expected.front());
  };
  check({}, {dynamic, kinematic, fixed});
  check({.collides_with = 2}, {kinematic, fixed});
  check({.collides_with = 8}, {});
  check({.include_dynamic = false}, {kinematic, fixed});
  check({.include_kinematic = false}, {dynamic, fixed});
  check({.include_fixed = false}, {dynamic, kinematic});
  check({.excluded = {dynamic, fixed}}, {kinematic});
  check({.accepts =
             [&](model::BodyId id) {
               return id == fixed;
             }},
        {fixed});
  check({.collides_with = 1, .excluded = {dynamic}}, {});
}

// A sensor stands before a wall of the same size: each query finds it, or what is behind it.
TEST(Query, SensorsCanBeLeftOut)
{
  World world;
  BodyDesc spec;
  spec.shape = world.add_shape({model::Box{Vec3::Constant(0.5)}});
  spec.motion = model::Motion::fixed;
  spec.X_ws.position = {2, 0, 0};
  const model::BodyId wall = world.add_body(spec);
  spec.X_ws.position = {1, 0, 0};
  spec.sensor = true;
  const model::BodyId sensor = world.add_body(spec);
  for (const bool with : {true, false}) {
    const QueryFilter filter{.include_sensors = with};
    const model::BodyId expected = with ? sensor : wall;
    EXPECT_EQ(cast_ray(world, {{-2, 0, 0}, Vec3::UnitX(), 9}, filter)->body, expected);
    EXPECT_EQ(cast_ray_all(world, {{-2, 0, 0}, Vec3::UnitX(), 9}, filter).size(), with ? 2u : 1u);
    EXPECT_EQ(
        cast_shape(world, {model::Sphere{0.1}}, {{-2, 0, 0}, Quat::Identity()}, {9, 0, 0}, filter)->body,
        expected);
    EXPECT_EQ(closest_body(world, {0, 0, 0}, 9, filter)->body, expected);
    EXPECT_EQ(bodies_within(world, {0, 0, 0}, 9, filter).size(), with ? 2u : 1u);
    EXPECT_EQ(overlapping_bodies(world, {model::Sphere{0.2}}, {{1.4, 0, 0}, Quat::Identity()}, filter).size(),
              with ? 2u : 1u);
  }
}

TEST(Query, RejectsInputThatIsNotANumberOrHasNoDirection)
{
  Row row;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto rejects = [](auto&& query, const char* word) {
    try {
      query();
      ADD_FAILURE() << "accepted: " << word;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  const auto ray = [&](const collision::ShapeRay& r) {
    return [&row, r] {
      static_cast<void>(cast_ray(row.world, r));
    };
  };
  rejects(ray({{0, 0, 5}, Vec3::Zero(), 10}), "direction");
  rejects(ray({{0, 0, 5}, {nan, 0, 1}, 10}), "direction");
  rejects(ray({{0, 0, 5}, {infinity, 0, 1}, 10}), "direction");
  rejects(ray({{nan, 0, 5}, Vec3::UnitX(), 10}), "origin");
  rejects(ray({{0, 0, 5}, Vec3::UnitX(), -1}), "length");
  rejects(ray({{0, 0, 5}, Vec3::UnitX(), infinity}), "length");
  const auto cast = [&](const model::Shape& shape, const Pose& X_ws, const Vec3& motion) {
    return [&row, shape, X_ws, motion] {
      static_cast<void>(cast_shape(row.world, shape, X_ws, motion));
    };
  };
  rejects(cast({model::Sphere{1}}, Pose{}, {0, nan, 0}), "motion");
  rejects(cast({model::Sphere{1}}, {{nan, 0, 0}, Quat::Identity()}, {0, 1, 0}), "pose");
  rejects(cast({model::Sphere{1}}, {{0, 0, 0}, Quat(2, 0, 0, 0)}, {0, 1, 0}), "pose");
  rejects(cast({model::Plane{}}, Pose{}, {0, 1, 0}), "plane");
  rejects([&] { static_cast<void>(closest_body(row.world, {0, 0, nan}, 1)); }, "point");
  rejects([&] { static_cast<void>(closest_body(row.world, {0, 0, 0}, -1)); }, "distance");
}

// A ray is a direction and a length in metres, whatever the length of the vector.
TEST(Query, ADirectionNeedNotBeAUnitVector)
{
  Row row;
  const auto hit = cast_ray(row.world, {{-5, 0.2, 0.7}, {1e-200, 0, 0}, 100});
  ASSERT_TRUE(hit);
  EXPECT_NEAR(hit->hit.distance, 4.5, 1e-6);
}

}  // namespace
}  // namespace thrum::sim
