// SPDX-License-Identifier: MIT
#include "thrum/scene/scene_file.h"
#include "tests/support/scene_mistakes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/base/scratch_folder.h"
#include "tests/support/source_dir.h"
#include "thrum/base/atomic_file.h"
#include "thrum/scene/build_world.h"
#include "thrum/scene/instances.h"
#include "thrum/scene/scene_schema.h"

namespace thrum::scene {
namespace {

using support::mistakes_of;

const std::filesystem::path kSource = support::source_dir();

std::string first_mistake_of(const std::string& text)
{
  const std::string all = mistakes_of(text);
  return all.substr(0, all.find('\n'));
}

TEST(SceneFile, ReadsASmallScene)
{
  const SceneDesc scene = parse_scene(R"({
    "duration": 2, // seconds
    "bodies": [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.2}, "position": [1, 2, 3],
                "rotation": {"axis": [0, 0, 2], "degrees": 90}}]
  })",
                                      "s.json");
  EXPECT_EQ(scene.duration, 2);
  ASSERT_EQ(scene.bodies.size(), 1u);
  EXPECT_EQ(scene.bodies[0].position, Vec3(1, 2, 3));
  EXPECT_NEAR((scene.bodies[0].rotation * Vec3::UnitX() - Vec3::UnitY()).norm(), 0, 1e-12);
  EXPECT_EQ(std::get<BallShape>(scene.bodies[0].shape.object->data).radius, 0.2);
}

TEST(SceneFile, UnderstandsTheShortNamesOfShapes)
{
  const SceneDesc scene = parse_scene(R"({"bodies": [
    {"shape": {"kind": "hull", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}},
    {"shape": {"kind": "heightfield", "columns": 2, "heights": [0, 0, 0, 0]}, "motion": "fixed"}]})",
                                      "s.json");
  EXPECT_TRUE(std::holds_alternative<HullShape>(scene.bodies[0].shape.object->data));
  EXPECT_TRUE(std::holds_alternative<HeightFieldShape>(scene.bodies[1].shape.object->data));
}

TEST(SceneFile, ReportsErrorsWithTheirLocation)
{
  EXPECT_EQ(mistakes_of(R"({"duraton": 2})").substr(0, 71),
            "s.json:1:2: duraton is not a key of this object. Its keys are $schema, ");
  EXPECT_TRUE(mistakes_of(R"({"duraton": 2})").ends_with(". Did you mean \"duration\"?"));
  EXPECT_EQ(mistakes_of(R"({"duration": "long"})"),
            "s.json:1:14: duration is \"long\"; it must be a number above 0 [s].");
  EXPECT_EQ(mistakes_of(R"({"duration": -1})"),
            "s.json:1:14: duration is -1; it must be a number above 0 [s].");
  EXPECT_EQ(mistakes_of(R"({"gravity": [0, 0]})"),
            "s.json:1:13: gravity is a list of 2 values; it must be a list of 3 numbers [m/s^2].");
  EXPECT_EQ(mistakes_of(R"({"gravity": [0, 0, true]})"),
            "s.json:1:20: gravity[2] is true; it must be a number [m/s^2].");
  EXPECT_EQ(mistakes_of(R"({"bodies": {}})"),
            "s.json:1:12: bodies is an empty object; it must be a list of objects.");
  EXPECT_EQ(mistakes_of(R"([])"), "s.json:1:1: the file is an empty list; it must be an object in braces.");
  EXPECT_EQ(mistakes_of(R"({"bodies": [{"shape": {"kind": "plane"}}]})"),
            "s.json:1:13: body \"body0\": motion must be \"fixed\": a plane cannot move.");
  EXPECT_EQ(mistakes_of(R"({"stepper": {"kind": "constrant"}})"),
            "s.json:1:22: stepper.kind is \"constrant\"; it must be one of constraint, impulse, penalty, "
            "flexible. Did you mean \"constraint\"?");
  EXPECT_EQ(mistakes_of(R"({"bodies": [{"shape": {"kind": "sphere"}, "rotation": [1, 1, 0, 0]}]})"),
            "s.json:1:55: body \"body0\": rotation is a quaternion of length 1.414; rotations have length 1. "
            "Divide it by 1.41421.");
  EXPECT_EQ(mistakes_of(R"({"bodies": [{"shape": {"kind": "sphere"}, "colour": "red"}]})"),
            "s.json:1:53: body \"body0\": colour is \"red\"; it must be a colour such as \"#c0392b\".");
  EXPECT_EQ(mistakes_of(R"({"bodies": [{"shape": {"kind": "sphere"}, "material": "stel"}]})"),
            "s.json:1:55: body \"body0\": material is \"stel\", but no material has that name. Did you mean "
            "\"steel\"?");
  EXPECT_EQ(
      mistakes_of(R"({"bodies": [{"name": "a"}]})"),
      "s.json:1:13: body \"a\": shape is missing. Give the body a \"shape\", or \"shapes\" for repeated "
      "bodies.");
  EXPECT_EQ(
      mistakes_of(R"({"bodies": [{"shape": {"kind": "plane"}, "motion": "fixed", "rings": {}}]})"),
      "s.json:1:70: body \"body0\": rings cannot be given to a plane, which has no end. Use a body of finite "
      "size, such as a box.");
  EXPECT_EQ(
      mistakes_of(R"({"bodies": [{"shape": {"kind": "sphere"}, "rings": {}}]})"),
      "s.json:1:52: body \"body0\": rings needs a material, from whose stiffness, density and damping its "
      "modes follow. Add \"material\", such as \"steel\" or \"wood\", or a \"file\" of modes.");
  EXPECT_EQ(
      mistakes_of(R"({"bodies": [{"shape": {"kind": "file", "file": "none.obj"}}]})"),
      "s.json:1:48: body \"body0\": shape.file names none.obj, where there is no file. Paths are relative to "
      "the scene file.");
  EXPECT_EQ(mistakes_of(R"({"shapes": [{"name": "s"}]})"),
            "s.json:1:13: shape \"s\": shape is missing. Add \"shape\": the shape.");
  EXPECT_EQ(
      mistakes_of(R"({"joints": [{}]})"),
      "s.json:1:13: joints[0].kind is missing. Write one of fixed, ball, hinge, slider, distance, spring.\n"
      "s.json:1:13: joints[0].a is missing. Add \"a\": a body.");
  EXPECT_EQ(mistakes_of(R"({"bodies": [{"shape": {"kind": "sphere"}, "rotation": [0, 0, 0, 0]}]})"),
            "s.json:1:55: body \"body0\": rotation is a quaternion of length 0. For no rotation write "
            "[1, 0, 0, 0].");
}

// A key that does nothing is reported, not ignored.
TEST(SceneFile, RejectsKeysThatAJointDoesNotRead)
{
  const auto joint = [](const std::string& keys) {
    return mistakes_of(R"({"bodies": [{"name": "b", "shape": {"kind": "sphere"}}], "joints": [{"a": "b", )" +
                       keys + "}]}");
  };
  const auto has = [](const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
  };
  EXPECT_EQ(joint(R"("kind": "distance", "length": 1, "position_on_b": [0, 0, 1])"), "none");
  EXPECT_EQ(joint(R"("kind": "spring", "stiffness": 5)"), "none");
  EXPECT_EQ(joint(R"("kind": "spring", "damping": 5)"), "none");
  EXPECT_EQ(joint(R"("kind": "hinge", "motor_speed": 1, "max_motor_force": 2)"), "none");
  EXPECT_TRUE(has(joint(R"("kind": "ball", "length": 1)"), "length is given, but only distance joints"));
  EXPECT_TRUE(has(joint(R"("kind": "ball", "position_on_b": [0, 0, 1])"), "position_on_b is given, but"));
  EXPECT_TRUE(has(joint(R"("kind": "hinge", "stiffness": 1)"), "stiffness is given, but only springs"));
  EXPECT_TRUE(has(joint(R"("kind": "hinge", "damping": 1)"), "damping is given, but only springs"));
  EXPECT_TRUE(has(joint(R"("kind": "spring")"), "the spring has no force"));
  EXPECT_TRUE(has(joint(R"("kind": "hinge", "motor_speed": 1)"), "the motor has no force"));
}

// Some shapes and bodies turn out to be wrong only when they are built.
TEST(SceneFile, ReportsWhatCannotBeBuiltWithItsLocation)
{
  const SceneDesc scene = parse_scene(
      "{\"bodies\": [\n{\"name\": \"land\", \"motion\": \"fixed\","
      R"( "shape": {"kind": "height_field", "columns": 4, "heights": [0, 0, 0, 0, 0]}}]})",
      "s.json");
  try {
    static_cast<void>(build_world(scene));
    FAIL();
  } catch (const SceneError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "s.json:2:1: body \"land\": shape cannot be built: 5 heights do not fill two or more rows of 4.");
  }
}

TEST(SceneFile, ReportsAllMistakesAtOnce)
{
  try {
    static_cast<void>(parse_scene(R"({
  "duration": 0,
  "bodies": [
    {"shape": {"kind": "spere"}},
    {"shape": {"kind": "box", "size": [1, -1, 1]}, "mas": 2}
  ]
})",
                                  "s.json"));
    FAIL();
  } catch (const SceneError& error) {
    ASSERT_EQ(error.mistakes().size(), 4u);
    EXPECT_EQ(error.mistakes()[0].place.path, "duration");
    EXPECT_EQ(error.mistakes()[1].place.path, "bodies[0].shape.kind");
    EXPECT_EQ(error.mistakes()[1].nearest, "sphere");
    EXPECT_EQ(error.mistakes()[1].place.line, 4u);
    EXPECT_EQ(error.mistakes()[2].place.path, "bodies[1].shape.size[1]");
    EXPECT_EQ(error.mistakes()[3].place.path, "bodies[1].mas");
    EXPECT_EQ(error.mistakes()[3].nearest, "mass");
  }
}

TEST(SceneFile, ExpressionsFollowParameters)
{
  const std::string text = R"({"parameters": {"n": 3, "h": "=2 * n"}, "duration": "=(h + 1) / 2 - -n"})";
  EXPECT_EQ(parse_scene(text, "s.json").duration, 6.5);
  EXPECT_EQ(parse_scene(text, "s.json", {.settings = {"parameters.n=1"}}).duration, 2.5);
  EXPECT_EQ(
      first_mistake_of(R"({"parameters": {"count": 3}, "duration": "=cont"})"),
      "s.json:1:42: duration is \"=cont\", which uses \"cont\", which is not a parameter of this file; its "
      "parameters are count. Did you mean \"count\"?");
  EXPECT_EQ(
      first_mistake_of(R"({"duration": "=1 / 0"})"),
      "s.json:1:14: duration is \"=1 / 0\", which is not a finite number. Is something divided by zero?");
  EXPECT_EQ(first_mistake_of(R"({"duration": "=(1"})"),
            "s.json:1:14: duration is \"=(1\", which has a '(' without its ')'.");
}

TEST(SceneFile, SettingsReachEveryValue)
{
  const std::string text = R"({"bodies": [{"name": "a", "shape": {"kind": "sphere"}}]})";
  const SceneDesc scene = parse_scene(
      text, "s.json",
      {.settings = {"bodies.a.position=[1,2,3]", "bodies[0].mass=4", "stepper.constraint.iterations=9"}});
  EXPECT_EQ(scene.bodies[0].position, Vec3(1, 2, 3));
  EXPECT_EQ(scene.bodies[0].desc.mass, 4);
  EXPECT_EQ(scene.world.constraint.iterations, 9);
  EXPECT_EQ(mistakes_of(text, {.settings = {"duration"}}),
            "--set duration: expected path=value, such as duration=2.");
  EXPECT_EQ(mistakes_of(text, {.settings = {"bodies.zz.mass=1"}}),
            "--set bodies.zz.mass=1: \"zz\" is not in the list, which has 1 element. Write an index such as "
            "[0], or the "
            "name of an element.");
}

TEST(SceneFile, IncludesArePutWithNamesAndParameters)
{
  const base::ScratchFolder folder;
  base::write_file(folder.path() / "part.json", std::string_view(R"({"parameters": {"r": 1}, "duration": 9,
    "bodies": [{"name": "ball", "shape": {"kind": "sphere", "radius": "=r"}, "position": [1, 0, 0]}]})"));
  const std::string text = R"({"include": [
    {"file": "part.json", "prefix": "a/", "parameters": {"r": 2}, "position": [0, 0, 5],
     "rotation": {"axis": [0, 0, 1], "degrees": 90}},
    {"file": "part.json", "prefix": "b/"}],
    "impulses": [{"body": "a/ball", "impulse": [1, 0, 0]}]})";
  const SceneDesc scene = parse_scene(text, folder.path() / "s.json");
  ASSERT_EQ(scene.bodies.size(), 2u);
  EXPECT_EQ(scene.duration, 9);
  EXPECT_EQ(scene.bodies[0].name, "a/ball");
  EXPECT_EQ(std::get<BallShape>(scene.bodies[0].shape.object->data).radius, 2);
  EXPECT_NEAR((instance_poses(scene.bodies[0], 0, 0)[0].position - Vec3(0, 1, 5)).norm(), 0, 1e-12);
  EXPECT_EQ(instance_poses(scene.bodies[1], 0, 0)[0].position, Vec3(1, 0, 0));
  // A file that includes itself ends with a message, not with the stack.
  base::write_file(folder.path() / "loop.json", std::string_view(R"({"include": [{"file": "loop.json"}]})"));
  try {
    static_cast<void>(read_scene(folder.path() / "loop.json"));
    FAIL();
  } catch (const SceneError& error) {
    EXPECT_EQ(error.mistakes()[0].message,
              "is more than 16 files deep. Do files include each other in a circle?");
  }
}

TEST(SceneFile, RepeatsCountAndPlace)
{
  const auto body = [](const std::string& repeat) {
    return parse_scene(
               R"({"bodies": [{"name": "b", "shape": {"kind": "sphere"}, "repeat": [)" + repeat + "]}]}",
               "s.json")
        .bodies[0];
  };
  const BodyEntry pyramid = body(R"({"kind": "pyramid", "rows": 20, "spacing": [1, 1]})");
  EXPECT_EQ(instance_count(pyramid), 210);
  const std::vector<Pose> poses = instance_poses(pyramid, 0, 0);
  ASSERT_EQ(poses.size(), 210u);
  Vec3 sum = Vec3::Zero();
  for (const Pose& pose : poses) sum += pose.position;
  EXPECT_NEAR(sum.x(), 0, 1e-9);
  EXPECT_EQ(poses.back().position, Vec3(0, 0, 19));
  EXPECT_EQ(instance_count(
                body(R"({"kind": "stack", "count": 3, "spacing": 1}, {"kind": "grid", "count": [2, 2, 1]})")),
            12);
  // A scatter is the same for the same seed, another for another, and keeps its distance.
  const BodyEntry scatter =
      body(R"({"kind": "scatter", "count": 20, "size": [10, 10, 10], "min_spacing": 1})");
  const std::vector<Pose> one = instance_poses(scatter, 1, 0);
  EXPECT_EQ(one[5].position, instance_poses(scatter, 1, 0)[5].position);
  EXPECT_NE(one[5].position, instance_poses(scatter, 2, 0)[5].position);
  for (std::size_t i = 0; i < one.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_GE((one[i].position - one[j].position).norm(), 1);
  }
}

// Turned any way: of many directions that were up, a third of each squared coordinate and nothing of the mean
// is left.
TEST(SceneFile, RotateTurnsAnyWay)
{
  for (const char* repeat :
       {R"({"kind": "grid", "count": [20, 20, 10], "random_rotation": true})",
        R"({"kind": "scatter", "count": 4000, "size": [9, 9, 9], "random_rotation": true})"}) {
    const BodyEntry body =
        parse_scene(std::string(R"({"bodies": [{"name": "b", "shape": {"kind": "sphere"}, "repeat": [)") +
                        repeat + "]}]}",
                    "s.json")
            .bodies[0];
    const std::vector<Pose> poses = instance_poses(body, 1, 0);
    ASSERT_EQ(poses.size(), 4000u);
    Vec3 mean = Vec3::Zero();
    Vec3 square = Vec3::Zero();
    for (const Pose& pose : poses) {
      const Vec3 up = pose.rotation * Vec3::UnitZ();
      mean += up / 4000;
      square += up.cwiseAbs2() / 4000;
    }
    // Four standard deviations: 1/sqrt(3 n) of a coordinate, sqrt(4/45 n) of its square.
    EXPECT_LT(mean.cwiseAbs().maxCoeff(), 4 / std::sqrt(3 * 4000.0)) << repeat;
    EXPECT_LT((square - Vec3::Constant(1.0 / 3)).cwiseAbs().maxCoeff(), 4 * std::sqrt(4 / (45 * 4000.0)))
        << repeat;
    EXPECT_EQ(poses[7].rotation.coeffs(), instance_poses(body, 1, 0)[7].rotation.coeffs()) << repeat;
    EXPECT_NE(poses[7].rotation.coeffs(), instance_poses(body, 2, 0)[7].rotation.coeffs()) << repeat;
  }
}

TEST(SceneFile, EveryPublishedSceneBuildsAndRuns)
{
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "scenes")) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++count;
    const SceneDesc scene = read_scene(entry.path());
    BuiltScene built = build_world(scene);
    EXPECT_EQ(built.visuals.size(), built.world.model().bodies.size() + built.late_bodies.size());
    for (int i = 0; i < 2; ++i) built.step(i * scene.step, scene.step);
    for (const model::BodyState& body : built.world.state().bodies) {
      EXPECT_TRUE(body.X_wb.position.allFinite());
    }
  }
  EXPECT_GE(count, 14);
}

TEST(SceneFile, SchemaAndReferenceAreThoseOfTheReader)
{
  EXPECT_EQ(base::read_text_file(kSource / "schemas/scene.schema.json"), scene_schema())
      << "run: thrum schema > schemas/scene.schema.json";
  EXPECT_EQ(base::read_text_file(kSource / "docs/scene_reference.md"), scene_reference())
      << "run: thrum schema --reference > docs/scene_reference.md";
}

TEST(SceneFile, NearestNames)
{
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("abcd", "abdc"), 1u);
  const std::vector<std::string> known = {"friction", "restitution", "density"};
  EXPECT_EQ(nearest_name("Fricton", known), "friction");
  EXPECT_EQ(nearest_name("zzz", known), "");
}

// A body of 2 kg without gravity is pushed 30 times with 1 N s, at every tenth of a second.
TEST(Script, AnImpulseActsOnceWhateverTheStep)
{
  std::string impulses;
  for (int i = 1; i <= 30; ++i)
    impulses +=
        fmt::format(R"({}{{"body": "ball", "time": {}, "impulse": [1, 0, 0]}})", i > 1 ? "," : "", 0.1 * i);
  const std::string text =
      R"({"gravity": [0, 0, 0], "bodies": [{"name": "ball", "mass": 2, "shape": {"kind": "sphere", "radius": 0.1}}],
          "impulses": [)" +
      impulses + "]}";
  for (const double rate : {10.0, 24.0, 25.0, 30.0, 50.0, 60.0, 90.0, 100.0, 120.0, 144.0, 200.0, 1000.0}) {
    BuiltScene built = build_world(parse_scene(text, "push.json"));
    const auto steps = static_cast<int>(std::lround(3.5 * rate));
    for (int i = 0; i < steps; ++i) built.step(i * (1 / rate), 1 / rate);
    EXPECT_NEAR(built.world.body(built.world.id_of(0)).velocity.x(), 15, 1e-9) << rate;
  }
}

}  // namespace
}  // namespace thrum::scene
