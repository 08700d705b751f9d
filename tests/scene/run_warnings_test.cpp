// SPDX-License-Identifier: MIT
#include "thrum/scene/run_warnings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "thrum/scene/build_world.h"
#include "thrum/scene/scene_file.h"

namespace thrum::scene {
namespace {

// A ball that slides on the ground; at 30 m/s it needs more slices than one in each step.
std::vector<std::string> after_steps(int steps, double speed)
{
  const SceneDesc scene = parse_scene(R"({"stepper": {"max_slices": 1}, "bodies": [
      {"name": "ground", "shape": {"kind": "plane"}, "motion": "fixed"},
      {"name": "ball", "shape": {"kind": "sphere", "radius": 0.05}, "position": [0, 0, 0.05]}]})",
                                      "s.json");
  BuiltScene built = build_world(scene);
  built.world.set_velocity(built.world.bodies().back(), {speed, 0, 0}, Vec3::Zero());
  for (int i = 0; i < steps; ++i) built.world.step(0.005);
  return limit_warnings(built.world);
}

TEST(RunWarnings, NothingIsSaidOfLimitsThatWereKept)
{
  EXPECT_TRUE(after_steps(2, 0.1).empty());
}

TEST(RunWarnings, OneStepIsNotSeveral)
{
  for (const int steps : {1, 2}) {
    const std::vector<std::string> warnings = after_steps(steps, 30);
    ASSERT_EQ(warnings.size(), 1U) << steps;
    const std::string begin = steps == 1 ? "1 step needed more slices" : "2 steps needed more slices";
    EXPECT_TRUE(warnings.front().starts_with(begin)) << warnings.front();
  }
}

}  // namespace
}  // namespace thrum::scene
