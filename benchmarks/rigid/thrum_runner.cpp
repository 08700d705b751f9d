// SPDX-License-Identifier: MIT
// Scenes of boxes in thrum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/rigid/scenes.h"
#include "thrum/base/timing.h"

namespace thrum::bench {

RunResult run_thrum(const BoxScene& scene, sim::StepperKind stepper)
{
  sim::WorldDesc desc;
  desc.reports = {false, false, false};  // not needed here
  desc.threads = 1;                      // as Bullet, and the CPU time of the others would not count
  desc.stepper = stepper;
  desc.sleep.enabled = false;
  sim::World world(desc);
  world.set_surface(model::kDefaultSurface, {0, scene.friction, 0, 0});
  sim::BodyDesc ground;
  ground.shape = world.add_shape({model::Plane{}});
  ground.motion = model::Motion::fixed;
  world.add_body(ground);
  model::ShapeId shape;
  Vec3 half = Vec3::Zero();
  for (const BoxBody& box : scene.boxes) {
    if (box.half != half) shape = world.add_shape({model::Box{box.half}});
    half = box.half;
    sim::BodyDesc body;
    body.shape = shape;
    body.X_ws = {box.position, box.rotation};
    body.mass = box.mass;
    world.add_body(body);
  }
  const int steps = static_cast<int>(std::lround(scene.seconds / kStep));
  const double start = base::thread_cpu_clock();
  for (int i = 0; i < steps; ++i) world.step(kStep);
  RunResult result;
  result.seconds = (base::thread_cpu_clock() - start) / steps;
  result.energy = world.kinetic_energy();
  for (std::size_t i = 0; i < scene.boxes.size(); ++i) {
    const Vec3 now = world.state().bodies[i + 1].X_wb.position;
    result.drift = std::max(result.drift, (now - scene.boxes[i].position).norm());
    result.sink = std::max(result.sink, scene.boxes[i].position.z() - now.z());
  }
  result.note =
      fmt::format("{}: state {}\n{}", scene.name, base::to_hex(world.hash()), world.times().table());
  return result;
}

}  // namespace thrum::bench
