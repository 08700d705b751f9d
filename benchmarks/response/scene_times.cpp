// SPDX-License-Identifier: MIT
// The six scenes of the distant response as they run: how many times faster than real time on one thread, and
// which part of a step is the response. Making the scene and its modes is not included.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "benchmarks/harness.h"
#include "tests/support/source_dir.h"
#include "thrum/base/parallel.h"
#include "thrum/base/timing.h"
#include "thrum/scene/build_world.h"

namespace thrum::bench {
namespace {

struct StepTimes {
  double step = 0;     ///< wall-clock [s]
  double respond = 0;  ///< of it, the response [s]
};

struct SceneRun {
  double times_real_time = 0;  ///< by CPU time
  std::vector<StepTimes> steps;
};

double stage_seconds(sim::World& world, const std::string& name)
{
  double sum = 0;
  for (const base::StageRow& row : world.times().rows()) sum += row.name == name ? row.total : 0;
  return sum;
}

SceneRun run(const scene::SceneDesc& desc)
{
  scene::BuiltScene built = scene::build_world(desc);
  const auto steps = static_cast<int>(std::lround(desc.duration / desc.step));
  SceneRun result;
  StepTimes before;
  double seconds = 0;
  for (int i = 0; i < steps; ++i) {
    const double start = base::thread_cpu_clock();
    built.step(i * desc.step, desc.step);
    seconds += base::thread_cpu_clock() - start;
    const StepTimes now{stage_seconds(built.world, "step"), stage_seconds(built.world, "respond")};
    result.steps.push_back({now.step - before.step, now.respond - before.respond});
    before = now;
  }
  result.times_real_time = desc.duration / seconds;
  return result;
}

// All runs of a scene are the same, so a step takes what its fastest run took: other programs only add.
std::vector<StepTimes> fastest_steps(const std::vector<SceneRun>& runs)
{
  std::vector<StepTimes> best = runs.front().steps;
  for (const SceneRun& one : runs) {
    for (std::size_t i = 0; i < best.size(); ++i) {
      best[i].step = std::min(best[i].step, one.steps[i].step);
      best[i].respond = std::min(best[i].respond, one.steps[i].respond);
    }
  }
  return best;
}

}  // namespace

THRUM_BENCHMARK(response, scene_times)
{
  constexpr int kRepeats = 5;
  const std::filesystem::path folder = support::source_dir() / "scenes";
  const std::vector<std::string> names = {"dinner", "wrench_on_roof", "scaffold",
                                          "truck",  "rockfall",       "washing_machine"};
  std::map<std::string, std::vector<SceneRun>> runs;
  base::set_thread_count(1);
  for (int repeat = 0; repeat < kRepeats; ++repeat)
    for (const std::string& name : names)
      runs[name].push_back(run(scene::read_scene(folder / (name + ".json"), {})));
  base::set_thread_count(0);
  for (const std::string& name : names) {
    std::vector<double> speeds;
    for (const SceneRun& one : runs[name]) speeds.push_back(one.times_real_time);
    const Spread speed = spread_of(speeds);
    StepTimes sum;
    double longest = 0;
    for (const StepTimes& step : fastest_steps(runs[name])) {
      sum.step += step.step;
      sum.respond += step.respond;
      longest = std::max(longest, step.respond);
    }
    report.row({.name = fmt::format("{}: times real time, median of {} ({:.3g} to {:.3g})", name, kRepeats,
                                    speed.min, speed.max),
                .figure = speed.median,
                .unit = "x",
                .target = name == "dinner" ? 20 : 1,
                .better = Better::higher});
    report.row({.name = fmt::format("{}: response, share of the steps", name),
                .figure = 100 * sum.respond / sum.step,
                .unit = "%"});
    report.row({.name = fmt::format("{}: response in the slowest step", name),
                .figure = 1e3 * longest,
                .unit = "ms"});
  }
  report.note("shares: each step by the fastest of its runs, wall-clock");
}

}  // namespace thrum::bench
