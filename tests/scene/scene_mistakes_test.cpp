// SPDX-License-Identifier: MIT
// Several mistakes of a scene at once: those of keys and those of meaning together, without what only follows
// from others.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/base/scratch_folder.h"
#include "thrum/base/atomic_file.h"
#include "thrum/scene/scene_file.h"

namespace thrum::scene {
namespace {

std::vector<Mistake> mistakes_in(const std::string& text, const std::filesystem::path& name = "s.json")
{
  try {
    static_cast<void>(parse_scene(text, name));
  } catch (const SceneError& error) {
    return error.mistakes();
  }
  return {};
}

std::vector<std::string> paths_in(const std::string& text)
{
  std::vector<std::string> paths;
  for (const Mistake& mistake : mistakes_in(text)) paths.push_back(mistake.place.path);
  return paths;
}

using Paths = std::vector<std::string>;

TEST(SceneMistakes, KeyErrorsDoNotHideValueErrors)
{
  EXPECT_EQ(paths_in(R"({
    "bodies": [
      {"name": "a", "shape": {"kind": "sphere", "radus": 1}, "material": "stel"},
      {"name": "a", "shape": {"kind": "file", "file": "none.obj"}, "mas": 2}
    ],
    "joints": [{"kind": "ball", "a": "a", "b": "c"}],
    "duraton": 3
  })"),
            (Paths{"bodies[0].shape.radus", "bodies[0].material", "bodies[1].name", "bodies[1].shape.file",
                   "bodies[1].mas", "joints[0].b", "duraton"}));
}

TEST(SceneMistakes, AreReportedInFileOrder)
{
  const std::vector<Mistake> all = mistakes_in(R"({
    "impulses": [{"body": "nobody", "impulse": [1, 0, 0]}],
    "bodies": [{"shape": {"kind": "sphere", "radius": -1}}, {"shape": {"kind": "plane"}}]
  })");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const Mistake& a, const Mistake& b) {
    return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  }));
}

TEST(SceneMistakes, FollowOnErrorsAreNotReported)
{
  // No shape, because its key was not known.
  EXPECT_EQ(paths_in(R"({"bodies": [{"shap": {"kind": "sphere"}}]})"), Paths{"bodies[0].shap"});
  // A plane that may move, because "fixed" was not read.
  EXPECT_EQ(paths_in(R"({"bodies": [{"shape": {"kind": "plane"}, "moton": "fixed"}]})"),
            Paths{"bodies[0].moton"});
  EXPECT_EQ(paths_in(R"({"bodies": [{"shape": {"kind": "plane"}, "motion": "fixd"}]})"),
            Paths{"bodies[0].motion"});
  // Not even a body.
  EXPECT_EQ(paths_in(R"({"bodies": [3]})"), Paths{"bodies[0]"});
  // Names that stand in a list or under a key that was not read.
  EXPECT_EQ(
      paths_in(
          R"({"materals": [{"name": "tin"}], "bodies": [{"shape": {"kind": "sphere"}, "material": "tin"}]})"),
      Paths{"materals"});
  EXPECT_EQ(paths_in(R"({"bodies": [{"nme": "a", "shape": {"kind": "sphere"}}],
                         "impulses": [{"body": "a", "impulse": [1, 0, 0]}]})"),
            Paths{"bodies[0].nme"});
  EXPECT_EQ(paths_in(R"({"bodies": [{"name": "a", "shape": {"kind": "sphere"}, "repeat": [{"kind": "stak"}]}],
                         "impulses": [{"body": "a/1", "impulse": [1, 0, 0]}]})"),
            Paths{"bodies[0].repeat[0].kind"});
  // As many forces as times could be counted only if both were there.
  EXPECT_EQ(paths_in(R"({"bodies": [{"name": "a", "shape": {"kind": "sphere"}}],
                         "forces": [{"body": "a", "times": [0, "x"], "forces": [[0, 0, 1], [0, 0, 2]]}]})"),
            Paths{"forces[0].times[1]"});
  EXPECT_EQ(paths_in(R"({"joints": [{"kind": "ball"}]})"), Paths{"joints[0].a"});
}

TEST(SceneMistakes, IndependentErrorsAreReported)
{
  // "mas" is no shape, so the shape is missing as well.
  EXPECT_EQ(paths_in(R"({"bodies": [{"mas": 2}]})"), (Paths{"bodies[0].shape", "bodies[0].mas"}));
  // A key beside the name does not make the name doubtful.
  EXPECT_EQ(paths_in(R"({"bodies": [{"name": "a", "shape": {"kind": "sphere"}, "mas": 2}],
                         "impulses": [{"body": "b", "impulse": [1, 0, 0]}]})"),
            (Paths{"bodies[0].mas", "impulses[0].body"}));
}

TEST(SceneMistakes, InvalidJsonInAnIncludeIsReportedWithTheOthers)
{
  const base::ScratchFolder folder;
  base::write_file(folder.path() / "part.json", std::string_view("{\"duration\": }"));
  const std::vector<Mistake> all =
      mistakes_in(R"({"include": [{"file": "part.json"}], "duraton": 2})", folder.path() / "whole.json");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].place.path, "duraton");
  EXPECT_EQ(all[1].place.file, folder.path() / "part.json");
  EXPECT_EQ(all[1].place.line, 1u);
}

TEST(SceneMistakes, CameraErrorsHaveALine)
{
  const std::vector<Mistake> all = mistakes_in("{\n\"camera\": {\"eye\": [0, 0, 1], \"target\": [0, 0, 1]}}");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].place.line, 2u);
  EXPECT_EQ(all[0].place.path, "camera.eye");
}

TEST(SceneMistakes, AllSettingErrorsAreReported)
{
  try {
    static_cast<void>(parse_scene("{}", "s.json", {.settings = {"duration", "bodies[0].mass"}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "--set duration: expected path=value, such as duration=2.\n"
              "--set bodies[0].mass: expected path=value, such as duration=2.");
  }
}

}  // namespace
}  // namespace thrum::scene
