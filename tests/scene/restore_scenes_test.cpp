// SPDX-License-Identifier: MIT
// A restored scene goes on with the same bits, from every step: with contacts that are kept, impacts within a
// step and steps that are cut.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/source_dir.h"
#include "thrum/model/compare_state.h"
#include "thrum/scene/build_world.h"
#include "thrum/scene/scene_file.h"

namespace thrum::scene {
namespace {

const std::filesystem::path kScenes = support::source_dir() / "scenes";

void expect_the_same_bits_from_every_step(const char* file, const std::vector<std::string>& settings,
                                          int steps)
{
  const SceneDesc scene = read_scene(kScenes / file, {.settings = settings});
  BuiltScene whole = build_world(scene);
  BuiltScene restored = build_world(scene);
  for (int i = 0; i < steps; ++i) {
    restored.world.restore(whole.world.save());
    whole.world.step(scene.step);
    restored.world.step(scene.step);
    const auto difference = model::first_difference(whole.world.state(), restored.world.state());
    ASSERT_FALSE(difference) << file << " step " << i << ": " << difference->text();
  }
}

TEST(RestoreScenes, BodiesThatBounceAndComeToRest)
{
  for (const char* stepper :
       {"stepper.kind=constraint", "stepper.kind=impulse", "stepper.kind=penalty", "stepper.kind=flexible"})
    expect_the_same_bits_from_every_step("hundred.json", {stepper}, 120);
}

TEST(RestoreScenes, RingsThatPileUp)
{
  for (const char* stepper : {"stepper.kind=constraint", "stepper.kind=impulse"})
    expect_the_same_bits_from_every_step("rings_in_box.json", {"parameters.layers=1", stepper}, 90);
}

}  // namespace
}  // namespace thrum::scene
