// SPDX-License-Identifier: MIT
// What happens in the scenes of the distant response, in numbers: without it nothing but the striking body
// moves.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "thrum/scene/build_world.h"
#include "thrum/vibration/attenuation_fit.h"

namespace thrum::scene {
namespace {

const std::filesystem::path kSource = THRUM_SOURCE_DIR;

/// How far a body went from where it stood [m].
struct Went {
  double up = 0;
  double down = 0;
  double sideways = 0;                                    ///< at the end
  double turned = 0;                                      ///< at most [rad]
  double fell = std::numeric_limits<double>::infinity();  ///< when it was a tenth of a metre lower first [s]
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
      Went& w = went[built.visuals[b].name];
      w.up = std::max(w.up, d.z());
      w.down = std::max(w.down, -d.z());
      if (-d.z() > 0.1) w.fell = std::min(w.fell, (i + 1) * scene.step);
      w.sideways = d.head<2>().norm();
      w.turned = std::max(
          w.turned, built.world.state().bodies[b].X_wb.rotation.angularDistance(start[b].X_wb.rotation));
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
    EXPECT_LT(w.turned, 2e-3) << name;
  }
}

TEST(ResponseScenes, APotMakesPlatesCupsAndCandlesticksJump)
{
  expect_still(run("dinner", false, 0.7), {"pot"});
  double highest = 0;
  for (const auto& [name, w] : run("dinner", true, 1.5)) {
    if (!begins_with(name, {"plate", "cup", "candlestick"})) continue;
    EXPECT_GT(w.up, 1e-4) << name;
    EXPECT_LT(w.up, 0.1) << name;
    // All of it stays on the table.
    EXPECT_LT(w.down, 5e-3) << name;
    EXPECT_LT(w.sideways, 0.05) << name;
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
      // It outlasts the first bounce, at 0.32 s, and the truck's second leap; the second bounce is at 1.42 s.
      EXPECT_GT(w.fell, 1.42) << name;
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

// The roof is 0.5 m long below the wrench, whose friction of 0.47 holds it at tan 25 deg = 0.466.
TEST(ResponseScenes, AToolboxMakesTheWrenchSlideDownTheRoofAndOff)
{
  expect_still(run("wrench_on_roof", false, 2), {"toolbox"});
  const auto went = run("wrench_on_roof", true, 2);
  const Went& wrench = went.at("wrench");
  EXPECT_GT(wrench.up, 1e-3);
  EXPECT_LT(wrench.up, 0.1);
  EXPECT_GT(wrench.sideways, 0.25);
  EXPECT_GT(wrench.down, 1);
  // The toolbox stays where it fell.
  EXPECT_LT(went.at("toolbox").sideways, 0.2);
}

TEST(ResponseScenes, AToolboxThrowsTheToolsOnBothLevelsOfTheScaffold)
{
  expect_still(run("scaffold", false, 1.5), {"toolbox"});
  double upper = 0;
  double lower = 0;
  for (const auto& [name, w] : run("scaffold", true, 1.5)) {
    if (begins_with(name, {"scaffold", "toolbox"})) continue;
    const bool low = begins_with(name, {"low_"});
    // The deck that is struck throws its tools by centimetres, the one below by about a millimetre; nothing
    // falls down.
    EXPECT_GT(w.up, low ? 2e-4 : 4e-3) << name;
    EXPECT_LT(w.up, low ? 0.01 : 0.1) << name;
    EXPECT_LT(w.down, 5e-3) << name;
    (low ? lower : upper) += w.up / 5;
  }
  EXPECT_GT(upper, 5 * lower);
}

TEST(ResponseScenes, TheWashingMachineShakesBottlesAndThroughTheFridgeThePlantWhoseLeafSways)
{
  expect_still(run("washing_machine", false, 3), {"machine"});
  for (const auto& [name, w] : run("washing_machine", true, 3)) {
    if (begins_with(name, {"bottle"})) {
      EXPECT_GT(w.up, 2e-4) << name;
      EXPECT_LT(w.up, 0.02) << name;
    }
    if (name == "fridge") {
      EXPECT_LT(std::max(w.up, w.sideways), 4e-3);
    }
    if (name == "plant") {
      EXPECT_GT(w.up, 2e-4);
      EXPECT_LT(w.up, 0.02);
    }
    if (name == "leaf") {
      EXPECT_GT(w.turned, 5e-3);
      EXPECT_LT(w.turned, 0.3);
    }
  }
}

// "fit" gives the waves what the body's own modes say, for blows from above; what the file says stays where
// nothing is fitted.
TEST(AttenuationFit, MatchesTheModes)
{
  const std::string text = R"({"response": {"method": "attenuated", "rule": "peak_velocity"}, "bodies": [
    {"name": "slab", "motion": "fixed", "material": "wood", "shape": {"kind": "box", "size": [2, 1, 0.1]},
     "rings": {"modes": 12, "spacing": 0.1, "attenuation": {"fit": FIT, "full": FULL, "alpha": 9, "C": 9, "beta": 9}}}]})";
  const auto settings_of = [&](const std::string& fit, const std::string& full) {
    std::string with = text;
    with.replace(with.find("FIT"), 3, fit);
    with.replace(with.find("FULL"), 4, full);
    const BuiltScene built = build_world(parse_scene(with, "slab.json"));
    const vibration::BodyResponse* response = built.responder->response_of(built.world.id_of(0));
    vibration::AttenuationSampleDesc sampling =
        vibration::sample_desc(response->desc().settings, response->desc().attenuation, 1.0 / 60);
    sampling.facing = Vec3::UnitZ();
    const vibration::AttenuationFit expected =
        vibration::fit_attenuation(vibration::sample_attenuation(response->model(), sampling).samples);
    return std::pair(response->desc().attenuation, expected);
  };
  const auto [given, not_used] = settings_of("false", "false");
  EXPECT_EQ(given.C, 9);
  const auto [simple, simple_fit] = settings_of("true", "false");
  EXPECT_EQ(simple.C, simple_fit.simple.settings.C);
  EXPECT_EQ(simple.beta, simple_fit.simple.settings.beta);
  EXPECT_EQ(simple.min_distance, simple_fit.simple.settings.min_distance);
  EXPECT_EQ(simple.alpha, 9);
  const auto [full, full_fit] = settings_of("true", "true");
  EXPECT_EQ(full.alpha, full_fit.full.settings.alpha);
  EXPECT_EQ(full.beta, full_fit.full.settings.beta);
  EXPECT_EQ(full.r0, full_fit.full.settings.r0);
  EXPECT_EQ(full.C, 9);
}

// A small table, held at its feet in so many words, or by the floor that it stands on.
BuiltScene table_on_floor(const std::string& held, const std::string& motion, double above)
{
  return build_world(
      parse_scene(R"({"length_scale": 0.3, "bodies": [
    {"name": "floor", "shape": {"kind": "plane"}, "motion": "fixed"},
    {"name": "table", "motion": ")" +
                      motion + R"(", "material": "wood", "position": [0.3, 0.2, )" + std::to_string(above) +
                      R"(], "shape": {"kind": "table", "length": 0.8, "width": 0.5, "height": 0.4,
       "top_thickness": 0.06, "leg_thickness": 0.08, "apron_height": 0, "edge_length": 0.1},
     "rings": {"modes": 4, "spacing": 0.05, )" +
                      held +
                      R"(}},
    {"name": "book", "shape": {"kind": "box", "size": [0.2, 0.15, 0.03]}, "position": [0.3, 0.2, )" +
                      std::to_string(above + 0.415) + R"(]}]})",
                  "table.json"));
}

TEST(SupportedByContacts, HasTheModesOfATableClampedAtItsFeet)
{
  const BuiltScene clamped = table_on_floor(R"("clamp": "z<0.005")", "fixed", 0);
  const VecX& wanted = clamped.responder->response_of(clamped.world.id_of(1))->model().frequencies;
  ASSERT_EQ(wanted.size(), 4);
  // Fixed where it stands; dynamic there; dynamic and dropped by half a millimetre.
  for (const auto& [motion, above] :
       {std::pair("fixed", 0.0), std::pair("dynamic", 0.0), std::pair("dynamic", 5e-4)}) {
    const BuiltScene standing = table_on_floor(R"("supports": "contacts")", motion, above);
    const model::ModalModel& model = standing.responder->response_of(standing.world.id_of(1))->model();
    EXPECT_EQ(model.supports.size(), 4U) << motion;
    ASSERT_EQ(model.frequencies.size(), 4);
    for (Index m = 0; m < 4; ++m)
      EXPECT_NEAR(model.frequencies[m] / wanted[m], 1, 1e-6) << motion << " " << m;
    // Nothing has happened yet.
    EXPECT_EQ(standing.world.state().step, 0U);
    EXPECT_EQ(standing.world.state().time, 0);
    EXPECT_NEAR(standing.world.shape_pose(standing.world.id_of(1)).position.z(), above, 1e-12);
  }
}

TEST(SupportedByContacts, ReportsABodyWithoutSupport)
{
  try {
    (void)table_on_floor(R"("supports": "contacts")", "fixed", 0.5);
    FAIL();
  } catch (const SceneError& error) {
    EXPECT_NE(std::string(error.what()).find("stands on nothing"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace thrum::scene
