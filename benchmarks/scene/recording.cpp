// SPDX-License-Identifier: MIT
// What recording costs: its share of the time of a run, and the size of the files. Times are those that
// run.json gives, wall-clock, of one run: on a busy machine they are coarse, but both parts suffer alike.
#include <fmt/format.h>

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "benchmarks/harness.h"
#include "tests/support/source_dir.h"
#include "thrum/media/run_outputs.h"
#include "thrum/scene/run_scene.h"

namespace thrum::bench {

namespace {

struct Cost {
  double share = 0;      ///< of the time of the steps [%]
  double recording = 0;  ///< [MB]
  double page = 0;       ///< [MB]
  std::string hash;
};

Cost cost_of(const std::string& scene_file, const std::vector<std::string>& settings)
{
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("thrum_bench_{}", ::getpid());
  scene::RunDesc desc;
  desc.folder = folder;
  desc.scene_file = scene_file;
  desc.reading.settings = settings;
  desc.write_outputs = media::write_run_outputs;
  Cost cost;
  cost.hash = base::to_hex(scene::run_scene(scene::read_scene(scene_file, desc.reading), desc).final_hash);
  double step = 0;
  double recording = 0;
  std::ifstream file(folder / "run.json");
  const nlohmann::json run = nlohmann::json::parse(file);
  for (const auto& row : run["timings"]) {
    if (row["stage"] == "step") step = row["seconds"];
    if (row["stage"] == "record") recording = row["seconds"];
  }
  const auto megabytes = [&](const char* name) {
    std::error_code none;
    const auto size = std::filesystem::file_size(folder / name, none);
    return none ? 0.0 : static_cast<double>(size) * 1e-6;
  };
  cost.share = 100 * recording / step;
  cost.recording = megabytes("recording");
  cost.page = megabytes("index.html");
  std::filesystem::remove_all(folder);
  return cost;
}

}  // namespace

THRUM_BENCHMARK(scene, recording_cost)
{
  const std::filesystem::path scenes = support::source_dir() / "scenes";
  for (const char* name : {"hundred", "dinner"}) {
    const std::filesystem::path scene = scenes / fmt::format("{}.json", name);
    if (!std::filesystem::exists(scene)) continue;
    const Cost cost = cost_of(scene.string(), {});
    report.row({.name = fmt::format("recording, share of the steps, {}", name),
                .figure = cost.share,
                .unit = "%",
                .target = 5});
    report.note(fmt::format("{}: recording {:.1f} MB, page {:.1f} MB, state {}", name, cost.recording,
                            cost.page, cost.hash));
  }
}

// Bodies that have come to rest sleep, so that the steps cost next to nothing for most of this time.
THRUM_BENCHMARK(scene, minute_of_a_hundred)
{
  const std::filesystem::path scene = support::source_dir() / "scenes" / "hundred.json";
  const Cost cost = cost_of(scene.string(), {"duration=60", "outputs.poster=false"});
  report.row({.name = "recording, share of the steps, 60 s of 100 bodies",
              .figure = cost.share,
              .unit = "%",
              .target = 3});
}

THRUM_BENCHMARK(scene, long_recording)
{
  if (!include_slow_rows()) return;
  const std::filesystem::path scene = support::source_dir() / "scenes" / "hundred.json";
  const Cost cost = cost_of(scene.string(), {"parameters.count=499", "parameters.side=5",
                                             "parameters.height=8", "duration=60", "outputs.poster=false"});
  report.row(
      {.name = "recording of 60 s, 500 bodies", .figure = cost.recording, .unit = "MB", .target = 100});
  report.row({.name = "page of 60 s, 500 bodies", .figure = cost.page, .unit = "MB", .target = 100});
  report.row(
      {.name = "recording, share of the steps, 500 bodies", .figure = cost.share, .unit = "%", .target = 5});
}

}  // namespace thrum::bench
