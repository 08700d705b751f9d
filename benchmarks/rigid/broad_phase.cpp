// SPDX-License-Identifier: MIT
// The broad phase alone from 100 to 100,000 moving bodies at constant density, and whole steps of separate bodies. The
// exponent is that of the straight line nearest to the logarithms of all sizes.
#include <fmt/format.h>

#include <cmath>
#include <random>
#include <vector>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/growth.h"
#include "thrum/collision/broad_phase.h"

namespace thrum::bench {

namespace {

// Seconds for a step in which every body leaves its loose box: the worst there is.
double broad_phase_step(int count)
{
  const double side = 2.0 * std::cbrt(count);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Vec3> position;
  std::vector<Vec3> move;
  collision::BroadPhase broad_phase;
  for (int i = 0; i < count; ++i) {
    position.push_back(side * Vec3(uniform(random), uniform(random), uniform(random)));
    move.push_back(0.3 *
                   Vec3(uniform(random) - 0.5, uniform(random) - 0.5, uniform(random) - 0.5).normalized());
    broad_phase.add(i, false, false);
  }
  const auto step = [&] {
    for (int i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      position[k] += move[k];
      move[k] = -move[k];
      broad_phase.update(i, Box3(position[k] - Vec3::Constant(0.5), position[k] + Vec3::Constant(0.5)));
    }
    keep(broad_phase.find_pairs().size());
  };
  step();
  const int steps = std::max(1, 20000 / count);
  return least_seconds([&] {
           for (int i = 0; i < steps; ++i) step();
         }) /
         steps;
}

}  // namespace

THRUM_BENCHMARK(rigid, broad_phase)
{
  std::vector<Growth> sizes;
  std::string note = "broad phase, all bodies moving:";
  for (const int count : {100, 1000, 10000, 100000}) {
    sizes.push_back({static_cast<double>(count), broad_phase_step(count)});
    note += fmt::format(" {}: {:.3f} us a body;", count, 1e6 * sizes.back().seconds / count);
  }
  report_growth(report, "broad phase, growth from 100 to 100,000 bodies",
                "broad phase of 100,000 moving bodies", sizes);
  report.note(note);
}

}  // namespace thrum::bench
