// SPDX-License-Identifier: MIT
// A table that rings and is free to move: its rigid motion, its feet and its modes share one impact.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

// A wooden plate lies loose on four feet; a ball of 1 kg falls on it, and two boxes stand on it. How high
// each box gets by its first hop [m]: where it is when the impact is answered, and what its speed adds.
std::array<double, 2> first_hops(double h, double phase)
{
  const SceneDesc scene = parse_scene(R"({"length_scale": 0.2, "bodies": [
    {"name": "floor", "shape": {"kind": "plane"}, "motion": "fixed", "material": "hard"},
    {"name": "foot", "shape": {"kind": "box", "size": [0.05, 0.05, 0.1]}, "position": [-0.45, -0.3, 0.05],
     "motion": "fixed", "material": "hard",
     "repeat": [{"kind": "grid", "count": [2, 2, 1], "spacing": [0.9, 0.6, 0.1], "centred": false}]},
    {"name": "plate", "shape": {"kind": "box", "size": [1.1, 0.8, 0.02]}, "position": [0, 0, 0.11],
     "material": "plate", "rings": {"modes": 60, "grid": [0.055, 0.05, 0.02]}},
    {"name": "box_a", "shape": {"kind": "box", "size": [0.06, 0.06, 0.04]}, "mass": 0.2, "material": "hard",
     "position": [0.3, 0.1, 0.14]},
    {"name": "box_b", "shape": {"kind": "box", "size": [0.06, 0.06, 0.04]}, "mass": 0.2, "material": "hard",
     "position": [-0.05, 0.2, 0.14]},
    {"name": "ball", "shape": {"kind": "sphere", "radius": 0.03}, "mass": 1, "material": "hard",
     "position": [-0.25, -0.1, 0.35]}],
    "materials": [{"name": "hard", "base": "steel", "friction": 0.4, "restitution": 0.2},
                  {"name": "plate", "base": "wood", "friction": 0.4, "restitution": 0.2}],
    "response": {"rule": "micro_collisions"}})",
                                      "free_plate.json");
  constexpr double kGravity = 9.81;
  constexpr std::array<std::size_t, 2> kBoxes = {6, 7};
  BuiltScene built = build_world(scene);
  const auto& bodies = built.world.state().bodies;
  const std::array<double, 2> start = {bodies[kBoxes[0]].X_wb.position.z(),
                                       bodies[kBoxes[1]].X_wb.position.z()};
  double time = 0;
  for (int i = 0; time < 0.3 && built.responder->report().impacts == 0; ++i) {
    built.step(time, i == 0 ? phase * h : h);
    time += i == 0 ? phase * h : h;
  }
  std::array<double, 2> tops = {};
  for (std::size_t k = 0; k < 2; ++k) {
    const model::BodyState& box = bodies[kBoxes[k]];
    const double speed = std::max(0.0, box.velocity.z());
    tops[k] = box.X_wb.position.z() - start[k] + speed * speed / (2 * kGravity);
  }
  return tops;
}

// The flexible stepper lets them rise by 3.5 to 4.6 and 1.4 to 1.7 mm as the drop changes by 2 %. Points of
// the feet that are new were taken for strikers: 3.2 to 7.4 and 0.6 to 3.2 mm.
TEST(FreePlate, BoxesRiseByTheSameHeightAtAnyStepAndPhase)
{
  for (const double rate : {30.0, 47.0, 60.0, 100.0, 200.0, 1000.0}) {
    for (const double phase : {0.17, 0.5, 0.83, 0.9, 1.0}) {
      const std::array<double, 2> tops = first_hops(1 / rate, phase);
      EXPECT_NEAR(1e3 * tops[0], 3.6, 0.5) << "1/" << rate << " s, phase " << phase;
      EXPECT_NEAR(1e3 * tops[1], 1.5, 0.25) << "1/" << rate << " s, phase " << phase;
    }
  }
}

// A ball falls on a clamped plate, on which a board lies that rings itself, with three boxes on it: how high
// each box rises [m] when the first of the steps of 10 ms has this share of the others.
std::array<double, 3> rises_on_board(double phase)
{
  const SceneDesc scene = parse_scene(R"({"length_scale": 0.1, "bodies": [
    {"name": "plate", "shape": {"kind": "box", "size": [1.6, 0.8, 0.05]}, "motion": "fixed", "material": "timber",
     "rings": {"modes": 50, "clamp": "y>0.35", "spacing": 0.05}},
    {"name": "board", "shape": {"kind": "box", "size": [0.44, 0.36, 0.03]}, "material": "timber",
     "position": [0.33, 0, 0.04], "rings": {"modes": 20, "spacing": 0.03}},
    {"name": "left", "shape": {"kind": "box", "size": [0.07, 0.083, 0.06]}, "material": "timber",
     "position": [0.19, 0.094, 0.085], "mass": 0.257},
    {"name": "middle", "shape": {"kind": "box", "size": [0.098, 0.092, 0.06]}, "material": "timber",
     "position": [0.33, -0.079, 0.085], "mass": 0.291},
    {"name": "right", "shape": {"kind": "box", "size": [0.061, 0.097, 0.06]}, "material": "timber",
     "position": [0.47, -0.069, 0.085], "mass": 0.18},
    {"name": "ball", "shape": {"kind": "sphere", "radius": 0.05}, "material": "timber", "mass": 2.77,
     "position": [-0.4, -0.16, 0.38]}],
    "materials": [{"name": "timber", "density": 770, "young": 1.1e9, "poisson": 0.3, "alpha": 60, "beta": 2e-6,
                   "friction": 0.5, "restitution": 0.15}],
    "response": {"rule": "micro_collisions"}})",
                                      "board.json");
  constexpr double kStep = 0.01;
  BuiltScene built = build_world(scene);
  const auto& bodies = built.world.state().bodies;
  std::array<double, 3> rises = {};
  double time = 0;
  for (int i = 0; time < 0.5; ++i) {
    const double step = i == 0 ? phase * kStep : kStep;
    built.step(time, step);
    time += step;
    for (std::size_t k = 0; k < rises.size(); ++k)
      rises[k] = std::max(rises[k], bodies[k + 2].X_wb.position.z() - 0.085);
  }
  return rises;
}

// The board comes down on one corner while the ball lands a second time. It took the fall of the response's
// window with it, so that boxes rose up to 1.55 times as high in four of these phases.
TEST(ThrownBoard, BoxesRiseByTheSameHeightWhereverTheBlowFalls)
{
  const std::array<double, 3> usual = rises_on_board(0.4);
  for (const double phase : {0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}) {
    const std::array<double, 3> rises = rises_on_board(phase);
    for (std::size_t k = 0; k < rises.size(); ++k) {
      EXPECT_LT(rises[k], 1.3 * usual[k]) << "box " << k << ", phase " << phase;
      EXPECT_GT(rises[k], usual[k] / 1.3) << "box " << k << ", phase " << phase;
    }
  }
}

}  // namespace
}  // namespace thrum::scene
