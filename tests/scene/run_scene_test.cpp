// SPDX-License-Identifier: MIT
#include "thrum/scene/run_scene.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/base/scratch_folder.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/npz.h"
#include "thrum/base/random.h"
#include "thrum/media/motion_glb.h"
#include "thrum/media/run_outputs.h"
#include "thrum/media/viewer_data.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/sim/checkpoint.h"

namespace thrum::scene {
namespace {

constexpr const char* kScene = R"({
  "duration": 1, "seed": 3,
  "outputs": {"poster_width": 64, "poster_height": 48},
  "bodies": [
    {"name": "ground", "shape": {"kind": "plane"}, "motion": "fixed"},
    {"name": "box", "shape": {"kind": "box", "size": [0.4, 0.4, 0.4]}, "position": [0, 0, 1],
     "repeat": [{"kind": "scatter", "count": 12, "size": [0.8, 0.8, 1], "min_spacing": 0.5}]}
  ]})";

std::filesystem::path write_scene(const base::ScratchFolder& folder)
{
  base::write_file(folder / "s.json", std::string_view(kScene));
  return folder / "s.json";
}

RunResult run_into(const std::filesystem::path& scene_file, const std::filesystem::path& folder,
                   const base::StopToken& stop = {}, std::function<void(const RunProgress&)> progress = {},
                   double interval = 0)
{
  RunDesc desc;
  desc.folder = folder;
  desc.scene_file = scene_file;
  desc.write_outputs = media::write_run_outputs;
  desc.checkpoint_interval = interval;
  desc.stop = stop;
  desc.on_progress = std::move(progress);
  return run_scene(read_scene(scene_file), desc);
}

TEST(RunScene, WritesAllOutputFiles)
{
  const base::ScratchFolder folder;
  const RunResult result = run_into(write_scene(folder), folder / "run");
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.steps, 60u);
  for (const char* name : {"recording", "motion.glb", "events.csv", "energy.csv", "run.json", "poster.png"}) {
    EXPECT_TRUE(std::filesystem::is_regular_file(folder / "run" / name)) << name;
  }
  const sim::Recording recording = sim::read_recording(folder / "run" / "recording");
  EXPECT_TRUE(recording.complete);
  EXPECT_EQ(recording.final_hash, result.final_hash);
  ASSERT_EQ(recording.frames.size(), 61u);
  EXPECT_EQ(recording.header.bodies[1].name, "box/0");
  EXPECT_NEAR(recording.frames.back().time, 1, 1e-9);
  // The energy of a pile without motors never grows.
  const auto energy = [](const sim::RecordedFrame& f) {
    return f.kinetic_energy + f.potential_energy;
  };
  EXPECT_LT(energy(recording.frames.back()), energy(recording.frames.front()));
  EXPECT_NE(media::events_csv(recording).find(",hit,"), std::string::npos);
  media::write_motion_npz(folder / "m.npz", recording);
  const base::NpzFile npz = base::read_npz(folder / "m.npz");
  EXPECT_EQ(npz.at("position").shape, (std::vector<std::size_t>{61, 13, 3}));
  // The GLB is one that our own reader of meshes takes.
  const mesh_io::MeshFile glb = mesh_io::read_mesh_file(folder / "run" / "motion.glb");
  EXPECT_EQ(glb.mesh.triangles.size(), 12u * 12u + 2u);
  // Colours are called after the bodies that have them.
  const std::vector<std::byte> bytes = base::read_file(folder / "run" / "motion.glb");
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 12, sizeof(length));
  const auto* text = reinterpret_cast<const char*>(bytes.data() + 20);
  const nlohmann::json root = nlohmann::json::parse(text, text + length);
  EXPECT_EQ(root.at("materials").front().at("name"), "box/0");
  EXPECT_EQ(root.at("materials").back().at("name"), "ground square");
}

TEST(RunScene, KeepsTheModesOfWhatRingsForThePage)
{
  const base::ScratchFolder folder;
  const auto write = [&](const std::string& rings) {
    base::write_file(folder / "s.json", std::string_view(R"({
      "duration": 0.1, "outputs": {"poster": false, "glb": false, "page": false},
      "response": {"method": "modal"},
      "bodies": [{"name": "slab", "motion": "fixed", "material": "wood", "shape": {"kind": "box", "size": [1, 0.5, 0.1]})" +
                                                         rings + R"(,
                  "repeat": [{"kind": "grid", "count": [2, 1, 1], "spacing": [2, 2, 2]}]}]})"));
  };
  write(R"(, "rings": {"modes": 3, "spacing": 0.1})");
  static_cast<void>(run_into(folder / "s.json", folder / "run"));
  const sim::Recording recording = sim::read_recording(folder / "run" / "recording");
  // Both slabs share one file.
  const media::ViewerRun shown = media::viewer_run(folder / "run", recording);
  ASSERT_EQ(shown.modes.size(), 1u);
  EXPECT_EQ(shown.modes[0].first, "slab");
  EXPECT_EQ(shown.modes[0].second.mode_count(), 3);
  const auto data = nlohmann::json::parse(media::viewer_data({shown}));
  EXPECT_EQ(data["runs"][0]["modes"][0]["bodies"], nlohmann::json({0, 1}));

  // A later run in the folder, in which nothing rings, leaves none of them.
  write("");
  static_cast<void>(run_into(folder / "s.json", folder / "run"));
  EXPECT_TRUE(media::viewer_run(folder / "run", recording).modes.empty());
}

TEST(RunScene, ResumingGivesTheBitsOfAnUninterruptedRun)
{
  const base::ScratchFolder folder;
  const std::filesystem::path scene = write_scene(folder);
  const RunResult whole = run_into(scene, folder / "whole");
  for (const double when : {0.1, 0.55}) {
    base::StopSource stop;
    const RunResult part = run_into(scene, folder / "part", stop.token(), [&](const RunProgress& p) {
      if (p.time >= when) stop.request_stop();
    });
    EXPECT_FALSE(part.finished);
    RunDesc again;
    again.folder = folder / "part";
    again.write_outputs = media::write_run_outputs;
    const RunResult resumed = resume_run(again);
    EXPECT_TRUE(resumed.finished);
    EXPECT_EQ(resumed.final_hash, whole.final_hash);
    EXPECT_EQ(base::read_text_file(folder / "part" / "energy.csv"),
              base::read_text_file(folder / "whole" / "energy.csv"));
    EXPECT_EQ(base::read_text_file(folder / "part" / "events.csv"),
              base::read_text_file(folder / "whole" / "events.csv"));
    EXPECT_TRUE(compare_runs(sim::read_recording(folder / "part" / "recording"),
                             sim::read_recording(folder / "whole" / "recording"))
                    .same);
  }
}

TEST(RunScene, AFinishedRunIsNotResumed)
{
  const base::ScratchFolder folder;
  const RunResult whole = run_into(write_scene(folder), folder / "run");
  RunDesc again;
  again.folder = folder / "run";
  again.write_outputs = media::write_run_outputs;
  const RunResult resumed = resume_run(again);
  EXPECT_TRUE(resumed.finished && resumed.already_finished);
  EXPECT_EQ(resumed.final_hash, whole.final_hash);
  EXPECT_EQ(resumed.steps, whole.steps);
  // Killed before its last file was there: the files are made again.
  std::filesystem::remove(folder / "run" / "run.json");
  EXPECT_FALSE(resume_run(again).already_finished);
  EXPECT_TRUE(resume_run(again).already_finished);
}

TEST(RunScene, SurvivesBeingKilledAtAnyMoment)
{
  const base::ScratchFolder folder;
  const std::filesystem::path scene = write_scene(folder);
  const RunResult whole = run_into(scene, folder / "whole");
  base::Random random(7);
  for (int round = 0; round < 6; ++round) {
    const auto last_step = random.integer(1, 58);
    const std::filesystem::path run = folder / ("killed" + std::to_string(round));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int steps = 0;
      // The child ends as kill -9 ends it: nothing is flushed or closed.
      static_cast<void>(run_into(scene, run, {}, [&](const RunProgress&) {
        if (++steps == last_step) ::raise(SIGKILL);
      }));
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const sim::Recording cut = sim::read_recording(run / "recording");
    EXPECT_FALSE(cut.complete);
    EXPECT_GE(static_cast<std::int64_t>(cut.frames.size()), last_step);
    RunDesc again;
    again.folder = run;
    again.write_outputs = media::write_run_outputs;
    EXPECT_EQ(resume_run(again).final_hash, whole.final_hash);
  }
}

TEST(RunScene, AChangedSceneIsNotResumed)
{
  const base::ScratchFolder folder;
  const std::filesystem::path scene = write_scene(folder);
  base::StopSource stop;
  static_cast<void>(
      run_into(scene, folder / "run", stop.token(), [&](const RunProgress&) { stop.request_stop(); }));
  base::write_file(scene, std::string_view(R"({"duration": 2})"));
  RunDesc again;
  again.folder = folder / "run";
  again.write_outputs = media::write_run_outputs;
  EXPECT_THROW(static_cast<void>(resume_run(again)), Error);
}

TEST(Recording, SurvivesBeingCutAnywhere)
{
  const base::ScratchFolder folder;
  static_cast<void>(run_into(write_scene(folder), folder / "run"));
  const std::string bytes = base::read_text_file(folder / "run" / "recording");
  const sim::Recording whole = sim::parse_recording(bytes, "r");
  base::Random random(5);
  std::size_t fewest = whole.frames.size();
  for (int round = 0; round < 200; ++round) {
    const std::size_t cut = random.index(bytes.size());
    try {
      const sim::Recording part = sim::parse_recording(std::string_view(bytes).substr(0, cut), "r");
      EXPECT_FALSE(part.complete);
      fewest = std::min(fewest, part.frames.size());
      for (std::size_t f = 0; f < part.frames.size(); ++f) {
        ASSERT_EQ(part.frames[f].state_hash, whole.frames[f].state_hash);
        ASSERT_EQ(part.frames[f].poses, whole.frames[f].poses);
      }
    } catch (const InputError&) {
      // Only a file without its description cannot be read.
      EXPECT_LT(cut, 4000u);
    }
    // A flipped bit is noticed, and nothing after it is believed.
    std::string changed = bytes;
    changed[cut] = static_cast<char>(changed[cut] ^ (1 << random.index(8)));
    try {
      EXPECT_LE(sim::parse_recording(changed, "r").frames.size(), whole.frames.size());
    } catch (const InputError&) {
    }
  }
  EXPECT_LT(fewest, whole.frames.size());
}

TEST(Checkpoint, KeepsEveryBit)
{
  const base::ScratchFolder folder;
  static_cast<void>(run_into(write_scene(folder), folder / "run"));
  const std::string bytes = base::read_text_file(folder / "run" / "checkpoint");
  const sim::Checkpoint read = sim::parse_checkpoint(bytes, "c");
  EXPECT_EQ(sim::checkpoint_bytes(read), bytes);
  EXPECT_FALSE(read.state.patches.empty());
  // A last piece shorter than the step scales the impulses that the next one starts from.
  sim::Checkpoint cut = read;
  cut.state.last_step = 0.004;
  EXPECT_EQ(sim::parse_checkpoint(sim::checkpoint_bytes(cut), "c").state.last_step, 0.004);
}

TEST(Checkpoint, SaysWhatIsWrongAndWhatToDo)
{
  const base::ScratchFolder folder;
  static_cast<void>(run_into(write_scene(folder), folder / "run"));
  const std::string bytes = base::read_text_file(folder / "run" / "checkpoint");
  const auto message = [](const std::string& damaged) -> std::string {
    try {
      static_cast<void>(sim::parse_checkpoint(damaged, "run/checkpoint"));
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  std::string other_version = bytes;
  other_version[8] = 99;
  const std::string advice = " Run the scene again without --resume.";
  EXPECT_EQ(message("no"), "run/checkpoint is not a checkpoint of thrum." + advice);
  EXPECT_NE(message(other_version).find("run/checkpoint has version 99 of the format, and this program"),
            std::string::npos);
  EXPECT_EQ(message(bytes.substr(0, bytes.size() - 1)),
            "run/checkpoint is damaged: its bytes do not have its checksum." + advice);
  for (std::size_t length = 0; length < 16; ++length)
    EXPECT_NE(message(bytes.substr(0, length)).find(advice), std::string::npos) << length;
}

TEST(CompareRuns, ReportsWhereTheyDiverge)
{
  const base::ScratchFolder folder;
  const std::filesystem::path scene = write_scene(folder);
  static_cast<void>(run_into(scene, folder / "a"));
  RunDesc desc;
  desc.folder = folder / "b";
  desc.scene_file = scene;
  static_cast<void>(run_scene(read_scene(scene, {.settings = {"seed=4"}}), desc));
  const RunComparison parted = compare_runs(sim::read_recording(folder / "a" / "recording"),
                                            sim::read_recording(folder / "b" / "recording"));
  EXPECT_FALSE(parted.same);
  EXPECT_NE(parted.text.find("diverge at 0 s"), std::string::npos) << parted.text;
}

// A heavy box on a cantilever as soft as jelly: the run goes on, and says that this was no small vibration.
// On a stiff one it is silent.
TEST(RunScene, WarnsOfLargeDeflections)
{
  const base::ScratchFolder folder;
  for (const bool soft : {true, false}) {
    const std::string text = R"({"duration": 0.4, "step": 0.01, "length_scale": 0.2,
      "outputs": {"poster_width": 64, "poster_height": 48}, "response": {"rule": "peak_displacement"},
      "materials": [{"name": "block", "density": 100, "young": )" +
                             std::string(soft ? "1e3" : "1e10") + R"(, "poisson": 0.3}],
      "bodies": [
        {"name": "block", "shape": {"kind": "box", "size": [0.6, 0.4, 0.2]}, "motion": "fixed", "material": "block",
         "rings": {"modes": 6, "clamp": "x<-0.29", "spacing": 0.1}},
        {"name": "box", "shape": {"kind": "box", "size": [0.1, 0.1, 0.1]}, "mass": 10, "position": [0.2, 0, 0.4],
         "velocity": [0, 0, -2]}]})";
    base::write_file(folder / "s.json", std::string_view(text));
    const RunResult result = run_into(folder / "s.json", folder / (soft ? "soft" : "stiff"));
    EXPECT_TRUE(result.finished);
    ASSERT_EQ(result.warnings.size(), soft ? 1U : 0U);
    if (soft) {
      EXPECT_NE(result.warnings[0].find("An impact bends 'block'"), std::string::npos) << result.warnings[0];
    }
  }
}

}  // namespace
}  // namespace thrum::scene
