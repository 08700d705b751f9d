// SPDX-License-Identifier: MIT
// The broad phase alone from 100 to 100,000 moving bodies. The exponent is that of the straight line nearest
// to the logarithms of all sizes.
#include <fmt/format.h>

#include <cmath>
#include <random>
#include <vector>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/growth.h"
#include "thrum/collision/broad_phase.h"

namespace thrum::bench {

namespace {

constexpr int kCloudSize = 100;       // bodies
constexpr double kCloudSide = 9.3;    // one body to a cube of 2 m [m]
constexpr double kCloudPitch = 16.0;  // from cloud to cloud [m]
constexpr int kJitterCount = 99991;   // prime, so that each body goes through all of them

// The corner of the cloud of body i. One cloud that grew with the number of bodies would have less of them at
// its surface, where a body has fewer neighbours: the exponent would measure that, not the method.
Vec3 cloud_corner(int i, int count)
{
  const int cloud = i / kCloudSize;
  const int side = static_cast<int>(std::ceil(std::cbrt(count / kCloudSize)));
  return kCloudPitch * Vec3(cloud % side, cloud / side % side, cloud / (side * side));
}

// Seconds for a step in which nearly every body leaves its loose box: the worst there is.
double broad_phase_step(int count)
{
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto in_cube = [&] {
    return Vec3(uniform(random), uniform(random), uniform(random));
  };
  // New places in every step, from a long list: with the same ones again and again the processor would learn
  // the searches of a hundred bodies by heart.
  std::vector<Vec3> jitter;
  for (int i = 0; i < kJitterCount; ++i) jitter.push_back(in_cube());
  std::vector<Vec3> home;
  collision::BroadPhase broad_phase;
  for (int i = 0; i < count; ++i) {
    home.push_back(cloud_corner(i, count) + kCloudSide * in_cube());
    broad_phase.add(i, false, false);
  }
  std::size_t next = 0;
  const auto step = [&] {
    for (int i = 0; i < count; ++i) {
      const Vec3 position = home[static_cast<std::size_t>(i)] + jitter[next++ % jitter.size()];
      broad_phase.update(i, Box3(position - Vec3::Constant(0.5), position + Vec3::Constant(0.5)));
    }
    do_not_optimize(broad_phase.find_pairs().size());
  };
  step();
  const int steps = std::max(1, 20000 / count);
  return min_cpu_seconds([&] {
           for (int i = 0; i < steps; ++i) step();
         }) /
         steps;
}

}  // namespace

THRUM_BENCHMARK(rigid, broad_phase)
{
  std::vector<Growth> sizes;
  std::string note = "broad phase, all bodies moving, in clouds of a hundred:";
  for (const int count : {100, 1000, 10000, 100000}) {
    sizes.push_back({static_cast<double>(count), broad_phase_step(count)});
    note += fmt::format(" {}: {:.3f} us a body;", count, 1e6 * sizes.back().seconds / count);
  }
  report_growth(report, "broad phase, growth from 100 to 100,000 bodies",
                "broad phase of 100,000 moving bodies", sizes);
  report.note(note);
}

}  // namespace thrum::bench
