// SPDX-License-Identifier: MIT
// What stands on a body that is thrown is thrown with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "thrum/scene/build_world.h"

namespace thrum::scene {
namespace {

enum class Load { loose, glued, none };

// A ball falls on a plate that is held along one edge; 0.6 m away stands a tray with a block on it. How high
// the centre of mass of tray and block rises [m].
double stack_rise(Load load, const std::string& rule, double h)
{
  const std::string tray = R"({"kind": "box", "size": [0.2, 0.2, 0.02]})";
  const std::string block = R"({"kind": "box", "size": [0.1, 0.1, 0.1]})";
  std::string bodies;
  const std::string standing =
      R"({"name": "tray", "material": "stuff", "position": [0.3, -0.1, 0.035], "shape": )";
  if (load == Load::glued) {
    bodies = standing + R"({"kind": "compound", "parts": [{"shape": )" + tray + R"(}, {"shape": )" + block +
             R"(, "position": [0, 0, 0.06]}]}})";
  } else {
    bodies = standing + tray + "}";
    if (load == Load::loose)
      bodies += R"(, {"name": "block", "material": "stuff", "position": [0.3, -0.1, 0.095], "shape": )" +
                block + "}";
  }
  const SceneDesc scene = parse_scene(R"({"length_scale": 0.1, "step": )" + std::to_string(h) +
                                          R"(, "response": {"rule": ")" + rule +
                                          R"("}, "materials": [
     {"name": "timber", "density": 770, "young": 1.1e9, "poisson": 0.3, "alpha": 60, "beta": 2e-6, "friction": 0.5,
      "restitution": 0.15},
     {"name": "stuff", "base": "wood", "density": 800, "friction": 0.5, "restitution": 0}], "bodies": [
     {"name": "plate", "motion": "fixed", "material": "timber", "shape": {"kind": "box", "size": [1.6, 0.8, 0.05]},
      "rings": {"modes": 50, "clamp": "y>0.35", "spacing": 0.05}},
     {"name": "ball", "material": "timber", "mass": 5, "shape": {"kind": "sphere", "radius": 0.05},
      "position": [-0.3, -0.2, 0.675]}, )" +
                                          bodies + "]}",
                                      "stack.json");
  BuiltScene built = build_world(scene);
  const auto height = [&] {
    const auto& all = built.world.state().bodies;
    double sum = 0, mass = 0;
    for (std::size_t b = 2; b < all.size(); ++b) {
      const double m = built.world.model().bodies[b].mass;
      sum += m * all[b].X_wb.position.z();
      mass += m;
    }
    return sum / mass;
  };
  double start = height();
  double highest = 0;
  const auto steps = static_cast<int>(std::lround(0.65 / h));
  for (int i = 0; i < steps; ++i) {
    if (i * h < 0.3) start = height();  // at rest, before the ball arrives
    built.step(i * h, h);
    highest = std::max(highest, height() - start);
  }
  return highest;
}

// A loose block on a tray is thrown as high as one that is part of it. A tray that is thrown alone shares its
// momentum with the block: (0.64 / 1.44)^2 = 0.2 of the height.
TEST(ResponseStacks, ALooseLoadRisesLikeOneThatIsFixed)
{
  for (const char* rule : {"micro_collisions", "exchange"}) {
    for (const double h : {1.0 / 60, 0.01, 0.005, 0.001}) {
      const double glued = stack_rise(Load::glued, rule, h);
      EXPECT_GT(glued, 2e-3) << rule << ", h " << h;
      EXPECT_NEAR(stack_rise(Load::loose, rule, h) / glued, 1, 0.15) << rule << ", h " << h;
    }
  }
}

// The rules that ask the solver for a speed lift the load anyway, and are left as they are.
TEST(ResponseStacks, PeakVelocityLiftsALoadThroughTheSolver)
{
  const double alone = stack_rise(Load::none, "peak_velocity", 0.01);
  EXPECT_NEAR(stack_rise(Load::loose, "peak_velocity", 0.01) / alone, 1, 0.3);
}

}  // namespace
}  // namespace thrum::scene
