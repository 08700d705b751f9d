// SPDX-License-Identifier: MIT
// Stacks: how far they drift, and the time of a step beside Bullet's on the same scene in the same run.
#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/growth.h"
#include "benchmarks/rigid/scenes.h"

namespace thrum::bench {

namespace {

// Both run in turn, so that other programs slow both alike.
constexpr int kRepeats = 5;

// `target_time`: of the step, as a multiple of Bullet's; 0: none.
void compare(Report& report, const BoxScene& scene, double target_drift, double target_time)
{
  RunResult ours;
  RunResult bullet;
  PairedTimes times;
  for (int i = 0; i < kRepeats; ++i) {
    ours = run_thrum(scene);
    bullet = run_bullet(scene);
    times.add(ours.seconds, bullet.seconds);
  }
  // Both repeat their motion bit for bit.
  Row drift;
  drift.name = fmt::format("{}, drift after {:.0f} s", scene.name, scene.seconds);
  drift.figure = 1e3 * ours.drift;
  drift.unit = "mm";
  drift.target = 1e3 * target_drift;
  drift.baseline = "Bullet";
  drift.baseline_value = 1e3 * bullet.drift;
  report.row(drift);
  Row time;
  time.name = fmt::format("{}, step", scene.name);
  time.baseline = "Bullet";
  if (target_time > 0) time.target_ratio = 1.0 / target_time;
  report_paired_times(report, time, times);
  report.note(ours.note);
}

}  // namespace

THRUM_BENCHMARK(rigid, tower)
{
  compare(report, tower(20), 0.005, 0);
}
THRUM_BENCHMARK(rigid, pyramid)
{
  compare(report, pyramid(), 0.010, 0.38);
}
THRUM_BENCHMARK(rigid, wall)
{
  compare(report, wall(), 0.020, 0.45);
}
THRUM_BENCHMARK(rigid, heavy_on_light)
{
  // Under the ordering by the contact graph, which is the default.
  compare(report, heavy_on_ten(100), 0.005, 0);
  compare(report, heavy_on_ten(1000), 0.005, 0);
}

THRUM_BENCHMARK(rigid, growth)
{
  std::vector<Growth> sizes;
  std::string note = "steps of separate bodies:";
  for (const int count : {100, 400, 1600, 6000, 20000}) {
    // The least of a few runs, as small ones are over before the clock of the machine has settled.
    double min_seconds = run_thrum(separate(count)).seconds;
    for (int i = 0; i < 2; ++i) min_seconds = std::min(min_seconds, run_thrum(separate(count)).seconds);
    sizes.push_back({static_cast<double>(count), min_seconds});
    note += fmt::format(" {}: {:.2f} us a body;", count, 1e6 * min_seconds / count);
  }
  report_growth(report, "growth from 100 to 20,000 separate bodies", "step of 20,000 separate bodies", sizes);
  report.note(note);
}

THRUM_BENCHMARK(rigid, falling)
{
  std::vector<Growth> sizes;
  std::string note = "steps of boxes that fall into a heap:";
  for (const int count : {1000, 3000, 10000, 20000}) {
    const RunResult result = run_thrum(falling(count));
    sizes.push_back({static_cast<double>(count), result.seconds});
    note += fmt::format(" {}: {:.2f} us a body, {:.2f} J a body at the end;", count,
                        1e6 * result.seconds / count, result.energy / count);
  }
  report_growth(report, "growth from 1,000 to 20,000 falling boxes", "step of 20,000 falling boxes", sizes,
                1.1);
  report.note(note);
}

}  // namespace thrum::bench
