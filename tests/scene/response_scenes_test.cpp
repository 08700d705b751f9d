// SPDX-License-Identifier: MIT
// What happens in the scenes of the distant response, in numbers: without it nothing but the striking body
// moves.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/support/scene_outcomes.h"
#include "tests/support/source_dir.h"
#include "thrum/scene/build_world.h"
#include "thrum/vibration/attenuation_fit.h"

namespace thrum::scene {
namespace {

using support::BodyMotion;
using support::Outcome;
using support::SceneMotion;

const std::filesystem::path kScenes = support::source_dir() / "scenes";
/// Of the height of a hop to that with steps of 1 ms.
constexpr double kMaxFactor = 1.5;

/// What the docs state, at most a factor of two wide.
struct Stated {
  std::string name;
  double min;
  double max;
};

// Without the response, all bodies but the one that strikes stay within half a millimetre.
void expect_still_without_response(const std::string& scene, const std::string& striker)
{
  const SceneMotion motion =
      support::run_scene_motion(kScenes / (scene + ".json"), {"response.method=none"}, 0);
  for (const auto& [name, m] : motion) {
    if (name == striker) continue;
    EXPECT_LT(std::max({m.up, m.down, m.sideways}), 5e-4) << name;
    EXPECT_LT(m.turned, 2e-3) << name;
  }
}

// Every stated outcome holds with every step, wherever within it the impacts fall, and heights are those of
// the 1 ms run within kMaxFactor. Heights are seen at the ends of steps alone: the top of a hop lies up to
// g (h/2)^2 / 2 above what is seen. Gives the motion of that run.
SceneMotion expect_outcomes(const std::string& scene, const std::vector<Stated>& stated)
{
  SceneMotion finest;
  std::map<std::string, double> reference;
  for (const Stated& s : stated) EXPECT_LE(s.max, 2 * s.min) << s.name;
  const auto expect_at = [&](double rate, double phase) {
    SCOPED_TRACE(testing::Message() << scene << ", step 1/" << rate << " s, phase " << phase);
    std::map<std::string, double> value;
    const SceneMotion motion = support::run_scene_motion(kScenes / (scene + ".json"), {}, rate, phase);
    if (finest.empty()) finest = motion;
    const double unseen = 1e3 * 9.81 / (8 * rate * rate);  // [mm]
    for (const Outcome& outcome : support::outcomes_of(scene, motion)) {
      value[outcome.name] = outcome.value;
      reference.try_emplace(outcome.name, outcome.value);
      if (outcome.name.rfind("rise", 0) != 0) continue;
      EXPECT_LT(outcome.value, kMaxFactor * reference[outcome.name]) << outcome.name;
      EXPECT_GT(outcome.value + unseen, reference[outcome.name] / kMaxFactor) << outcome.name;
    }
    for (const Stated& s : stated) {
      EXPECT_TRUE(value.contains(s.name)) << s.name;
      EXPECT_GE(value[s.name], s.min) << s.name;
      EXPECT_LE(value[s.name], s.max) << s.name;
    }
  };
  for (auto rate = support::kStepRates.rbegin(); rate != support::kStepRates.rend(); ++rate) {
    expect_at(*rate, 1);
    if (*rate == support::kStepRates.back()) continue;
    for (const double phase : {0.3, 0.65}) expect_at(*rate, phase);
  }
  return finest;
}

TEST(ResponseScenes, APotMakesPlatesAndCupsJumpAtTheOtherEndOfTheTable)
{
  expect_still_without_response("dinner", "pot");
  (void)expect_outcomes("dinner", {{"rise of plates and cups beside the pot, mean", 12, 24},
                                   {"rise of plates and cups at the far end, mean", 16, 30},
                                   {"rise at the far end, least", 15, 30},
                                   {"tilt at the far end, least", 10, 20},
                                   {"slide at the far end, mean", 6.5, 13}});
}

TEST(ResponseScenes, DinnerStaysOnTheTable)
{
  for (const auto& [name, m] : support::run_scene_motion(kScenes / "dinner.json", {}, 0)) {
    if (name == "pot") continue;
    EXPECT_LT(m.down, 0.015) << name;
    EXPECT_LT(m.sideways, 0.1) << name;
  }
}

TEST(ResponseScenes, ABouncingTruckShakesConesAndTopplesThePostThatStandsOnAnother)
{
  expect_still_without_response("truck", "truck");
  (void)expect_outcomes("truck", {{"rise of the cones, mean", 5, 10},
                                  {"posts on the ground that fall", 0, 0},
                                  {"stacked posts that fall", 1, 1}});
}

// The three rocks above the place that is struck fall, the outer two only move.
TEST(ResponseScenes, ATruckAgainstTheCliffBringsRocksDown)
{
  expect_still_without_response("rockfall", "truck");
  (void)expect_outcomes("rockfall", {{"rise of the rocks, mean", 30, 60}, {"rocks that fall", 3, 3}});
}

TEST(ResponseScenes, AToolboxMakesTheWrenchHopAndSlideDownTheRoof)
{
  expect_still_without_response("wrench_on_roof", "toolbox");
  (void)expect_outcomes("wrench_on_roof",
                        {{"rise of the wrench off the roof", 14, 28}, {"slide of the wrench", 50, 100}});
}

TEST(ResponseScenes, AToolboxThrowsTheToolsOnTheDeckThatItStrikesAndLessThoseBelow)
{
  expect_still_without_response("scaffold", "toolbox");
  const SceneMotion motion =
      expect_outcomes("scaffold", {{"rise of the tools on the struck deck, mean", 11, 22}});
  // Hops of about a millimetre are over within a step of 1/30 s, so they are looked at with 1 ms.
  double upper = 0, lower = 0;
  for (const auto& [name, m] : motion) {
    if (name == "scaffold" || name == "toolbox") continue;
    EXPECT_GT(m.up, 2e-4) << name;
    EXPECT_LT(m.down, 5e-3) << name;
    (name.rfind("low_", 0) == 0 ? lower : upper) += m.up / 5;
  }
  EXPECT_GT(upper, 5 * lower);
}

TEST(ResponseScenes, TheWashingMachineShakesBottlesAndThroughTheFridgeThePlantWhoseLeafSways)
{
  expect_still_without_response("washing_machine", "machine");
  const SceneMotion motion =
      expect_outcomes("washing_machine",
                      {{"rise of the bottles, mean", 3.5, 7}, {"rise of the plant on the fridge", 3.5, 7}});
  // At least a degree, and far from breaking off.
  EXPECT_GT(motion.at("leaf").turned, 0.017);
  EXPECT_LT(motion.at("leaf").turned, 0.3);
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

// A floor of 14 x 11 x 1 cells has the paper's 360 vertices, and all of its mass.
TEST(RingsGrid, FillsABoxExactlyAndHoldsItInSeveralPlaces)
{
  const auto text = [](const std::string& rings, const std::string& shape) {
    return R"({"bodies": [{"name": "floor", "motion": "fixed", "material": "wood", "shape": )" + shape +
           R"(, "rings": {"modes": 1, )" + rings + "}}]}";
  };
  const std::string box = R"({"kind": "box", "size": [4, 3, 0.1]})";
  const std::string grid = R"("grid": [0.286, 0.273, 0.1])";
  const auto model = [&](const std::string& clamp) {
    return build_world(parse_scene(text(grid + R"(, "clamp": ")" + clamp + "\"", box), "floor.json"))
        .modes.at("floor");
  };
  const auto edge = model("x<-1.99");
  EXPECT_EQ(edge->vertex_count(), 360);
  EXPECT_EQ(edge->surface.triangles.size(), 716U);
  EXPECT_NEAR(edge->mass, edge->materials[0].density * 4 * 3 * 0.1, 1e-6 * edge->mass);
  // Bernoulli beams: 22.373 clamped at both ends over 3.516 at one.
  const auto edges = model("x<-1.99 || x>1.99");
  EXPECT_EQ(edges->supports.size(), 2U);
  EXPECT_NEAR(edges->frequencies[0] / edge->frequencies[0], 22.373 / 3.516, 0.05 * 22.373 / 3.516);

  const auto mistake = [&](const std::string& rings, const std::string& shape) -> std::string {
    try {
      (void)build_world(parse_scene(text(rings, shape), "floor.json"));
    } catch (const SceneError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(mistake(grid + R"(, "spacing": 0.1)", box).find("together with \"spacing\""), std::string::npos);
  EXPECT_NE(mistake(R"("grid": [1, 0, 1])", box).find("not positive"), std::string::npos);
  EXPECT_NE(mistake(grid, R"({"kind": "cylinder", "radius": 1, "height": 1})").find("faces along x, y and z"),
            std::string::npos);
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
  // The table clamped up to the height to which the places where it stands reach.
  const auto clamped_below = [](double height) {
    const BuiltScene clamped = table_on_floor(R"("clamp": "z<)" + std::to_string(height) + "\"", "fixed", 0);
    return clamped.responder->response_of(clamped.world.id_of(1))->model().frequencies;
  };
  // Fixed where it stands; dynamic there; dynamic and dropped by half a millimetre.
  for (const auto& [motion, above] :
       {std::pair("fixed", 0.0), std::pair("dynamic", 0.0), std::pair("dynamic", 5e-4)}) {
    const BuiltScene standing = table_on_floor(R"("supports": "contacts")", motion, above);
    const model::ModalModel& model = standing.responder->response_of(standing.world.id_of(1))->model();
    EXPECT_EQ(model.supports.size(), 4U) << motion;
    ASSERT_EQ(model.frequencies.size(), 4);
    const VecX wanted = clamped_below(model.supports[0].where.box.max().z());
    ASSERT_EQ(wanted.size(), 4);
    for (Index m = 0; m < 4; ++m)
      EXPECT_NEAR(model.frequencies[m] / wanted[m], 1, 2e-3) << motion << " " << m;
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
