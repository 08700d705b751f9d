// SPDX-License-Identifier: MIT
// The impulse stepper on the stacks: how far they drift and the time of a step, without sleeping.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/scenes.h"
#include "thrum/sim/world.h"

namespace thrum::bench {

namespace {

void measure_impulse(Report& report, const BoxScene& scene, double drift_wanted)
{
  sim::WorldDesc desc;
  desc.stepper = sim::StepperKind::impulse;
  desc.sleep.enabled = false;
  sim::World world(desc);
  world.set_surface(0, {0, scene.friction, 0, 0});
  sim::BodySpec ground;
  ground.shape = world.add_shape({model::Plane{}});
  ground.motion = model::Motion::fixed;
  world.add_body(ground);
  for (const BoxBody& box : scene.boxes) {
    sim::BodySpec body;
    body.shape = world.add_shape({model::Box{box.half}});
    body.X_ws.position = box.position;
    body.mass = box.mass;
    world.add_body(body);
  }
  const int steps = static_cast<int>(std::lround(scene.seconds / kStep));
  const double start = base::thread_cpu_clock();
  for (int i = 0; i < steps; ++i) world.step(kStep);
  const double seconds = (base::thread_cpu_clock() - start) / steps;
  double most = 0;
  for (std::size_t i = 0; i < scene.boxes.size(); ++i) {
    const Vec3 now = world.body(static_cast<model::BodyId>(i) + 1).X_wb.position;
    most = std::max(most, (now - scene.boxes[i].position).norm());
  }
  Row drift;
  drift.name = fmt::format("impulse: {}, drift after {:.0f} s", scene.name, scene.seconds);
  drift.figure = 1e3 * most;
  drift.unit = "mm";
  drift.wanted = 1e3 * drift_wanted;
  report.row(drift);
  Row time;
  time.name = fmt::format("impulse: {}, step", scene.name);
  time.figure = 1e3 * seconds;
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
