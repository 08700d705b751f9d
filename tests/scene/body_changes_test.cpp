// SPDX-License-Identifier: MIT
// Bodies that appear and are removed while a scene runs, and what is made from their recording.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/base/scratch_folder.h"
#include "tests/support/scene_mistakes.h"
#include "thrum/base/atomic_file.h"
#include "thrum/media/motion_glb.h"
#include "thrum/media/run_outputs.h"
#include "thrum/media/snapshots.h"
#include "thrum/media/viewer_data.h"
#include "thrum/scene/build_world.h"
#include "thrum/scene/run_scene.h"

namespace thrum::scene {
namespace {

using support::paths_of_mistakes;

// Balls fall one by one onto a plate that rings, a pendulum appears and is removed with its string, and the
// slots of removed balls are used again.
constexpr const char* kTap = R"({
  "duration": 1, "step": 0.01, "seed": 3,
  "outputs": {"frame_rate": 50, "page": false, "poster": false, "glb": false},
  "bodies": [
    {"name": "plate", "shape": {"kind": "box", "size": [0.6, 0.4, 0.05]}, "motion": "fixed",
     "material": "steel", "rings": {"modes": 4, "spacing": 0.05}},
    {"name": "ball", "shape": {"kind": "sphere", "radius": 0.03}, "material": "steel",
     "position": [0.1, 0, 0.1],
     "repeat": [{"kind": "along", "points": [[0, -0.17, 0], [0.15, 0.17, 0]], "count": 6}],
     "appears_at": 0.105, "appears_every": 0.1, "removed_at": 0.4},
    {"name": "bob", "shape": {"kind": "sphere", "radius": 0.03}, "position": [-0.1, 0, 0.3],
     "appears_at": 0.25, "removed_at": 0.75},
    {"name": "box", "shape": {"kind": "box", "size": [0.1, 0.1, 0.1]}, "position": [-0.2, 0, 0.0755]}
  ],
  "joints": [{"kind": "distance", "a": "bob", "position": [-0.1, 0, 0.3], "position_on_b": [-0.3, 0, 0.3]}],
  "impulses": [{"body": "bob", "time": 0.5, "impulse": [0, 0.01, 0]}]})";

std::filesystem::path write_scene(const base::ScratchFolder& folder, const std::string& text = kTap)
{
  base::write_file(folder / "s.json", std::string_view(text));
  return folder / "s.json";
}

RunDesc desc_of(const std::filesystem::path& scene_file, const std::filesystem::path& folder)
{
  RunDesc desc;
  desc.folder = folder;
  desc.scene_file = scene_file;
  desc.write_outputs = media::write_run_outputs;
  desc.checkpoint_interval = 0;
  return desc;
}

sim::Recording run(const std::string& text)
{
  const base::ScratchFolder folder;
  const std::filesystem::path file = write_scene(folder, text);
  static_cast<void>(run_scene(read_scene(file), desc_of(file, folder / "run")));
  return sim::read_recording(folder / "run" / "recording");
}

const sim::RecordedBody& body_of(const sim::Recording& recording, const std::string& name)
{
  const auto& bodies = recording.header.bodies;
  return *std::find_if(bodies.begin(), bodies.end(), [&](const auto& body) { return body.name == name; });
}

std::size_t number_of(const sim::Recording& recording, const std::string& name)
{
  return static_cast<std::size_t>(&body_of(recording, name) - recording.header.bodies.data());
}

// At the first step that begins then or later, however the steps are cut: until then it is not there, and
// from then on it falls by g t.
TEST(BodyChanges, HappenAtTheFirstStepThatBeginsThenOrLater)
{
  for (const double step : {1.0 / 60, 0.01, 0.003}) {
    for (const int slices : {1, 8}) {
      const std::string text = fmt::format(R"({{"duration": 1, "step": {}, "stepper": {{"max_slices": {}}},
        "bodies": [
          {{"name": "fast", "shape": {{"kind": "sphere"}}, "velocity": [300, 0, 0], "position": [0, 9, 0]}},
          {{"name": "late", "shape": {{"kind": "sphere"}}, "position": [0, 0, 5],
            "appears_at": 0.2, "removed_at": 0.7}}]}})",
                                           step, slices);
      BuiltScene built = build_world(parse_scene(text, "s.json"));
      for (int i = 0; i < std::lround(1 / step); ++i) {
        const double time = i * step;
        built.step(time, step);
        const model::BodyId id = built.ids[1];
        // The step from `time` on is taken with the body.
        const bool expected = time > 0.2 - 1e-9 && time < 0.7 - 1e-9;
        ASSERT_EQ(built.world.contains(id), expected) << "step " << step << " time " << time;
        if (!expected) continue;
        const double begins = std::ceil(0.2 / step - 1e-6) * step;
        EXPECT_NEAR(built.world.body(id).velocity.z(), -9.81 * (time + step - begins), 1e-9);
      }
    }
  }
}

TEST(BodyChanges, FramesHaveTheBodiesOfTheirTime)
{
  const sim::Recording r = run(kTap);
  for (int i = 0; i < 6; ++i) {
    const sim::RecordedBody& ball = body_of(r, fmt::format("ball/{}", i));
    for (std::size_t f = 0; f < r.frames.size(); ++f) {
      const double time = r.frames[f].time;
      // 0.105 s is within a step of 0.01 s: it appears at 0.11 s.
      const bool expected = time > 0.11 + 0.1 * i - 1e-6 && time < 0.4 + 0.1 * i - 1e-6;
      EXPECT_EQ(ball.is_in_frame(f), expected) << ball.name << " at " << time;
    }
  }
  ASSERT_EQ(r.header.links.size(), 1u);
  EXPECT_EQ(r.header.links[0].first_frame, body_of(r, "bob").first_frame);
  EXPECT_EQ(r.header.links[0].end_frame, body_of(r, "bob").end_frame);
}

// A ball touches the plate where it is: the event that names it is at its place, also when its slot was that
// of another.
TEST(BodyChanges, EventsNameTheBodiesThatTheyHappenedTo)
{
  const sim::Recording r = run(kTap);
  int balls = 0;
  for (std::size_t f = 0; f < r.frames.size(); ++f) {
    for (const model::ContactEvent& e : r.frames[f].events) {
      if (e.kind == model::ContactEventKind::end) continue;
      const std::size_t other = std::max(e.a.slot, e.b.slot);
      if (!r.header.bodies[other].name.starts_with("ball")) continue;
      ++balls;
      const Vec3 place = r.frames[std::min(f, static_cast<std::size_t>(r.header.bodies[other].end_frame) - 1)]
                             .poses[other]
                             .pose()
                             .position;
      EXPECT_LT((place - e.position).head<2>().norm(), 0.02) << r.header.bodies[other].name;
    }
  }
  EXPECT_GE(balls, 6);
  std::set<std::uint32_t> slots;
  for (const sim::RecordedBody& body : r.header.bodies) slots.insert(body.id.slot);
  EXPECT_LT(slots.size(), r.header.bodies.size()) << "slots must be used again in this test";
}

// Before, at and after every change, and at every frame between.
TEST(BodyChanges, AResumedRunHasTheSameBytes)
{
  const base::ScratchFolder folder;
  const std::filesystem::path file = write_scene(folder);
  const SceneDesc scene = read_scene(file);
  const RunResult whole = run_scene(scene, desc_of(file, folder / "whole"));
  const std::string bytes = base::read_text_file(folder / "whole" / "recording");
  for (int stop_at = 1; stop_at < 100; stop_at += 3) {
    base::StopSource stop;
    RunDesc desc = desc_of(file, folder / "cut");
    desc.stop = stop.token();
    int steps = 0;
    desc.on_progress = [&](const RunProgress&) {
      if (++steps == stop_at) stop.request_stop();
    };
    ASSERT_FALSE(run_scene(scene, desc).finished);
    const RunResult resumed = resume_run(desc_of(file, folder / "cut"));
    ASSERT_TRUE(resumed.finished);
    ASSERT_EQ(resumed.final_hash, whole.final_hash) << "stopped after step " << stop_at;
    ASSERT_TRUE(base::read_text_file(folder / "cut" / "recording") == bytes) << stop_at;
  }
}

// What is left moves as if the others had never been there, wherever in the list they are.
TEST(BodyChanges, ChangeNothingAboutBodiesThatTheyDoNotTouch)
{
  const std::string kept = R"({"name": "ground", "shape": {"kind": "plane"}, "motion": "fixed"},
    {"name": "box", "shape": {"kind": "box", "size": [0.4, 0.4, 0.4]}, "position": [0, 0, 0.5],
     "repeat": [{"kind": "stack", "count": 4, "spacing": 0.45, "twist": 10}]})";
  const std::string others =
      R"({"name": "other", "shape": {"kind": "box"}, "motion": "fixed", "position": [50, 0, 0],
     "appears_at": 0.1, "appears_every": 0.05, "removed_at": 0.3,
     "repeat": [{"kind": "along", "points": [[0, 0, 0], [90, 0, 0]], "count": 12}]})";
  const auto scene = [](const std::string& bodies) {
    return fmt::format(R"({{"duration": 1, "outputs": {{"page": false, "poster": false}}, "bodies": [{}]}})",
                       bodies);
  };
  const sim::Recording alone = run(scene(kept));
  for (const std::string& bodies : {kept + ", " + others, others + ", " + kept}) {
    const sim::Recording with = run(scene(bodies));
    ASSERT_EQ(with.frames.size(), alone.frames.size());
    for (int i = 0; i < 4; ++i) {
      const std::string name = fmt::format("box/{}", i);
      for (std::size_t f = 0; f < alone.frames.size(); ++f) {
        ASSERT_EQ(with.frames[f].poses[number_of(with, name)], alone.frames[f].poses[number_of(alone, name)]);
        ASSERT_EQ(with.frames[f].kinetic_energy, alone.frames[f].kinetic_energy);
      }
    }
  }
}

TEST(BodyChanges, CompareNamesABodyThatIsInOneRunOnly)
{
  const std::string later =
      std::string(kTap).replace(std::string(kTap).find("\"removed_at\": 0.75"), 18, "\"removed_at\": 0.85");
  const RunComparison comparison = compare_runs(run(kTap), run(later));
  EXPECT_FALSE(comparison.same);
  EXPECT_NE(comparison.text.find("'bob' is then in one of them only"), std::string::npos) << comparison.text;
  EXPECT_NE(comparison.text.find("0.76 s"), std::string::npos) << comparison.text;
}

nlohmann::json json_of_glb(const std::string& glb)
{
  std::uint32_t length = 0;
  std::memcpy(&length, glb.data() + 12, 4);
  return nlohmann::json::parse(glb.substr(20, length));
}

std::vector<float> floats_of(const std::string& glb, const nlohmann::json& json, int accessor)
{
  std::uint32_t length = 0;
  std::memcpy(&length, glb.data() + 12, 4);
  const auto& view = json["bufferViews"][json["accessors"][accessor]["bufferView"].get<std::size_t>()];
  std::vector<float> values(view["byteLength"].get<std::size_t>() / sizeof(float));
  std::memcpy(values.data(), glb.data() + 20 + length + 8 + view["byteOffset"].get<std::size_t>(),
              values.size() * sizeof(float));
  return values;
}

// The size of a node at each frame, as a program that reads the file finds it.
TEST(BodyChanges, AGlbShowsABodyOnlyInItsFrames)
{
  const sim::Recording r = run(kTap);
  const std::string glb = media::motion_glb(r);
  const nlohmann::json json = json_of_glb(glb);
  int hidden = 0;
  for (std::size_t n = 0; n < json["nodes"].size(); ++n) {
    const nlohmann::json& node = json["nodes"][n];
    const auto body = std::find_if(r.header.bodies.begin(), r.header.bodies.end(),
                                   [&](const auto& b) { return b.name == node["name"]; });
    if (body == r.header.bodies.end()) continue;
    std::vector<float> times, scales;
    for (const nlohmann::json& channel : json["animations"][0]["channels"]) {
      if (channel["target"]["node"] != n || channel["target"]["path"] != "scale") continue;
      const nlohmann::json& sampler =
          json["animations"][0]["samplers"][channel["sampler"].get<std::size_t>()];
      EXPECT_EQ(sampler["interpolation"], "STEP");
      times = floats_of(glb, json, sampler["input"]);
      scales = floats_of(glb, json, sampler["output"]);
    }
    for (std::size_t f = 0; f < r.frames.size(); ++f) {
      float size = node.contains("scale") ? node["scale"][0].get<float>() : 1.0f;
      for (std::size_t k = 0; k < times.size(); ++k) {
        if (times[k] <= static_cast<float>(r.frames[f].time)) size = scales[3 * k];
      }
      ASSERT_EQ(size, body->is_in_frame(f) ? 1 : 0) << body->name << " frame " << f;
      if (size == 0) ++hidden;
    }
  }
  EXPECT_GT(hidden, 100);
}

TEST(BodyChanges, APageAndPicturesShowABodyOnlyInItsFrames)
{
  const sim::Recording r = run(kTap);
  const nlohmann::json data = nlohmann::json::parse(media::viewer_data({{.recording = &r}}))["runs"][0];
  for (std::size_t b = 0; b < r.header.bodies.size(); ++b) {
    const nlohmann::json& body = data["bodies"][b];
    for (std::size_t f = 0; f < r.frames.size(); ++f) {
      const double time = r.frames[f].time;
      const bool shown = !(body.contains("from") && body["from"] > time) &&
                         !(body.contains("until") && body["until"] <= time);
      ASSERT_EQ(shown, r.header.bodies[b].is_in_frame(f)) << r.header.bodies[b].name << " at " << time;
    }
  }
  EXPECT_TRUE(data["links"][0].contains("from") && data["links"][0].contains("until"));
  // A picture after all have been removed is that of a scene without them.
  const std::string camera = R"("camera": {"eye": [0.5, -1.5, 0.8], "target": [0, 0, 0]}, "duration")";
  const auto with_camera = [&](std::string text) {
    const std::string rings = R"("rings": {"modes": 4, "spacing": 0.05})";  // kicks would move the box
    text.replace(text.find(rings), rings.size(), R"("density": 1000)");
    return text.replace(text.find("\"duration\""), 10, camera);
  };
  std::string without = with_camera(kTap);
  for (const char* key : {"\"appears_at\": 0.105", "\"appears_at\": 0.25"})
    without.replace(without.find(key), std::string(key).size(), "\"appears_at\": 0.95");
  for (const char* key : {"\"removed_at\": 0.4", "\"removed_at\": 0.75"})
    without.replace(without.find(key), std::string(key).size(), "\"removed_at\": 0.97");
  without.replace(without.find("\"time\": 0.5"), 11, "\"time\": 0.96");
  const media::Image a = media::render_snapshot(run(with_camera(kTap)), 0.92, {.width = 96, .height = 64});
  const media::Image b = media::render_snapshot(run(without), 0.92, {.width = 96, .height = 64});
  const media::Image c = media::render_snapshot(run(with_camera(kTap)), 0.5, {.width = 96, .height = 64});
  EXPECT_NE(a.pixels, c.pixels);
  EXPECT_EQ(a.pixels, b.pixels);
}

TEST(BodyChanges, MistakesAreFoundBeforeTheRun)
{
  using Paths = std::vector<std::string>;
  const auto bodies = [](const std::string& first, const std::string& second, const std::string& more = "") {
    return fmt::format(R"({{"bodies": [{{"name": "a", "shape": {{"kind": "sphere"}}{}}},
                                       {{"name": "b", "shape": {{"kind": "sphere"}}{}}}]{}}})",
                       first, second, more);
  };
  const std::string joint = R"(, "joints": [{"kind": "ball", "a": "a", "b": "b"}])";
  EXPECT_EQ(paths_of_mistakes(bodies(R"(, "appears_at": 2, "removed_at": 2)", "")),
            Paths{"bodies[0].removed_at"});
  EXPECT_EQ(paths_of_mistakes(bodies(R"(, "appears_at": -1)", "")), Paths{"bodies[0].appears_at"});
  EXPECT_EQ(paths_of_mistakes(bodies(R"(, "appears_every": 1)", "")), Paths{"bodies[0].appears_every"});
  EXPECT_EQ(paths_of_mistakes(bodies(R"(, "appears_at": 1)", "", joint)), Paths{"joints[0]"});
  EXPECT_EQ(paths_of_mistakes(bodies(R"(, "appears_at": 1)", R"(, "motion": "fixed")", joint)), Paths{});
  EXPECT_EQ(
      paths_of_mistakes(bodies(R"(, "appears_at": 3)", R"(, "motion": "fixed", "removed_at": 2)", joint)),
      Paths{"joints[0]"});
  EXPECT_EQ(paths_of_mistakes(bodies(R"(, "appears_at": 1)", R"(, "appears_at": 1, "removed_at": 2)", joint)),
            Paths{});
  const auto impulse = [&](double time) {
    return bodies(R"(, "appears_at": 1, "removed_at": 2)", "",
                  fmt::format(R"(, "impulses": [{{"body": "a", "time": {}, "impulse": [1, 0, 0]}}])", time));
  };
  EXPECT_EQ(paths_of_mistakes(impulse(0.5)), Paths{"impulses[0].time"});
  EXPECT_EQ(paths_of_mistakes(impulse(1.5)), Paths{});
  EXPECT_EQ(paths_of_mistakes(impulse(2)), Paths{"impulses[0].time"});
  EXPECT_EQ(paths_of_mistakes(
                bodies(R"(, "removed_at": 2)", "",
                       R"(, "forces": [{"body": "a", "times": [3, 4], "forces": [[1, 0, 0], [1, 0, 0]]}])")),
            Paths{"forces[0].times"});
  EXPECT_EQ(paths_of_mistakes(
                bodies(R"(, "appears_at": 1, "material": "wood", "rings": {"supports": "contacts"})", "")),
            Paths{"bodies[0].rings.supports"});
  // What a world would reject in the middle of the run is rejected before it.
  EXPECT_THROW(
      static_cast<void>(build_world(parse_scene(
          R"({"bodies": [{"shape": {"kind": "file", "file": "s.obj"}, "appears_at": 1}]})", "s.json"))),
      Error);
}

}  // namespace
}  // namespace thrum::scene
