// SPDX-License-Identifier: MIT
// The scenes of the rigid-body steppers do what their first lines say.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <set>

#include "tests/scene/played.h"

namespace thrum::scene {
namespace {

TEST(RigidScenes, TheTowerStands)
{
  Played scene("tower.json", {});
  scene.play(2);
  EXPECT_LT(scene.drift(), 0.001);
}

TEST(RigidScenes, HeavyStandsOnLightWithBothSteppers)
{
  for (const char* stepper : {"constraint", "impulse"}) {
    Played scene("heavy_on_light.json", {std::string("stepper.kind=") + stepper});
    scene.play(2);
    EXPECT_LT(scene.drift(), 0.001) << stepper;
  }
}

TEST(RigidScenes, ThePyramidStands)
{
  Played scene("pyramid.json", {});
  scene.play(1);
  EXPECT_LT(scene.drift(), 0.01);
}

TEST(RigidScenes, TheBoxOnTheInclineRestsOrSlides)
{
  Played rests("incline.json", {});
  rests.play(2);
  EXPECT_LT(rests.drift(), 1e-4);
  Played slides("incline.json", {"parameters.friction=0.5"});
  slides.play(2);
  EXPECT_NEAR(slides.moved(1).x(), 1.314, 0.005 * 1.314);
}

TEST(RigidScenes, TheFlatBoxComesBackToItsHeight)
{
  Played scene("bouncing_box.json", {});
  scene.play(9);
  double peak = 0;
  while (scene.time < 10) {
    scene.play(scene.step);
    peak = std::max(peak, scene.built.world.state().bodies[1].X_wb.position.z() - 0.1);
  }
  EXPECT_NEAR(peak, 1.0, 0.01);
  EXPECT_LT(scene.moved(1).head<2>().norm(), 1e-3);
}

TEST(RigidScenes, TheCardHouseStands)
{
  Played scene("card_house.json", {});
  scene.play(5);
  EXPECT_LT(scene.drift(), 0.002);
}

// No two bodies of the pile have the same mesh: their volumes and bounds differ.
TEST(RigidScenes, TheNonconvexPileHasNoTwoBodiesAlike)
{
  Played scene("nonconvex_pile.json", {"parameters.layers=1"});
  const model::SceneModel& model = scene.built.world.model();
  std::set<std::array<double, 4>> kinds;
  std::size_t moving = 0;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (model.bodies[i].motion != model::Motion::dynamic) continue;
    const mesh::TriangleMesh& mesh = *scene.built.meshes[scene.built.visuals[i].mesh];
    Box3 box;
    for (const Vec3& v : mesh.vertices) box.extend(v);
    const Vec3 size = box.sizes();
    kinds.insert({model.bodies[i].mass, size.x(), size.y(), size.z()});
    ++moving;
  }
  EXPECT_EQ(moving, 25U);
  EXPECT_EQ(kinds.size(), moving);
}

// A ball on the side of a valley rolls to its middle and stays near it.
TEST(RigidScenes, ABallRollsDownAHeightField)
{
  BuiltScene built = build_world(parse_scene(R"({
    "materials": [{"name": "felt", "density": 1000, "friction": 0.8, "rolling_friction": 0.01}],
    "bodies": [
      {"name": "valley", "motion": "fixed", "material": "felt", "position": [-2, -1, 0],
       "shape": {"kind": "height_field", "columns": 5, "spacing": 1,
                 "heights": [1, 0.4, 0, 0.4, 1,  1, 0.4, 0, 0.4, 1,  1, 0.4, 0, 0.4, 1]}},
      {"name": "ball", "material": "felt", "shape": {"kind": "sphere", "radius": 0.2}, "position": [-1.2, 0, 1]}]})",
                                             "valley.json"));
  for (int i = 0; i < 600; ++i) built.step(i / 60.0, 1.0 / 60);
  const Vec3 p = built.world.state().bodies[1].X_wb.position;
  // Between two slopes of 0.4 the ball stands 0.2 / cos above the bottom.
  EXPECT_NEAR(p.x(), 0, 0.02);
  EXPECT_NEAR(p.z(), 0.2 * std::sqrt(1 + 0.4 * 0.4), 0.01);
}

// Each falls after the one before it.
TEST(RigidScenes, TheDominoesFallInOrder)
{
  Played scene("dominoes.json", {"parameters.count=20"});
  std::vector<double> fell(20, 0);
  const std::size_t first = scene.find("domino/0");
  while (scene.time < 3) {
    scene.play(scene.step);
    for (std::size_t i = 0; i < fell.size(); ++i) {
      const Vec3 up = scene.built.world.state().bodies[first + i].X_wb.rotation * Vec3::UnitZ();
      if (fell[i] == 0 && up.z() < std::cos(0.5)) fell[i] = scene.time;
    }
  }
  for (std::size_t i = 0; i < fell.size(); ++i) {
    EXPECT_GT(fell[i], 0) << i;
    if (i > 0) {
      EXPECT_GE(fell[i], fell[i - 1]) << i;
    }
  }
}

// The last ball takes the swing over and the three between stay; half a period later the first one has it
// back.
TEST(RigidScenes, TheCradlePassesItsMomentumOn)
{
  Played scene("newtons_cradle.json", {});
  const std::size_t first = scene.find("first");
  const std::size_t last = scene.find("ball/3");
  // Let go at 40 degrees on 0.2 m, to come back there swing after swing. The first two go out and back in
  // 1.84 s: a period is 2 pi sqrt(l / g) (1 + a^2 / 16 + ...) = 0.925 s at 40 degrees.
  const double swing = 0.2 * std::sin(40 * std::numbers::pi / 180);
  double out = 0;
  double back = 1;
  double between = 0;
  while (scene.time < 1.84) {
    scene.play(scene.step);
    out = std::max(out, scene.moved(last).x());
    if (scene.time > 0.5) back = std::min(back, scene.moved(first).x());
    for (const char* ball : {"ball/0", "ball/1", "ball/2"})
      between = std::max(between, scene.moved(scene.find(ball)).norm());
  }
  EXPECT_NEAR(out, swing, 0.02 * swing);
  EXPECT_NEAR(back, 0, 0.04 * swing);
  EXPECT_LT(between, 0.005);
}

}  // namespace
}  // namespace thrum::scene
