// SPDX-License-Identifier: MIT
#include "thrum/scene/sound_notes.h"

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
  "materials": [{"name": "pan", "base": "steel", "contact_damping": 0.75}],
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
