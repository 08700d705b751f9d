// SPDX-License-Identifier: MIT
// One scene with each stepper, from its text to the last step: convex bodies, a mesh, a compound, a joint.
#include <gtest/gtest.h>

#include "thrum/scene/build_world.h"
#include "thrum/scene/scene_file.h"

namespace thrum::scene {
namespace {

constexpr const char* kScene = R"({
  "duration": 1,
  "bodies": [
    {"name": "ground", "shape": {"kind": "plane"}, "motion": "fixed"},
    {"name": "box", "shape": {"kind": "box", "size": [0.4, 0.4, 0.4]}, "position": [0, 0, 0.3],
     "repeat": [{"kind": "stack", "count": 3, "spacing": 0.45}]},
    {"name": "ball", "shape": {"kind": "sphere", "radius": 0.2}, "position": [0.1, 0, 2]},
    {"name": "ring", "shape": {"kind": "torus", "major_radius": 0.4, "minor_radius": 0.1},
     "position": [1.5, 0, 0.3]},
    {"name": "pair", "position": [1.5, 0, 1], "shape": {"kind": "compound", "parts": [
      {"shape": {"kind": "sphere", "radius": 0.1}},
      {"shape": {"kind": "box", "size": [0.1, 0.1, 0.4]}, "position": [0.2, 0, 0]}]}}
  ],
  "joints": [{"kind": "ball", "a": "ball", "position": [0.1, 0, 2.5]}]})";

class Steppers : public testing::TestWithParam<const char*> {};

TEST_P(Steppers, AScatteredSceneFallsAndStaysAboveTheGround)
{
  const ReadSceneDesc reading = {.settings = {std::string("stepper.kind=") + GetParam()}};
  const SceneDesc scene = parse_scene(kScene, "s.json", reading);
  BuiltScene built = build_world(scene);
  const double first = built.world.kinetic_energy() + built.world.potential_energy();
  for (int i = 0; i < 60; ++i) built.step(i * scene.step, scene.step);
  EXPECT_LT(built.world.kinetic_energy() + built.world.potential_energy(), first);
  for (const model::BodyState& body : built.world.state().bodies) {
    EXPECT_TRUE(body.X_wb.position.allFinite());
    EXPECT_GE(body.X_wb.position.z(), -0.01);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Steppers, testing::Values("constraint", "impulse", "penalty", "flexible"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace thrum::scene
