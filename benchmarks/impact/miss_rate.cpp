// SPDX-License-Identifier: MIT
// What the z-list buffer misses against the exact test of all pairs of triangles, by the size of its pixels.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <numbers>
#include <random>
#include <vector>

#include "benchmarks/harness.h"
#include "benchmarks/impact/scenes.h"
#include "thrum/collision/z_list.h"
#include "thrum/mesh/bvh.h"

namespace thrum::bench {

namespace {

constexpr int kPoses = 40;

struct Trial {
  Pose X_w;
  std::vector<mesh::TrianglePair> exact;
};

struct Outcome {
  double exact = 0;   ///< pairs of the exact test
  double missed = 0;  ///< of them
  double listed = 0;  ///< pairs listed
  double seconds = 0;
};

// At pixel centres a pair counts as found when both faces are listed, as in the paper.
Outcome measure(const mesh::TriangleMesh& head, const mesh::TriangleMesh& ground,
                const std::vector<Trial>& trials, const collision::ZListDesc& desc)
{
  Outcome outcome;
  collision::ZListBuffer buffer;
  for (const Trial& trial : trials) {
    const collision::ZListBody a{.mesh = &head, .X_w = trial.X_w};
    const collision::ZListBody b{.mesh = &ground};
    const collision::ZListResult& found = buffer.find(a, b, desc);
    outcome.listed += static_cast<double>(found.pairs.size());
    for (const mesh::TrianglePair& pair : trial.exact) {
      const bool listed = desc.sampling == collision::ZListSampling::conservative
                              ? std::binary_search(found.pairs.begin(), found.pairs.end(), pair)
                              : std::binary_search(found.faces_a.begin(), found.faces_a.end(), pair.a) &&
                                    std::binary_search(found.faces_b.begin(), found.faces_b.end(), pair.b);
      outcome.exact += 1;
      outcome.missed += listed ? 0 : 1;
    }
  }
  outcome.seconds = min_cpu_seconds(
                        [&] {
                          for (const Trial& trial : trials) {
                            const collision::ZListBody a{.mesh = &head, .X_w = trial.X_w};
                            do_not_optimize(buffer.find(a, {.mesh = &ground}, desc).pairs.size());
                          }
                        },
                        2) /
                    static_cast<double>(trials.size());
  return outcome;
}

}  // namespace

THRUM_BENCHMARK(impact, miss_rate)
{
  const mesh::TriangleMesh head = head_mesh(39, 25);
  const mesh::TriangleMesh ground = hills_mesh(39);
  const mesh::Bvh head_tree(head);
  const mesh::Bvh ground_tree(ground);
  std::mt19937 engine(1);
  const auto in = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  std::vector<Trial> trials(kPoses);
  for (Trial& trial : trials) {
    const Vec3 axis = Vec3(in(-1, 1), in(-1, 1), in(-1, 1)).normalized();
    trial.X_w = {{in(-1, 1), in(-1, 1), in(0.25, 0.5)},
                 Quat(Eigen::AngleAxisd(in(0, std::numbers::pi), axis))};
    mesh::Bvh::overlapping_pairs(head_tree, trial.X_w, ground_tree, Pose{}, 0, trial.exact);
  }
  std::ofstream table(output_file("impact_miss_rate.csv"));
  table << "sampling,pixel [mm],exact pairs,missed [%],listed / exact,time [us]\n";
  const double edge = 4.0 / 39;  // of the ground [m]
  for (const auto sampling : {collision::ZListSampling::conservative, collision::ZListSampling::centre}) {
    const bool whole = sampling == collision::ZListSampling::conservative;
    for (const double share : {1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125}) {
      const Outcome o = measure(head, ground, trials,
                                {.pixel = share * edge, .direction = Vec3(0, 0, 1), .sampling = sampling});
      const double missed = 100 * o.missed / o.exact;
      Row row{.name = fmt::format("missed, {}, pixel {:.1f} mm (1/{:.0f} of an edge)",
                                  whole ? "conservative" : "pixel centres", 1000 * share * edge, 1 / share),
              .figure = missed,
              .unit = "%"};
      if (whole) row.target = 0.0;
      report.row(row);
      report.note(
          fmt::format("{:.0f} exact pairs in {} poses; {:.2f} pairs listed for each; {:.0f} us a frame",
                      o.exact, kPoses, o.listed / o.exact, 1e6 * o.seconds));
      table << fmt::format("{},{:.2f},{:.0f},{:.3f},{:.2f},{:.1f}\n", whole ? "conservative" : "centres",
                           1000 * share * edge, o.exact, missed, o.listed / o.exact, 1e6 * o.seconds);
    }
  }
}

}  // namespace thrum::bench
