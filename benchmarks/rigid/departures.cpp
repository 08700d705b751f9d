// SPDX-License-Identifier: MIT
// What each departure of the impulse stepper from [Guendelman03] buys: rings in a narrow box with all of
// them, with one of them taken back, and as published. docs/methods/impulse_stepper.md has the table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/ring_world.h"
#include "benchmarks/rigid/scenes.h"

namespace thrum::bench {

namespace {

using rigid::ContactLevels;
using rigid::ContactPoints;
using rigid::ImpulseSettings;

struct Departure {
  const char* paper;  ///< what the paper does
  void (*take_back)(ImpulseSettings&);
};

constexpr std::array kDepartures = {
    Departure{"points: all vertices and edges inside, at each visit",
              [](ImpulseSettings& s) {
                s.contact_points = ContactPoints::paper;
              }},
    Departure{"levels from predicted positions",
              [](ImpulseSettings& s) {
                s.levels = ContactLevels::predicted;
              }},
    Departure{"impulses not accumulated",
              [](ImpulseSettings& s) {
                s.accumulate_impulses = false;
              }},
    Departure{"moving bodies are held too",
              [](ImpulseSettings& s) {
                s.hold_resting_only = false;
              }},
    Departure{"gaps stay open",
              [](ImpulseSettings& s) {
                s.close_gaps = false;
              }},
    Departure{"flat patches point by point",
              [](ImpulseSettings& s) {
                s.solve_flat_patches = false;
              }},
    Departure{"no warm start",
              [](ImpulseSettings& s) {
                s.warm_start = false;
              }},
    Departure{"positions by the new velocity",
              [](ImpulseSettings& s) {
                s.mean_velocity = false;
              }},
    Departure{"overlap is not pushed out",
              [](ImpulseSettings& s) {
                s.push_out = false;
              }},
    Departure{"2 rounds over each level",
              [](ImpulseSettings& s) {
                s.shock_level_iterations = 2;
              }},
};

struct Outcome {
  double worst = 0;     ///< deepest contact of the run [m]
  double depth = 0;     ///< at the end [m]
  double energy = 0;    ///< kinetic, at the end [J]
  double max_gain = 0;  ///< largest rise of the whole energy in a step [J]
  double seconds = 0;   ///< CPU time of a step [s]
  double linked = 0;
};

Outcome run(const RingScene& scene, const ImpulseSettings& settings)
{
  sim::WorldDesc desc = ring_world_desc();
  desc.stepper = sim::StepperKind::impulse;
  desc.impulse = settings;
  auto [world, first] = make_ring_world(scene, desc);
  Outcome result;
  const int steps = static_cast<int>(std::lround(scene.seconds / kStep));
  double energy = world.kinetic_energy() + world.potential_energy();
  for (int i = 0; i < steps; ++i) {
    const double start = base::thread_cpu_clock();
    world.step(kStep);
    result.seconds += (base::thread_cpu_clock() - start) / steps;
    result.depth = max_penetration(world);
    result.worst = std::max(result.worst, result.depth);
    const double now = world.kinetic_energy() + world.potential_energy();
    result.max_gain = std::max(result.max_gain, now - energy);
    energy = now;
  }
  std::vector<Pose> poses;
  for (std::size_t i = 0; i < scene.rings.size(); ++i)
    poses.push_back(world.shape_pose(world.id_of(static_cast<model::BodyIndex>(first + i))));
  result.linked = linked_pairs(poses);
  result.energy = world.kinetic_energy();
  return result;
}

}  // namespace

THRUM_BENCHMARK(rigid, departures)
{
  const RingScene scene = rings_in_narrow_box(include_slow_rows() ? 200 : 60);
  std::string table =
      "| as in the paper | worst overlap [mm] | at the end [mm] | energy at 5 s [J] | largest gain in a step "
      "[J] | "
      "linked | step [ms] |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  const auto measure = [&](const char* name, const ImpulseSettings& settings) {
    const Outcome o = run(scene, settings);
    table += fmt::format("| {} | {:.1f} | {:.2f} | {:.3g} | {:.2g} | {} | {:.1f} |\n", name, 1e3 * o.worst,
                         1e3 * o.depth, o.energy, std::max(0.0, o.max_gain), o.linked, 1e3 * o.seconds);
    const auto row = [&](const char* what, double figure, const char* unit) {
      Row r;
      r.name = fmt::format("impulse, {}: {}", name, what);
      r.figure = figure;
      r.unit = unit;
      report.row(r);
    };
    row("worst overlap", 1e3 * o.worst, "mm");
    row("energy at the end", o.energy, "J");
    row("step", 1e3 * o.seconds, "ms");
  };
  measure("nothing (the default)", {});
  ImpulseSettings published;
  for (const Departure& departure : kDepartures) {
    ImpulseSettings settings;
    departure.take_back(settings);
    departure.take_back(published);
    measure(departure.paper, settings);
  }
  measure("all of these", published);
  report.note(scene.name + "\n" + table);
}

}  // namespace thrum::bench
