// SPDX-License-Identifier: MIT
#include "thrum/scene/scene_warnings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/base/scratch_folder.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/shapes/shapes.h"

namespace thrum::scene {
namespace {

std::vector<std::string> warnings_in(const std::string& bodies, const std::filesystem::path& name = "s.json",
                                     const std::string& rest = "")
{
  const SceneDesc scene = parse_scene("{\"bodies\": [" + bodies + "]" + rest + "}", name);
  return find_scene_warnings(scene, build_world(scene));
}

bool says(const std::vector<std::string>& warnings, std::size_t i, const std::string& words)
{
  return i < warnings.size() && warnings[i].find(words) != std::string::npos;
}

constexpr const char* kGround = R"({"name": "ground", "shape": {"kind": "plane"}, "motion": "fixed"})";

TEST(SceneWarnings, AGoodSceneHasNoWarnings)
{
  EXPECT_TRUE(warnings_in(std::string(kGround) + R"(,
    {"name": "box", "shape": {"kind": "box"}, "position": [0, 0, 0.5], "repeat": [{"kind": "stack", "count": 3, "spacing": 1}]},
    {"name": "ring", "shape": {"kind": "torus"}, "position": [3, 0, 1]})")
                  .empty());
}

TEST(SceneWarnings, ASceneWithoutMotionIsReported)
{
  EXPECT_EQ(warnings_in(kGround), std::vector<std::string>{"Nothing in this scene moves."});
}

TEST(SceneWarnings, TimesBeyondTheEndAreReported)
{
  const std::string ball = R"({"name": "late", "shape": {"kind": "sphere"}, "appears_at": 2})";
  EXPECT_TRUE(warnings_in(ball, "s.json", R"(, "duration": 3)").empty());
  EXPECT_TRUE(says(warnings_in(ball, "s.json", R"(, "duration": 2)"), 0, "'late' appears at 2 s"));
  const std::string now = R"({"shape": {"kind": "sphere"}})";
  for (const char* action :
       {R"("impulses": [{"body": "body0", "time": 2, "impulse": [0, 0, 1]}])",
        R"("forces": [{"body": "body0", "times": [2, 3], "forces": [[0, 0, 1], [0, 0, 0]]}])"}) {
    EXPECT_TRUE(warnings_in(now, "s.json", std::string(R"(, "duration": 3, )") + action).empty());
    EXPECT_TRUE(says(warnings_in(now, "s.json", std::string(R"(, "duration": 1, )") + action), 0,
                     "[0] begins at 2 s, but the run ends at 1 s"));
  }
  EXPECT_TRUE(says(warnings_in(now, "s.json", R"(, "duration": 0.1, "step": 0.2)"), 0, "0.2 s is longer"));
}

// Before the run, not only in a count after it.
TEST(SceneWarnings, AnImpulseBesideItsBodyIsReported)
{
  const auto with = [](const std::string& position) {
    return warnings_in(R"({"name": "bar", "shape": {"kind": "box", "size": [1, 0.1, 0.1]}})", "s.json",
                       R"(, "duration": 1, "impulses": [{"body": "bar", "time": 0.1, "impulse": [0, 0, 1],
                          "position": )" +
                           position + "}]");
  };
  EXPECT_TRUE(with("[0.5, 0, 0.05]").empty());
  EXPECT_TRUE(with("[0.1, 0, 0]").empty());
  const auto beside = with("[0, 5.05, 0]");
  ASSERT_EQ(beside.size(), 1U);
  EXPECT_TRUE(says(beside, 0, "is struck 5 m outside of it")) << beside[0];
  EXPECT_TRUE(says(beside, 0, "between [-0.5, -0.05, -0.05] and [0.5, 0.05, 0.05]")) << beside[0];
}

TEST(SceneWarnings, TimewarpThatCannotRunIsReported)
{
  const std::string ball = R"({"shape": {"kind": "sphere"}, "position": [0, 0, 2], "material": "steel"})";
  const std::string bar = R"({"shape": {"kind": "box", "size": [1, 0.2, 0.1]}, "material": "steel",
                              "rings": {"modes": 4, "grid": [0.2, 0.2, 0.1]}})";
  const auto with = [](const std::string& settings) {
    return R"(, "stepper": {"time_of_impact": "timewarp")" + settings + "}";
  };
  EXPECT_TRUE(warnings_in(ball, "s.json", with("")).empty());
  EXPECT_TRUE(warnings_in(ball, "s.json", with(R"(, "kind": "penalty")")).empty());
  EXPECT_TRUE(warnings_in(ball, "s.json", with("") + R"(, "sound": true)").empty());
  EXPECT_TRUE(says(warnings_in(bar, "s.json", with("")), 0, "bodies that ring act at once"));
  EXPECT_TRUE(says(warnings_in(ball, "s.json", with(R"(, "kind": "flexible")")), 0, "at one time"));
  EXPECT_TRUE(warnings_in(bar, "s.json", R"(, "stepper": {"time_of_impact": "conservative"})").empty());
}

TEST(SceneWarnings, AMovingOpenMeshIsReported)
{
  const base::ScratchFolder folder;
  mesh::TriangleMesh open = shapes::generate(shapes::BoxDesc{});
  open.triangles.pop_back();
  mesh_io::write_mesh(folder.path() / "open.obj", open);
  const std::string shape = R"("shape": {"kind": "file", "file": "open.obj")";
  const auto moving = warnings_in("{\"name\": \"lid\", " + shape + "}}", folder.path() / "s.json");
  ASSERT_EQ(moving.size(), 1u);
  EXPECT_TRUE(
      says(moving, 0, "s.json:1:13: bodies[0] 'lid' moves and is not watertight (3 bad edges, one at"));
  // As ground, or as its hull, it is welcome.
  const char* ball = R"(, {"shape": {"kind": "sphere"}, "position": [0, 0, 5]})";
  EXPECT_TRUE(
      warnings_in("{\"motion\": \"fixed\", " + shape + "}}" + ball, folder.path() / "s.json").empty());
  EXPECT_TRUE(warnings_in("{" + shape + ", \"convex\": true}}", folder.path() / "s.json").empty());
}

TEST(SceneWarnings, AMeshInMillimetresIsReported)
{
  const base::ScratchFolder folder;
  mesh_io::write_mesh(folder.path() / "mug.obj", shapes::generate(shapes::BoxDesc{.size = Vec3(80, 80, 95)}));
  const auto large =
      warnings_in(R"({"shape": {"kind": "file", "file": "mug.obj"}})", folder.path() / "s.json");
  ASSERT_FALSE(large.empty());
  EXPECT_TRUE(says(large, 0, "If it was drawn in millimetres it is 0.1477 m: scale it by 0.001."));
  EXPECT_TRUE(warnings_in(R"({"shape": {"kind": "file", "file": "mug.obj", "scale": 0.001}})",
                          folder.path() / "s.json", R"(, "length_scale": 0.1)")
                  .empty());
}

TEST(SceneWarnings, AWrongLengthScaleIsReported)
{
  const char* ball =
      R"({"shape": {"kind": "sphere", "radius": 0.005}, "repeat": [{"kind": "stack", "count": 3, "spacing": 1}]})";
  const auto small = warnings_in(ball);
  ASSERT_EQ(small.size(), 1u);
  EXPECT_TRUE(says(small, 0, "is 0.01 m long while \"length_scale\", the size of a typical body, is 1 m"));
  EXPECT_TRUE(warnings_in(ball, "s.json", R"(, "length_scale": 0.01)").empty());
}

TEST(SceneWarnings, InitialOverlapsAreReported)
{
  // 0.3 m under the ground; 0.8 m into the box; a ball 0.05 m into it is let go, and so is a pair held by a
  // joint.
  const auto deep = warnings_in(std::string(kGround) + R"(,
    {"name": "low", "shape": {"kind": "box"}, "position": [0, 0, 0.2]},
    {"name": "twin", "shape": {"kind": "box"}, "position": [0.2, 0, 0.5]},
    {"name": "near", "shape": {"kind": "sphere"}, "position": [4, 0, 0.45]},
    {"name": "arm", "shape": {"kind": "box"}, "position": [8, 0, 0.5]},
    {"name": "hand", "shape": {"kind": "box"}, "position": [8.5, 0, 0.5]})",
                                "s.json", R"(, "joints": [{"kind": "hinge", "a": "arm", "b": "hand"}])");
  ASSERT_EQ(deep.size(), 2u);
  EXPECT_TRUE(says(deep, 0, "bodies[1] 'low' starts 0.3 m deep inside 'ground'")) << deep[0];
  EXPECT_TRUE(says(deep, 1, "bodies[2] 'twin' starts 0.7 m deep inside 'low'")) << deep[1];
}

TEST(SceneWarnings, ManyOverlapsAreCounted)
{
  const auto many = warnings_in(
      R"({"shape": {"kind": "sphere"}, "repeat": [{"kind": "stack", "count": 11, "spacing": 0.7}]})");
  ASSERT_EQ(many.size(), 6u);
  EXPECT_EQ(many.back(), "5 more pairs of bodies start inside each other.");
}

TEST(SceneWarnings, ALatticeTooCoarseForThinWallsIsReported)
{
  // An E whose middle stroke is a tenth of the lattice thick.
  const SceneDesc scene = parse_scene(R"({"bodies": [{"name": "tray", "motion": "fixed", "material": "steel",
      "shape": {"kind": "extrusion", "outline": [[0, 0], [0.6, 0], [0.6, 0.15], [0.15, 0.15], [0.15, 0.2975], [0.4, 0.2975],
          [0.4, 0.3025], [0.15, 0.3025], [0.15, 0.45], [0.6, 0.45], [0.6, 0.6], [0, 0.6]], "height": 0.2},
      "rings": {"modes": 6, "spacing": 0.05}}]})",
                                      "s.json");
  const auto coarse = modal_warnings(scene, build_world(scene));
  ASSERT_FALSE(coarse.empty());
  EXPECT_TRUE(says(coarse, 0, "'tray' rings, but: ")) << coarse[0];
}

// A steel strip of 200 x 30 x 4 mm has its first mode, free, at 518 Hz.
TEST(SceneWarnings, ModesThatTheFlexibleStepperCannotUseAreReported)
{
  const auto strip = [](const char* flexible, const char* material) {
    const SceneDesc scene =
        parse_scene(R"({"stepper": {"kind": "flexible", "flexible": {)" + std::string(flexible) + R"(}},
            "materials": [{"name": "m", "base": "steel")" +
                        material + R"(}],
            "bodies": [{"name": "strip", "material": "m", "shape": {"kind": "box", "size": [0.2, 0.03, 0.004]},
            "rings": {"modes": 4, "grid": [0.02, 0.015, 0.004]}}]})",
                    "s.json");
    return find_scene_warnings(scene, build_world(scene));
  };
  EXPECT_TRUE(strip("", "").empty());
  EXPECT_TRUE(says(strip(R"("max_frequency": 200)", ""), 0, "'strip' has no modes up to"));
  EXPECT_TRUE(
      says(strip(R"("max_frequency": 30000)", ""), 0, "'strip' has 4 modes, of which the last is at"));
  EXPECT_TRUE(says(strip("", R"(, "alpha": 10000, "beta": 0)"), 0, "modes that are over-damped"));
}

// Fewer than 27 positions 1 m apart lie in a cube of 1.9 m; two always find their places.
TEST(SceneWarnings, ACrowdedScatterIsReported)
{
  const auto scatter = [](int count) {
    return R"({"name": "pea", "shape": {"kind": "sphere", "radius": 0.1}, "repeat": [{"kind": "scatter",
        "size": [1.9, 1.9, 1.9], "min_spacing": 1, "count": )" +
           std::to_string(count) + "}]}";
  };
  EXPECT_TRUE(warnings_in(scatter(2)).empty());
  EXPECT_TRUE(says(warnings_in(scatter(60)), 0, "'pea/0' is scattered with "));
  EXPECT_TRUE(says(warnings_in(scatter(60)), 0, " of 60 positions nearer to another than min_spacing"));
}

TEST(SceneWarnings, AMeshWithoutADistanceFieldIsReported)
{
  const base::ScratchFolder folder;
  for (const double edge : {0.02, 0.01}) {  // 30,000 and 120,000 triangles
    mesh_io::write_mesh(folder.path() / "block.ply", shapes::generate(shapes::BoxDesc{.edge_length = edge}));
    const auto warnings =
        warnings_in(R"({"name": "block", "motion": "fixed", "shape": {"kind": "file", "file":
        "block.ply"}}, {"name": "ball", "shape": {"kind": "sphere"}, "position": [0, 0, 3]})",
                    folder.path() / "s.json");
    EXPECT_EQ(warnings.size(), edge < 0.02 ? 1U : 0U) << edge;
    EXPECT_EQ(says(warnings, 0, "no distance field"), edge < 0.02);
  }
}

}  // namespace
}  // namespace thrum::scene
