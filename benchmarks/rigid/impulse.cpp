// SPDX-License-Identifier: MIT
// The impulse stepper on the stacks: how far they drift and the time of a step, without sleeping.
#include <fmt/format.h>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/scenes.h"

namespace thrum::bench {

namespace {

void measure_impulse(Report& report, const BoxScene& scene, double target_drift)
{
  const RunResult result = run_thrum(scene, sim::StepperKind::impulse);
  Row drift;
  drift.name = fmt::format("impulse: {}, drift after {:.0f} s", scene.name, scene.seconds);
  drift.figure = 1e3 * result.drift;
  drift.unit = "mm";
  drift.target = 1e3 * target_drift;
  report.row(drift);
  Row time;
  time.name = fmt::format("impulse: {}, step", scene.name);
  time.figure = 1e3 * result.seconds;
  time.unit = "ms";
  report.row(time);
}

}  // namespace

THRUM_BENCHMARK(rigid, impulse_stepper)
{
  measure_impulse(report, tower(20), 0.005);
  measure_impulse(report, heavy_on_ten(1000), 0.005);
  measure_impulse(report, pyramid(), 0.010);
  measure_impulse(report, wall(), 0.020);
}

}  // namespace thrum::bench
