// SPDX-License-Identifier: MIT
// Stacks: how far they drift, and the time of a step beside Bullet's on the same scene in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/growth.h"
#include "benchmarks/rigid/scenes.h"
#include "thrum/sim/world.h"

namespace thrum::bench {

namespace {

RunResult run_thrum(const BoxScene& scene, const rigid::ConstraintSettings& settings = {})
{
  sim::WorldDesc desc;
  desc.constraint = settings;
  desc.sleep.enabled = false;
  sim::World world(desc);
  world.set_surface(0, {0, scene.friction, 0, 0});
  sim::BodySpec ground;
  ground.shape = world.add_shape({model::Plane{}});
  ground.motion = model::Motion::fixed;
  world.add_body(ground);
  model::ShapeId shape = model::kNone;
  Vec3 half = Vec3::Zero();
  for (const BoxBody& box : scene.boxes) {
    if (box.half != half) shape = world.add_shape({model::Box{box.half}});
    half = box.half;
    sim::BodySpec body;
    body.shape = shape;
    body.X_ws.position = box.position;
    body.mass = box.mass;
    world.add_body(body);
  }
  const int steps = static_cast<int>(std::lround(scene.seconds / kStep));
  const double start = base::thread_cpu_clock();
  for (int i = 0; i < steps; ++i) world.step(kStep);
  RunResult result;
  result.seconds = (base::thread_cpu_clock() - start) / steps;
  for (std::size_t i = 0; i < scene.boxes.size(); ++i) {
    const Vec3 now = world.body(static_cast<model::BodyId>(i) + 1).X_wb.position;
    result.drift = std::max(result.drift, (now - scene.boxes[i].position).norm());
    result.sink = std::max(result.sink, scene.boxes[i].position.z() - now.z());
  }
  result.note =
      fmt::format("{}: state {}\n{}", scene.name, base::to_hex(world.hash()), world.times().table());
  return result;
}

void compare(Report& report, const BoxScene& scene, double drift_wanted, bool time_wanted,
             const rigid::ConstraintSettings& settings = {})
{
  const RunResult ours = run_thrum(scene, settings);
  const RunResult bullet = run_bullet(scene);
  Row drift;
  drift.name = fmt::format("{}, drift after {:.0f} s", scene.name, scene.seconds);
  drift.figure = 1e3 * ours.drift;
  drift.unit = "mm";
  drift.wanted = 1e3 * drift_wanted;
  drift.baseline = "Bullet";
  drift.baseline_figure = 1e3 * bullet.drift;
  report.row(drift);
  Row time;
  time.name = fmt::format("{}, step", scene.name);
  time.figure = 1e3 * ours.seconds;
  time.unit = "ms";
  time.baseline = "Bullet";
  time.baseline_figure = 1e3 * bullet.seconds;
  if (time_wanted) time.wanted_ratio = 1.0;
  report.row(time);
  report.note(ours.note);
}

}  // namespace

THRUM_BENCHMARK(rigid, tower)
{
  compare(report, tower(20), 0.005, false);
}
THRUM_BENCHMARK(rigid, pyramid)
{
  compare(report, pyramid(), 0.010, true);
}
THRUM_BENCHMARK(rigid, wall)
{
  compare(report, wall(), 0.020, true);
}
THRUM_BENCHMARK(rigid, heavy_on_light)
{
  rigid::ConstraintSettings settings;
  settings.order = rigid::SweepOrder::contact_graph;
  compare(report, heavy_on_ten(100), 0.005, false, settings);
  compare(report, heavy_on_ten(1000), 0.005, false, settings);
}

THRUM_BENCHMARK(rigid, growth)
{
  std::vector<Growth> sizes;
  std::string note = "steps of separate bodies:";
  for (const int count : {100, 400, 1600, 6000, 20000}) {
    // The least of a few runs, as small ones are over before the clock of the machine has settled.
    double least = run_thrum(separate(count)).seconds;
    for (int i = 0; i < 2; ++i) least = std::min(least, run_thrum(separate(count)).seconds);
    sizes.push_back({static_cast<double>(count), least});
    note += fmt::format(" {}: {:.2f} us a body;", count, 1e6 * least / count);
  }
  report_growth(report, "growth from 100 to 20,000 separate bodies", "step of 20,000 separate bodies", sizes);
  report.note(note);
}

}  // namespace thrum::bench
