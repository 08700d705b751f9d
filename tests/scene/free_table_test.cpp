// SPDX-License-Identifier: MIT
// A table that rings and is free to move: its rigid motion, its feet and its modes share one impact.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "thrum/scene/build_world.h"

namespace thrum::scene {
namespace {

// A ball of 7 kg falls by `drop` on one end of the table of the catalogue; a mug stands 0.8 m away. How high
// the mug rises [m].
double mug_rise(const std::string& rings, double h, double drop, const std::string& rule)
{
  const SceneDesc scene = parse_scene(R"({"length_scale": 0.2, "step": )" + std::to_string(h) +
                                          R"(, "response": {"rule": ")" + rule + R"("}, "bodies": [
    {"name": "floor", "shape": {"kind": "plane"}, "motion": "fixed"},
    {"name": "table", "shape": {"kind": "table"}, "material": "wood", "rings": )" +
                                          rings + R"(},
    {"name": "mug", "shape": {"kind": "mug"}, "material": "ceramic", "mass": 0.3, "position": [0.4, 0, 0.7401]},
    {"name": "ball", "shape": {"kind": "sphere", "radius": 0.06}, "material": "steel", "mass": 7,
     "position": [-0.4, 0, )" + std::to_string(0.81 + drop) +
                                          R"(]}]})",
                                      "free_table.json");
  BuiltScene built = build_world(scene);
  const auto height = [&] {
    return built.world.state().bodies[2].X_wb.position.z();
  };
  const double start = height();
  double highest = 0;
  const auto steps = static_cast<int>(std::lround(0.5 / scene.step));
  for (int i = 0; i < steps; ++i) {
    built.step(i * scene.step, scene.step);
    highest = std::max(highest, height() - start);
  }
  return highest;
}

// Whatever the step, and wherever in it the impact falls: at some drops the ball is still moving at the end
// of the step in which it arrives. From 0.58 to 0.59 m the energy changes by 2 %.
TEST(FreeTable, AMugRisesByTheSameHeightAtAnyStepAndPhase)
{
  for (const char* rule : {"automatic", "micro_collisions"}) {
    const double reference = mug_rise("{}", 0.01, 0.585, rule);
    EXPECT_GT(reference, 2e-3);
    using Case = std::pair<double, double>;
    for (const auto& [h, drop] : {Case(1.0 / 30, 0.58), Case(1.0 / 60, 0.59), Case(0.01, 0.58),
                                  Case(0.005, 0.58), Case(0.005, 0.59), Case(0.001, 0.58)}) {
      const double rise = mug_rise("{}", h, drop, rule);
      EXPECT_LT(rise, 1.2 * reference) << rule << ", h " << h << ", drop " << drop;
      EXPECT_GT(rise, reference / 1.2) << rule << ", h " << h << ", drop " << drop;
    }
  }
}

// With 100 modes nothing is missing that the impact excites; `exchange` gives 69 to 84 mm instead of 30.
TEST(FreeTable, FewModesGiveTheHeightOfMany)
{
  const double reference = mug_rise(R"({"modes": 100})", 0.01, 0.585, "micro_collisions");
  for (const int modes : {20, 60}) {
    const double rise = mug_rise("{\"modes\": " + std::to_string(modes) + "}", 0.01, 0.585, "automatic");
    RecordProperty("modes_" + std::to_string(modes), std::to_string(rise));
    EXPECT_LT(rise, 1.5 * reference) << modes << " modes";
    EXPECT_GT(rise, reference / 1.5) << modes << " modes";
  }
}

}  // namespace
}  // namespace thrum::scene
