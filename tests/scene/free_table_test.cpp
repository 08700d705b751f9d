// SPDX-License-Identifier: MIT
// A table that rings and is free to move: its rigid motion, its feet and its modes share one impact.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "thrum/scene/build_world.h"

namespace thrum::scene {
namespace {

// A ball of 7 kg falls 0.6 m on one end of the table of the catalogue; a mug stands 0.8 m away. How high the
// mug rises [m].
double mug_rise(const std::string& rings, double h)
{
  const SceneDesc scene =
      parse_scene(R"({"length_scale": 0.2, "step": )" + std::to_string(h) + R"(, "bodies": [
    {"name": "floor", "shape": {"kind": "plane"}, "motion": "fixed"},
    {"name": "table", "shape": {"kind": "table"}, "material": "wood", "rings": )" +
                      rings + R"(},
    {"name": "mug", "shape": {"kind": "mug"}, "material": "ceramic", "mass": 0.3, "position": [0.4, 0, 0.7401]},
    {"name": "ball", "shape": {"kind": "sphere", "radius": 0.06}, "material": "steel", "mass": 7,
     "position": [-0.4, 0, 1.41]}]})",
                  "free_table.json");
  BuiltScene built = build_world(scene);
  const auto height = [&] {
    return built.world.state().bodies[2].X_wb.position.z();
  };
  const double start = height();
  double highest = 0;
  const auto steps = static_cast<int>(std::lround(0.6 / scene.step));
  for (int i = 0; i < steps; ++i) {
    built.step(i * scene.step, scene.step);
    highest = std::max(highest, height() - start);
  }
  return highest;
}

TEST(FreeTable, AMugRisesByTheSameHeightAtAnyStep)
{
  const double reference = mug_rise("{}", 0.001);
  EXPECT_GT(reference, 2e-3);
  for (const double h : {1.0 / 30, 1.0 / 60, 0.01, 0.005}) {
    const double rise = mug_rise("{}", h);
    EXPECT_LT(rise, 1.5 * reference) << h;
    EXPECT_GT(rise, reference / 1.5) << h;
  }
}

}  // namespace
}  // namespace thrum::scene
