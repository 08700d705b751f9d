// SPDX-License-Identifier: MIT
// The figures of [Guendelman03] as scene files, run with `--set stepper.kind=impulse`: each by its outcome,
// at several steps. docs/methods/impulse_stepper.md lists the commands.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/scene/played.h"
#include "tests/sim/linked_circles.h"

namespace thrum::scene {
namespace {

class ImpulseScenes : public ::testing::TestWithParam<int> {
 protected:
  static Played play(const char* name, double seconds, std::vector<std::string> settings = {})
  {
    settings.push_back("stepper.kind=impulse");
    settings.push_back(fmt::format("step={}", 1.0 / GetParam()));
    Played scene(name, settings);
    scene.play(seconds);
    return scene;
  }
};
INSTANTIATE_TEST_SUITE_P(Steps, ImpulseScenes, ::testing::Values(30, 60, 144),
                         [](const auto& rate) { return "At" + std::to_string(rate.param); });

TEST_P(ImpulseScenes, ATowerOfThirtyStands)
{
  EXPECT_LT(play("tower.json", 3, {"parameters.count=30"}).drift(), 0.002);
}

TEST_P(ImpulseScenes, AThousandAndFiveThousandKilogramsStandOnTenOfOne)
{
  for (const char* load : {"parameters.load=1000", "parameters.load=5000"})
    EXPECT_LT(play("heavy_on_light.json", 3, {load}).drift(), 0.002) << load;
}

TEST_P(ImpulseScenes, ThePyramidStands)
{
  EXPECT_LT(play("pyramid.json", 2, {"parameters.rows=8"}).drift(), 0.005);
}

// At 1/30 s gravity moves what stands by 11 mm in a step, seven times the thickness of a card.
TEST_P(ImpulseScenes, TheCardHouseStands)
{
  EXPECT_LT(play("card_house.json", 3).drift(), 0.002);
}

// With restitution 1 it rests where friction holds it, and else slides g (sin a - mu cos a) t^2 / 2 without
// bouncing.
TEST_P(ImpulseScenes, TheBoxOnTheInclineRestsOrSlides)
{
  EXPECT_LT(play("incline.json", 2).drift(), 1e-4);
  const Vec3 moved = play("incline.json", 2, {"parameters.friction=0.5"}).moved(1);
  const double expected = 0.5 * 9.81 * (0.5 - 0.5 * std::sqrt(0.75)) * 4;
  EXPECT_NEAR(moved.x(), expected, 0.01 * expected);
  EXPECT_NEAR(moved.z(), 0, 1e-3);
}

// All fall, each after the one before, and the row stays on its line.
TEST_P(ImpulseScenes, TheDominoesFallInOrder)
{
  constexpr std::size_t kCount = 8;
  Played scene = play("dominoes.json", 0, {"parameters.count=8", "sound=false"});
  const std::size_t first = scene.find("domino/0");
  std::vector<double> fell(kCount, 0);
  while (scene.time < 1.5) {
    scene.play(scene.step);
    for (std::size_t i = 0; i < kCount; ++i) {
      const Vec3 up = scene.built.world.state().bodies[first + i].X_wb.rotation * Vec3::UnitZ();
      if (fell[i] == 0 && up.z() < std::cos(0.5)) fell[i] = scene.time;
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_GT(fell[i], 0) << i;
    if (i > 0) {
      EXPECT_GE(fell[i], fell[i - 1]) << i;
    }
    EXPECT_LT(std::abs(scene.moved(first + i).y()), 0.002) << i;
  }
}

// Plays on until 5 s. Rings overlap little on the way, none are linked at the end, and no more energy is left
// than `max_share` of what they had. A ring that stands on its edge rolls on for long.
void expect_heap(Played& scene, double max_share)
{
  constexpr double kMajor = 0.5;
  sim::World& world = scene.built.world;
  const double first = world.potential_energy();
  double worst = 0;
  while (scene.time < 5) {
    scene.play(scene.step);
    for (const model::ContactPatch& patch : world.state().patches)
      for (const model::ContactPoint& point : patch.active()) worst = std::max(worst, point.depth);
  }
  EXPECT_LT(worst, 0.03);
  std::vector<Pose> rings;
  for (std::size_t i = scene.find("ring/0"); i < scene.built.visuals.size(); ++i)
    rings.push_back(world.shape_pose(world.id_of(static_cast<model::BodyIndex>(i))));
  ASSERT_GE(rings.size(), 50U);
  for (std::size_t i = 0; i < rings.size(); ++i) {
    for (std::size_t j = i + 1; j < rings.size(); ++j)
      EXPECT_FALSE(test::are_linked(rings[i], rings[j], kMajor)) << i << ", " << j;
  }
  EXPECT_LT(world.kinetic_energy(), max_share * first);
}

TEST_P(ImpulseScenes, RingsInABoxFormAHeap)
{
  Played scene = play("rings_in_box.json", 0, {"parameters.layers=1", "sleep.enabled=false"});
  expect_heap(scene, 1e-3);
}

// Two layers of 25: each falls over a pole, and lies around it at the end.
TEST_P(ImpulseScenes, RingsFallOverThePoles)
{
  Played scene = play("rings_on_poles.json", 0, {"parameters.layers=2", "sleep.enabled=false"});
  expect_heap(scene, 1e-6);
  for (std::size_t i = scene.find("ring/0"); i < scene.start.size(); ++i) {
    // The pole, of radius 0.12, is inside the hole, of radius 0.35.
    const Vec3 pole = scene.start[i].position - Vec3(0.1, 0.05, 0);
    const Vec3 now = scene.built.world.state().bodies[i].X_wb.position;
    EXPECT_LT((now - pole).head<2>().norm(), 0.35 - 0.12 + 0.005) << i;
    EXPECT_LT(now.z(), 0.5) << i;
  }
}

}  // namespace
}  // namespace thrum::scene
