// SPDX-License-Identifier: MIT
#include "thrum/scene/unused_settings.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/base/scratch_folder.h"
#include "tests/support/source_dir.h"

namespace thrum::scene {
namespace {

constexpr const char* kBodies =
    R"("bodies": [{"name": "plate", "shape": {"kind": "box"}, "material": "wood", "rings": {)";

SceneDesc scene_of(const std::string& settings, const std::vector<std::string>& given = {},
                   const std::string& rings = "")
{
  const std::string text =
      "{" + std::string(kBodies) + rings + "}}]" + (settings.empty() ? "" : ",\n") + settings + "}";
  return parse_scene(text, "s.json", {.settings = given});
}

std::vector<std::string> unused_in(const std::string& settings, const std::vector<std::string>& given = {},
                                   const std::string& rings = "")
{
  return unused_settings(scene_of(settings, given, rings));
}

// What is given, the key that nothing reads, and a --set with which it is read.
struct Case {
  const char* settings;
  const char* unused;
  const char* remedy;
  const char* rings = "";
};

const std::vector<Case>& cases()
{
  static const std::vector<Case> all = {
      {R"("stepper": {"kind": "impulse", "constraint": {"substeps": 8}})", "stepper.constraint",
       "stepper.kind=constraint"},
      {R"("stepper": {"impulse": {"slop": 0}})", "stepper.impulse", "stepper.kind=impulse"},
      {R"("stepper": {"penalty": {"contact_time": 0.01}})", "stepper.penalty", "stepper.kind=penalty"},
      {R"("stepper": {"flexible": {"min_step": 1e-6}})", "stepper.flexible", "stepper.kind=flexible"},
      {R"("stepper": {"kind": "penalty", "impacts": {"max_points": 9}})", "stepper.impacts",
       "stepper.kind=impulse"},
      {R"("stepper": {"impacts": {"simultaneous": "by_stepper", "max_points": 9}})",
       "stepper.impacts.max_points", "stepper.impacts.simultaneous=reflections"},
      {R"("stepper": {"time_of_impact": "none", "max_impact_slices": 4})", "stepper.max_impact_slices",
       "stepper.time_of_impact=continuous"},
      {R"("stepper": {"impact_tolerance": 0.01})", "stepper.impact_tolerance",
       "stepper.time_of_impact=bisection"},
      {R"("stepper": {"kind": "penalty", "penalty": {"stiffness": 1e4, "contact_time": 0.01}})",
       "stepper.penalty.contact_time", nullptr},
      {R"("stepper": {"kind": "penalty", "penalty": {"damping_ratio": 0.1, "max_damping_ratio": 2}})",
       "stepper.penalty.max_damping_ratio", nullptr},
      {R"("stepper": {"constraint": {"max_direct_rows": 9}})", "stepper.constraint.max_direct_rows",
       "stepper.constraint.solver=direct"},
      {R"("stepper": {"constraint": {"order": "unsorted", "shock_iterations": 9}})",
       "stepper.constraint.shock_iterations", "stepper.constraint.order=contact_graph"},
      {R"("stepper": {"constraint": {"solver": "direct", "shock_iterations": 9}})",
       "stepper.constraint.shock_iterations", "stepper.constraint.solver=gauss_seidel"},
      {R"("stepper": {"kind": "impulse", "impulse": {"contact_graph": false, "levels": "predicted"}})",
       "stepper.impulse.levels", "stepper.impulse.contact_graph=true"},
      {R"("stepper": {"kind": "impulse", "impulse": {"shock_propagation": false, "shock_sweeps": 2}})",
       "stepper.impulse.shock_sweeps", "stepper.impulse.shock_propagation=true"},
      {R"("stepper": {"kind": "impulse", "impulse": {"push_out": false, "push_out_share": 0.1}})",
       "stepper.impulse.push_out_share", "stepper.impulse.push_out=true"},
      {R"("stepper": {"kind": "flexible", "flexible": {"contact": "hard", "friction_directions": 9}})",
       "stepper.flexible.friction_directions", "stepper.flexible.friction=staggered"},
      {R"("stepper": {"kind": "flexible", "flexible": {"adapt_modes": false, "quiet_energy": 1}})",
       "stepper.flexible.quiet_energy", "stepper.flexible.adapt_modes=true"},
      {R"("stepper": {"kind": "flexible"}, "sleep": {"time": 1})", "sleep", "stepper.kind=constraint"},
      {R"("sleep": {"enabled": false, "time": 1})", "sleep.time", "sleep.enabled=true"},
      {R"("stepper": {"kind": "flexible"}, "response": {"window": 0.1})", "response", "stepper.kind=impulse"},
      {R"("response": {"method": "none", "window": 0.1})", "response.window", "response.method=modal"},
      {R"("response": {"rule": "exchange", "micro_step": 1e-4})", "response.micro_step",
       "response.rule=micro_collisions"},
      {R"("response": {"rule": "exchange", "time_budget": 1})", "response.time_budget",
       "response.rule=automatic"},
      {R"("response": {"rule": "exchange", "form": "speed"})", "response.form",
       "response.rule=peak_velocity"},
      {R"("response": {"preset": "coevoet2020", "micro_step": 1e-4})", "response.micro_step", nullptr},
      {R"("response": {"min_wave_size": 9})", "response.min_wave_size", "response.method=blended"},
      {R"("listener": {"position": [1, 1, 1]})", "listener", "sound=true"},
      {R"("sound": true, "listener": {"kind": "mono", "spacing": 1})", "listener.spacing",
       "listener.kind=stereo"},
      {R"("sound": true, "listener": {"microphones": [{}]})", "listener.microphones",
       "listener.kind=microphones"},
      {R"("sound": {"normalise": true, "full_scale": 1})", "sound.full_scale", "sound.normalise=false"},
      {R"("sound": {"roughness": 0, "seed": 1})", "sound.seed", "sound.roughness=0.1"},
      {R"("sound": {"roughness": 0.02}, "materials": [{"name": "pan", "roughness": 1e-6}])",
       "materials[0].roughness", nullptr},
      {R"("sound": {"roughness": 0.02}, "material_pairs": [{"a": "steel", "b": "wood", "roughness": 1e-6}])",
       "material_pairs[0].roughness", nullptr},
      {R"("outputs": {"poster": false, "poster_time": 1})", "outputs.poster_time", "outputs.poster=true"},
  };
  return all;
}

TEST(UnusedSettings, EachIsReportedOnceWithItsPlace)
{
  for (const Case& c : cases()) {
    const std::vector<std::string> found = unused_in(c.settings);
    ASSERT_EQ(found.size(), 1U) << c.settings << (found.empty() ? "" : "\n" + found.back());
    EXPECT_TRUE(found[0].starts_with("s.json:2:")) << found[0];
    EXPECT_NE(found[0].find(std::string(": ") + c.unused + " is not used: "), std::string::npos) << found[0];
    EXPECT_TRUE(found[0].ends_with(".")) << found[0];
  }
}

TEST(UnusedSettings, WhatIsReadIsNotReported)
{
  for (const Case& c : cases()) {
    if (c.remedy == nullptr) continue;
    const std::vector<std::string> found = unused_in(c.settings, {c.remedy});
    EXPECT_TRUE(found.empty()) << c.settings << " --set " << c.remedy << "\n" << found.back();
  }
}

// A scene may be made for several steppers.
TEST(UnusedSettings, SettingsOfTheChosenStepperBesideThemExplainThem)
{
  const char* both =
      R"("stepper": {"kind": "impulse", "constraint": {"substeps": 8}, "impulse": {"slop": 0}})";
  EXPECT_TRUE(unused_in(both).empty());
  EXPECT_TRUE(unused_in(both, {"stepper.kind=constraint"}).empty());
}

// The command line replaces what the file chose, and the file need not be changed for it. What the command
// line itself gives in vain is a mistake.
TEST(UnusedSettings, ChoicesOnTheCommandLineExplainTheFileButNotThemselves)
{
  const char* file = R"("stepper": {"constraint": {"substeps": 8, "iterations": 2}})";
  EXPECT_TRUE(unused_in(file).empty());
  EXPECT_TRUE(unused_in(file, {"stepper.kind=impulse"}).empty());
  const std::vector<std::string> found =
      unused_in(file, {"stepper.kind=impulse", "stepper.constraint.substeps=16"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].starts_with("--set stepper.constraint.substeps is not used: stepper.kind is impulse."))
      << found[0];
  EXPECT_EQ(unused_in("", {"stepper.impulse.slop=0"}).size(), 1U);
  EXPECT_EQ(unused_in("", {"listener.spacing=1", "listener.kind=mono", "sound=true"}).size(), 1U);
  EXPECT_TRUE(unused_in(R"("sound": false, "listener": {"position": [1, 1, 1]})").empty());
}

TEST(UnusedSettings, NothingRingsWithoutABodyThatDoes)
{
  const SceneDesc scene = parse_scene(
      "{\"bodies\": [{\"shape\": {\"kind\": \"box\"}}],\n\"response\": {\"window\": 0.1}}", "s.json");
  const std::vector<std::string> found = unused_settings(scene);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0],
            "s.json:2:1: response is not used: no body of the scene rings. Give one \"rings\": {}.");
}

TEST(UnusedSettings, KeysOfRingsThatExcludeEachOther)
{
  struct Rings {
    const char* settings;
    std::string rings;
    const char* unused;
  };
  for (const Rings& c :
       {Rings{"", R"("grid": [0.1, 0.1, 0.1], "quality": "fine")", "rings.quality"},
        Rings{"", R"("spacing": 0.1, "quality": "fine")", "rings.quality"},
        Rings{"", fmt::format(R"("file": "{}/README.md", "clamp": "z<0")", support::source_dir().string()),
              "rings.clamp"},
        Rings{"", R"("attenuation": {"C": 1})", "rings.attenuation"},
        Rings{R"("response": {"method": "attenuated"})", R"("attenuation": {"alpha": 1})",
              "rings.attenuation.alpha"},
        Rings{R"("response": {"method": "attenuated"})", R"("attenuation": {"full": true, "C": 1})",
              "rings.attenuation.C"},
        Rings{R"("response": {"method": "attenuated"})", R"("attenuation": {"fit": true, "beta": 1})",
              "rings.attenuation.beta"},
        Rings{R"("response": {"method": "attenuated"})", R"("attenuation": {"wave_speed": 100})",
              "rings.attenuation.wave_speed"}}) {
    const std::vector<std::string> found = unused_in(c.settings, {}, c.rings);
    ASSERT_EQ(found.size(), 1U) << c.rings << (found.empty() ? "" : "\n" + found.back());
    EXPECT_TRUE(found[0].starts_with("s.json:1:")) << found[0];
    EXPECT_NE(found[0].find(std::string(": body \"plate\": ") + c.unused + " is not used: "),
              std::string::npos)
        << found[0];
  }
}

// The place is that of the file that gives the value last.
TEST(UnusedSettings, OfAnIncludedFileAreReportedThere)
{
  const base::ScratchFolder folder;
  std::ofstream(folder.path() / "part.json") << "{\n\"stepper\": {\n\"impulse\": {\"slop\": 0}}}";
  std::ofstream(folder.path() / "all.json")
      << R"({"include": [{"file": "part.json"}], "bodies": [{"shape": {"kind": "box"}}]})";
  const std::vector<std::string> found = unused_settings(read_scene(folder.path() / "all.json"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("part.json:3:1: stepper.impulse is not used"), std::string::npos) << found[0];
}

TEST(UnusedSettings, TheScenesOfTheRepositoryHaveNone)
{
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(support::source_dir() / "scenes")) {
    if (entry.path().extension() != ".json") continue;
    ++count;
    for (const std::string& sentence : unused_settings(read_scene(entry.path()))) ADD_FAILURE() << sentence;
  }
  EXPECT_GT(count, 20);
}

}  // namespace
}  // namespace thrum::scene
