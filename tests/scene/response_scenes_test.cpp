// SPDX-License-Identifier: MIT
// What happens in the scenes of the distant response, in numbers: without it nothing but the striking body moves.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "thrum/scene/build_world.h"

namespace thrum::scene {
namespace {

const std::filesystem::path kSource = THRUM_SOURCE_DIR;

/// How far a body went from where it stood [m].
struct Went {
  double up = 0;
  double down = 0;
  double sideways = 0;  ///< at the end
};

std::map<std::string, Went> run(const std::string& name, bool response, double duration)
{
  ReadSceneDesc reading;
  if (!response) reading.settings = {"response.method=none"};
  const SceneDesc scene = read_scene(kSource / "scenes" / (name + ".json"), reading);
  BuiltScene built = build_world(scene);
  EXPECT_EQ(built.responder != nullptr, response);
  const auto start = built.world.save().bodies;
  std::map<std::string, Went> went;
  const auto steps = static_cast<int>(std::lround(duration / scene.step));
  for (int i = 0; i < steps; ++i) {
    built.step(i * scene.step, scene.step);
    for (std::size_t b = 0; b < start.size(); ++b) {
      const Vec3 d = built.world.state().bodies[b].X_wb.position - start[b].X_wb.position;
      Went& w = went[built.looks[b].name];
      w.up = std::max(w.up, d.z());
      w.down = std::max(w.down, -d.z());
      w.sideways = d.head<2>().norm();
    }
  }
  return went;
}

bool begins_with(const std::string& name, const std::vector<std::string>& words)
{
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return name.rfind(word, 0) == 0; });
}

// Without the response, all bodies but `movers` stay within half a millimetre.
void expect_still(const std::map<std::string, Went>& went, const std::vector<std::string>& movers)
{
  for (const auto& [name, w] : went) {
    if (begins_with(name, movers)) continue;
    EXPECT_LT(std::max({w.up, w.down, w.sideways}), 5e-4) << name;
  }
}

TEST(ResponseScenes, APotMakesPlatesCupsAndCandlesticksJump)
{
  expect_still(run("dinner", false, 0.7), {"pot"});
  double highest = 0;
  for (const auto& [name, w] : run("dinner", true, 0.7)) {
    if (!begins_with(name, {"plate", "cup", "candlestick"})) continue;
    EXPECT_GT(w.up, 1e-4) << name;
    EXPECT_LT(w.up, 0.1) << name;
    highest = std::max(highest, w.up);
  }
  EXPECT_GT(highest, 3e-3);
}

TEST(ResponseScenes, ABouncingTruckShakesConesAndTopplesThePostThatStandsOnAnother)
{
  expect_still(run("truck", false, 4), {"truck"});
  for (const auto& [name, w] : run("truck", true, 4)) {
    if (begins_with(name, {"cone", "post"})) {
      EXPECT_GT(w.up, 1e-3) << name;
      EXPECT_LT(w.up, 0.05) << name;
      EXPECT_LT(w.sideways, 0.1) << name;
    }
    if (name == "stacked_post") {
      EXPECT_GT(w.down, 1) << name;
    }
  }
}

TEST(ResponseScenes, ATruckAgainstTheCliffBringsTheRocksDown)
{
  expect_still(run("rockfall", false, 3), {"truck"});
  int fallen = 0;
  for (const auto& [name, w] : run("rockfall", true, 3))
    fallen += begins_with(name, {"rock"}) && w.down > 5 ? 1 : 0;
  EXPECT_GE(fallen, 3);
}

TEST(ResponseScenes, AToolboxMakesTheWrenchSlideDownTheRoof)
{
  expect_still(run("wrench_on_roof", false, 2), {"toolbox"});
  const Went wrench = run("wrench_on_roof", true, 2).at("wrench");
  EXPECT_GT(wrench.sideways, 5e-3);
  EXPECT_GT(wrench.down, 2e-3);
}

TEST(ResponseScenes, AToolboxThrowsTheToolsOnTheScaffold)
{
  expect_still(run("scaffold", false, 1.5), {"toolbox"});
  for (const auto& [name, w] : run("scaffold", true, 1.5)) {
    if (begins_with(name, {"scaffold", "toolbox"})) continue;
    EXPECT_GT(w.up, 1e-3) << name;
    EXPECT_LT(w.up, 0.5) << name;
  }
}

TEST(ResponseScenes, TheWashingMachineShakesBottlesAndThroughTheFridgeThePlant)
{
  expect_still(run("washing_machine", false, 3), {"machine"});
  for (const auto& [name, w] : run("washing_machine", true, 3)) {
    if (begins_with(name, {"bottle"})) {
      EXPECT_GT(w.up, 2e-4) << name;
      EXPECT_LT(w.up, 0.02) << name;
    }
    if (name == "fridge") {
      EXPECT_LT(std::max(w.up, w.sideways), 0.02);
    }
    if (name == "plant") {
      EXPECT_GT(w.up, 2e-4);
    }
  }
}

}  // namespace
}  // namespace thrum::scene
