// SPDX-License-Identifier: MIT
#include "benchmarks/methods/timewarp.h"

#include <fmt/format.h>

#include <vector>

#include "benchmarks/methods/scenes.h"
#include "thrum/media/plot.h"

namespace thrum::bench {

namespace {

constexpr double kStep = 1.0 / 60;
/// Every impact may cut a step.
constexpr int kAllImpacts = 1000000;

struct Work {
  double seconds = 0;  ///< of a step
  sim::ImpactCounts counts;
  double impacts = 0;  ///< in a step
  double energy = 0;   ///< change, as a share
};

/// Steps after which balls have left the lattice that they begin on.
constexpr int kMixingSteps = 30;

sim::WorldDesc desc_with(sim::TimeOfImpactMethod time_of_impact)
{
  sim::WorldDesc desc;
  desc.time_of_impact = time_of_impact;
  desc.max_impact_slices = kAllImpacts;
  desc.threads = 1;
  return desc;
}

model::SceneState mixed_state(int bodies)
{
  sim::World world = gas_scene(desc_with(sim::TimeOfImpactMethod::timewarp), bodies);
  for (int i = 0; i < kMixingSteps; ++i) world.step(kStep);
  return world.save();
}

Work run(sim::TimeOfImpactMethod time_of_impact, const model::SceneState& start, int bodies, int steps)
{
  sim::World world = gas_scene(desc_with(time_of_impact), bodies);
  world.restore(start);
  const double energy = world.kinetic_energy();
  Work work;
  for (int i = 0; i < steps; ++i) {
    work.seconds += cpu_seconds_once([&] { world.step(kStep); }) / steps;
    for (const model::ContactEvent& event : world.events())
      work.impacts += event.kind == model::ContactEventKind::hit ? 1.0 / steps : 0;
  }
  work.counts = world.impact_counts();
  work.energy = world.kinetic_energy() / energy - 1;
  return work;
}

}  // namespace

std::string measure_timewarp(Report& report, const std::filesystem::path& picture)
{
  using sim::TimeOfImpactMethod;
  std::string section =
      "\n## Timewarp against bisection of the whole scene\n\n"
      "Balls of 10 cm fly through a box at up to 10 m/s along each axis, 1.2 m apart on average, and bounce "
      "without\n"
      "loss. Every impact cuts a step of 1/60 s. A body in a slice that is solved is one body step; those "
      "undone are\n"
      "included.\n\n"
      "| bodies | impacts in a step | method | body steps in a step | of these undone | CPU time of a step "
      "[ms] |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  std::vector<media::PlotSeries> series(3);
  const std::vector<std::pair<std::string, TimeOfImpactMethod>> methods{
      {"bisection", TimeOfImpactMethod::bisection},
      {"conservative", TimeOfImpactMethod::conservative},
      {"timewarp", TimeOfImpactMethod::timewarp}};
  for (const int bodies : {100, 300, 1000, 3000, 10000}) {
    const int steps = bodies <= 300 ? 20 : bodies <= 1000 ? 5 : 1;
    const model::SceneState start = mixed_state(bodies);
    std::vector<Work> work;
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const Work& w = work.emplace_back(run(methods[m].second, start, bodies, steps));
      const double solved = static_cast<double>(w.counts.solved_bodies) / steps;
      const double undone = static_cast<double>(w.counts.undone_bodies) / steps;
      section += fmt::format("| {} | {:.1f} | {} | {:.0f} | {:.0f} | {:.2f} |\n", bodies, w.impacts,
                             methods[m].first, solved, undone, 1000 * w.seconds);
      series[m].name = methods[m].first;
      series[m].line_width = 3;
      series[m].x.push_back(bodies);
      series[m].y.push_back(solved);
    }
    report.row({.name = fmt::format("gas of {} balls, a step with timewarp", bodies),
                .figure = 1000 * work[2].seconds,
                .unit = "ms",
                .baseline = "bisection of the whole scene",
                .baseline_value = 1000 * work[0].seconds});
  }
  media::PlotDesc desc;
  desc.title = "Work for a step of 1/60 s";
  desc.x = {"bodies", media::AxisScale::logarithmic, {}};
  desc.y = {"body steps", media::AxisScale::logarithmic, {}};
  media::write_png(picture, media::draw_plot(series, desc));
  section += "\n![work against the number of bodies](../pictures/methods_timewarp.png)\n";
  return section;
}

}  // namespace thrum::bench
