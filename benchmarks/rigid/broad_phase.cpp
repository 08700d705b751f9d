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

double growth_exponent(const std::vector<Growth>& sizes)
{
  double x = 0;
  double y = 0;
  for (const Growth& size : sizes) {
    x += std::log(size.count) / static_cast<double>(sizes.size());
    y += std::log(size.seconds) / static_cast<double>(sizes.size());
  }
  double across = 0;
  double along = 0;
  for (const Growth& size : sizes) {
    across += (std::log(size.count) - x) * (std::log(size.seconds) - y);
    along += (std::log(size.count) - x) * (std::log(size.count) - x);
  }
  return across / along;
}

THRUM_BENCHMARK(rigid, broad_phase)
{
  std::vector<Growth> sizes;
  std::string note = "broad phase, all bodies moving:";
  for (const int count : {100, 1000, 10000, 100000}) {
    sizes.push_back({static_cast<double>(count), broad_phase_step(count)});
    note += fmt::format(" {}: {:.3f} us a body;", count, 1e6 * sizes.back().seconds / count);
  }
  Row slope;
  slope.name = "broad phase, growth from 100 to 100,000 bodies";
  slope.figure = growth_exponent(sizes);
  slope.unit = "log-log slope";
  slope.wanted = 1.15;
  report.row(slope);
  Row step;
  step.name = "broad phase of 100,000 moving bodies";
  step.figure = 1e3 * sizes.back().seconds;
  step.unit = "ms";
  report.row(step);
  report.note(note);
}

}  // namespace thrum::bench
