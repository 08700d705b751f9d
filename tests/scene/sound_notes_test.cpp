// SPDX-License-Identifier: MIT
#include "thrum/scene/sound_notes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "thrum/base/error.h"

namespace thrum::scene {
namespace {

const char* const kScene = R"({
  "sound": {"sample_rate": 96000, "min_frequency": 30, "max_frequency": 15000, "modes": 7, "max_tetrahedra": 5000, "contact_damping_scale": 3,
            "roughness": 0.5, "rolling": 0.25, "acceleration_noise": false, "min_impact_speed": 0.125, "seed": 9,
            "full_scale": 4, "tail": 2.5, "impulse_duration": 0.002, "stems": true, "ground_reflection": 0.25,
            "air_absorption": false},
  "listener": {"position": [1, 2, 3], "forward": [0, 1, 0], "kind": "microphones", "spacing": 0.5,
               "microphones": [{"position": [0.1, 0, 0], "pattern": 0.5, "axis": [0, 1, 0], "name": "left"}]},
  "materials": [{"name": "pan", "base": "steel", "contact_damping": 0.75, "roughness": 2e-6, "roughness_exponent": 0.25}],
  "material_pairs": [{"a": "pan", "b": "hardwood", "roughness": 3e-6, "roughness_exponent": 0.75},
                     {"a": "steel", "b": "steel", "friction": 0.3}],
  "bodies": [
    {"name": "bar", "shape": {"kind": "box", "size": [0.3, 0.03, 0.005]}, "material": "pan"},
    {"name": "mute", "shape": {"kind": "sphere"}, "material": "steel", "position": [0, 0, 3], "sound": false},
    {"name": "plain", "shape": {"kind": "sphere"}, "position": [0, 0, 6]}
  ],
  "impulses": [{"body": "bar", "time": 0.5, "impulse": [0, 0, 1], "position": [0.1, 0, 0]}]
})";

SoundNotes notes_of(const char* text)
{
  const SceneDesc scene = parse_scene(text, "test.json");
  return sound_notes(scene, build_world(scene));
}

TEST(SoundNotes, AllThatASceneSaysOfSoundComesBackFromTheText)
{
  const SoundNotes notes = notes_of(kScene);
  const SoundNotes back = parse_sound_notes(sound_notes_text(notes));
  EXPECT_EQ(sound_notes_text(back), sound_notes_text(notes));
  // Every value of the scene differs from its default, so that one that is forgotten shows.
  EXPECT_EQ(back.sound.synthesis.sample_rate, 96000);
  EXPECT_EQ(back.sound.synthesis.min_frequency, 30);
  EXPECT_EQ(back.sound.synthesis.max_frequency, 15000);
  EXPECT_EQ(back.sound.synthesis.modes, 7);
  EXPECT_EQ(back.sound.synthesis.max_tetrahedra, 5000);
  EXPECT_EQ(back.sound.synthesis.contact_damping_scale, 3);
  EXPECT_EQ(back.sound.synthesis.roughness, 0.5);
  EXPECT_EQ(back.sound.synthesis.rolling, 0.25);
  EXPECT_FALSE(back.sound.synthesis.acceleration_noise);
  EXPECT_EQ(back.sound.synthesis.min_impact_speed, 0.125);
  EXPECT_EQ(back.sound.synthesis.seed, 9U);
  EXPECT_EQ(back.sound.full_scale, 4);
  EXPECT_EQ(back.sound.tail, 2.5);
  EXPECT_EQ(back.sound.impulse_duration, 0.002);
  EXPECT_TRUE(back.sound.stems);
  EXPECT_EQ(back.sound.ground_reflection, 0.25);
  EXPECT_FALSE(back.sound.air_absorption);
  EXPECT_EQ(back.listener.position, Vec3(1, 2, 3));
  EXPECT_EQ(back.listener.kind, sound::ListenerKind::microphones);
  ASSERT_EQ(back.listener.microphones.size(), 1U);
  EXPECT_EQ(back.listener.microphones[0].name, "left");
  EXPECT_EQ(back.listener.microphones[0].pattern, 0.5);
  EXPECT_TRUE(back.bodies.at("bar").sounds);
  EXPECT_EQ(back.bodies.at("bar").material.contact_damping, 0.75);
  EXPECT_EQ(back.bodies.at("bar").material.density, 7850);
  EXPECT_FALSE(back.bodies.at("mute").sounds);
  EXPECT_FALSE(back.bodies.at("plain").sounds);  // it has no material
  EXPECT_EQ(back.bodies.at("bar").roughness, (model::Roughness{2e-6, 0.25}));
  EXPECT_EQ(back.bodies.at("mute").roughness, (model::Roughness{7e-7, 0.5}));  // steel of the library
  ASSERT_EQ(back.roughness_pairs.size(), 1U);
  EXPECT_EQ(back.roughness_pairs[0].a, "pan");
  EXPECT_EQ(back.roughness_pairs[0].b, "wood");  // whose other name is hardwood
  EXPECT_EQ(back.roughness_pairs[0].height, 3e-6);
  EXPECT_EQ(back.roughness_pairs[0].exponent, 0.75);
  ASSERT_EQ(back.impulses.size(), 1U);
  EXPECT_EQ(back.impulses[0].position_s, Vec3(0.1, 0, 0));
}

TEST(SoundNotes, SettingsChangeThemAndMistakesAreReported)
{
  const std::string text = sound_notes_text(notes_of(kScene));
  const SoundNotes changed = parse_sound_notes(text, {"sound.modes=3", "listener.position=[0, 0, 9]"});
  EXPECT_EQ(changed.sound.synthesis.modes, 3);
  EXPECT_EQ(changed.listener.position, Vec3(0, 0, 9));
  EXPECT_THROW((void)parse_sound_notes(text, {"sound.mods=3"}), Error);
  EXPECT_THROW((void)parse_sound_notes("{}"), Error);
}

TEST(SoundNotes, MaterialsAndBodiesAreChangedForTheEarAlone)
{
  const std::string text = sound_notes_text(notes_of(kScene));
  const SoundNotes changed =
      parse_sound_notes(text, {"bodies.plain.material=glass", "materials.pan.gain=2",
                               "materials.glass.alpha=7", "bodies.bar.gain=0.5", "materials.pan.beta=1e-6",
                               "bodies.mute.sound=true", "materials.pan.contact_damping=0.25"});
  const SoundBodyNote& bar = changed.bodies.at("bar");
  EXPECT_EQ(bar.material_gain, 2);
  EXPECT_EQ(bar.gain, 0.5);
  EXPECT_EQ(bar.material.damping.alpha, 5);  // of steel, which was not changed
  EXPECT_EQ(bar.material.damping.beta, 1e-6);
  EXPECT_EQ(bar.material.contact_damping, 0.25);
  EXPECT_TRUE(changed.bodies.at("mute").sounds);
  EXPECT_EQ(changed.bodies.at("mute").material_gain, 1);
  const SoundBodyNote& plain = changed.bodies.at("plain");
  EXPECT_TRUE(plain.sounds);
  EXPECT_EQ(plain.material.name, "glass");
  EXPECT_EQ(plain.material.density, 2600);
  EXPECT_EQ(plain.material.damping.alpha, 7);
  EXPECT_TRUE(changed.warnings.empty());
  // It may be given the material of another body, as that is after all changes; and be silenced again.
  const SoundNotes alike = parse_sound_notes(
      text, {"bodies.plain.sound=false", "bodies.plain.material=pan", "materials.pan.gain=3"});
  EXPECT_EQ(alike.bodies.at("plain").material, alike.bodies.at("bar").material);
  EXPECT_EQ(alike.bodies.at("plain").material_gain, 3);
  EXPECT_FALSE(alike.bodies.at("plain").sounds);
}

TEST(SoundNotes, RoughnessIsChangedForMaterialsAndForPairs)
{
  const std::string text = sound_notes_text(notes_of(kScene));
  const std::vector<std::string> settings = {
      "materials.pan.roughness=4e-6", "materials.hardwood.roughness_exponent=0.9",
      "bodies.plain.material=wood", "material_pairs.hardwood,pan.roughness=5e-6",
      "material_pairs.steel,pan.roughness_exponent=0.125"};
  const SoundNotes changed = parse_sound_notes(text, settings);
  EXPECT_EQ(changed.bodies.at("bar").roughness, (model::Roughness{4e-6, 0.25}));
  EXPECT_EQ(changed.bodies.at("plain").roughness, (model::Roughness{5e-6, 0.9}));
  ASSERT_EQ(changed.roughness_pairs.size(), 2U);
  EXPECT_EQ(changed.roughness_pairs[0].height, 5e-6);
  EXPECT_EQ(changed.roughness_pairs[0].exponent, 0.75);
  EXPECT_FALSE(changed.roughness_pairs[1].height.has_value());
  EXPECT_EQ(changed.roughness_pairs[1].exponent, 0.125);
  // One setting of the scene is for all: what is changed below it is not heard.
  ASSERT_EQ(changed.warnings.size(), 4U);
  EXPECT_NE(changed.warnings[0].find("sound.roughness is 0.5"), std::string::npos) << changed.warnings[0];
}

TEST(SoundNotes, APairWithoutCoefficientsLeavesThemAsTheyAre)
{
  const auto surface_of = [](const char* pair) {
    return parse_scene(fmt::format(R"({{"material_pairs": [{{"a": "steel", "b": "wood"{}}}]}})", pair),
                       "s.json")
        .material_pairs[0]
        .surface();
  };
  EXPECT_FALSE(surface_of(R"(, "roughness": 1e-6)").has_value());
  EXPECT_TRUE(surface_of("").has_value());
  const auto both = surface_of(R"(, "roughness": 1e-6, "friction": 0.1)");
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->friction, 0.1);
  EXPECT_EQ(both->restitution, 0);
}

// Recordings of before had one roughness, which they keep.
TEST(SoundNotes, OldNotesHaveOneRoughness)
{
  std::string text = sound_notes_text(notes_of(kScene));
  const std::string own = R"(,"roughness":2e-06,"roughness_exponent":0.25)";
  const std::size_t at = text.find(own);
  ASSERT_NE(at, std::string::npos) << text;
  text.erase(at, own.size());
  const std::size_t pairs = text.find("\"roughness_pairs\"");
  text.erase(pairs, text.find("\"impulses\"") - pairs);
  const SoundNotes notes = parse_sound_notes(text);
  EXPECT_EQ(notes.sound.synthesis.roughness, 0.5);
  EXPECT_EQ(notes.bodies.at("bar").roughness, model::Roughness{});
  EXPECT_TRUE(notes.roughness_pairs.empty());
}

// The test above has a material that only a changed body is made of, and no warning.
TEST(SoundNotes, AMaterialThatNoBodyIsMadeOfIsWarnedOf)
{
  const std::string text = sound_notes_text(notes_of(kScene));
  const SoundNotes changed = parse_sound_notes(text, {"materials.glass.gain=2", "materials.steel.gain=2"});
  ASSERT_EQ(changed.warnings.size(), 1U);
  EXPECT_NE(changed.warnings[0].find("--set materials.glass.gain=2"), std::string::npos);
  EXPECT_NE(changed.warnings[0].find("They are of pan, steel."), std::string::npos) << changed.warnings[0];
}

TEST(SoundNotes, WrongChangesAreReportedWithWhatIsMeant)
{
  const std::string text = sound_notes_text(notes_of(kScene));
  const auto message = [&](const char* setting) -> std::string {
    try {
      (void)parse_sound_notes(text, {setting});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"bodies.bar.mass=2", "simulating again"},
      {"bodies.bra.gain=2", "\"bar\""},
      {"bodies.bar.gain=-1", "gain is -1"},
      {"bodies.bar.gain=loud", "gain"},
      {"bodies.bar.material=wod", "wood"},
      {"bodies.plain.sound=true", "has no material"},
      {"materials.stel.gain=2", "\"steel\""},
      {"materials.pan.density=0", "density is 0"},
      {"materials.pan.density=1e300", "density is 1e+300"},
      {"materials.pan.density=1e-6", "density is 1e-06"},
      {"materials.pan.young=1e300", "young is 1e+300"},
      {"materials.pan.young=1e-300", "young is 1e-300"},
      {"materials.pan.poisson=0.7", "poisson is 0.7"},
      {"materials.pan.poisson=0.5", "below 0.5"},
      {"materials.pan.poisson=-1", "above -1"},
      {"materials.pan.beta=1e300", "beta is 1e+300"},
      {"materials.pan.alpha=1e300", "alpha is 1e+300"},
      {"materials.pan.friction=1", "simulating again"},
      {"materials.pan.roughness=-1", "roughness is -1"},
      {"materials.pan.roughness=1", "roughness is 1"},
      {"materials.pan.roughness_exponent=2", "roughness_exponent is 2"},
      {"material_pairs.pan,steel.friction=1", "simulating again"},
      {"material_pairs.pan,steel.roughness=-1", "roughness is -1"},
      {"material_pairs.pan.roughness=1e-6", "comma"},
      {"material_pairs.pan,stel.roughness=1e-6", "\"steel\""},
      {"material_pairs.pan,steel=1", "material_pairs.A,B.KEY=VALUE"},
      {"materials.pan=2", "materials.NAME.KEY=VALUE"},
      {"bodies.bar.gain", "bodies.NAME.KEY=VALUE"},
      {"bodies..gain=1", "bodies.NAME.KEY=VALUE"}};
  for (const auto& [setting, expected] : wrong) {
    EXPECT_NE(message(setting).find(expected), std::string::npos) << message(setting);
    EXPECT_NE(message(setting).find(setting), std::string::npos) << message(setting);
  }
}

TEST(SoundNotes, AListenerMovesAlongAPathOrWithABody)
{
  const std::string text = sound_notes_text(notes_of(kScene));
  const SoundNotes moving = parse_sound_notes(
      text,
      {R"(listener.path=[{"time": 0, "position": [1, 0, 0]}, {"time": 2, "position": [3, 0, 0], "forward": [0, 1, 0]}])"});
  const SoundNotes back = parse_sound_notes(sound_notes_text(moving));
  ASSERT_EQ(back.listener.path.size(), 2U);
  EXPECT_EQ(back.listener.path[1].time, 2);
  EXPECT_EQ(back.listener.path[1].position, Vec3(3, 0, 0));
  EXPECT_FALSE(back.listener.path[0].forward.has_value());
  EXPECT_EQ(back.listener.path[1].forward, Vec3(0, 1, 0));
  EXPECT_EQ(parse_sound_notes(sound_notes_text(parse_sound_notes(text, {"listener.body=bar"}))).listener.body,
            "bar");
  for (const char* wrong :
       {R"(listener.path=[{"time": 1, "position": [1, 0, 0]}, {"time": 1, "position": [3, 0, 0]}])",
        R"(listener.path=[{"time": 0, "position": [0, 0, 0]}, {"time": 0.01, "position": [300, 0, 0]}])",
        R"(listener.path=[{"time": 0, "position": [0, 0, 0], "forward": [0, 0, 0]}])",
        R"(listener.path=[{"time": 0, "position": [1e6, 0, 0]}])",
        R"(listener.path=[{"position": [0, 0, 0]}])",
        R"(listener.path=[{"time": -1, "position": [0, 0, 0]}])", "listener.path=3"})
    EXPECT_THROW((void)parse_sound_notes(text, {wrong}), Error) << wrong;
  const char* const body = R"("bodies": [{"name": "cart", "shape": {"kind": "sphere"}}])";
  EXPECT_NO_THROW(
      (void)parse_scene(std::string(R"({"listener": {"body": "cart"}, )") + body + "}", "test.json"));
  EXPECT_THROW((void)parse_scene(std::string(R"({"listener": {"body": "card"}, )") + body + "}", "test.json"),
               SceneError);
}

// The curve that passes through the keys at their mean
// slopes is faster between them than on average: through 0, 95, 95 m at 0, 1, 2 s it has slopes of 95, 47.5
// and 0 m/s, and in the first second v(u) = 95 + 95 u - 142.5 u^2 [m/s], which is largest at u = 1/3: 110.83
// m/s.
TEST(SoundNotes, TheSpeedOfAListenerIsThatOfTheCurveThroughItsKeys)
{
  const std::string text = sound_notes_text(notes_of(kScene));
  const auto path = [](double far) {
    return fmt::format(
        R"(listener.path=[{{"time": 0, "position": [0, 0, 0]}}, {{"time": 1, "position": [{0}, 0, 0]}},
                          {{"time": 2, "position": [{0}, 0, 0]}}])",
        far);
  };
  const double limit = 100.0 * 95 / 110.8333333;
  EXPECT_NO_THROW((void)parse_sound_notes(text, {path(limit - 0.01)}));
  EXPECT_THROW((void)parse_sound_notes(text, {path(limit + 0.01)}), Error);
  try {
    (void)parse_sound_notes(text, {path(95)});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("listener.path[1].position"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("111 m/s"), std::string::npos) << error.what();
  }
}

TEST(SoundNotes, FrequenciesThatLeaveNoModeAreRejected)
{
  const std::string text = sound_notes_text(notes_of(kScene));
  EXPECT_NO_THROW((void)parse_sound_notes(text, {"sound.min_frequency=14999"}));
  try {
    (void)parse_sound_notes(text, {"sound.min_frequency=30000"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--set sound.min_frequency=30000"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("15000 Hz"), std::string::npos) << error.what();
  }
}

TEST(SoundNotes, AMicrophoneFurtherThanTenKilometresIsRejected)
{
  const std::string text = sound_notes_text(notes_of(kScene));
  for (const char* place : {"9e6", "1e300", "-2e4"}) {
    try {
      (void)parse_sound_notes(text,
                              {fmt::format("listener.microphones=[{{\"position\": [0, {}, 0]}}]", place)});
      ADD_FAILURE() << place;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("10 km"), std::string::npos) << error.what();
    }
  }
}

TEST(SoundNotes, SoundIsTrueFalseOrAnObject)
{
  EXPECT_FALSE(parse_scene(R"({"bodies": []})", "test.json").sound.has_value());
  EXPECT_FALSE(parse_scene(R"({"sound": false, "bodies": []})", "test.json").sound.has_value());
  EXPECT_TRUE(parse_scene(R"({"sound": true, "bodies": []})", "test.json").sound.has_value());
  EXPECT_EQ(parse_scene(R"({"sound": {"modes": 5}, "bodies": []})", "test.json").sound->synthesis.modes, 5);
  EXPECT_THROW((void)parse_scene(R"({"sound": 3, "bodies": []})", "test.json"), Error);
}

}  // namespace
}  // namespace thrum::scene
