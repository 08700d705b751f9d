// SPDX-License-Identifier: MIT
// Geodesic distance: factoring, and one source with the factors kept, compared with factoring for every
// source.
#include <fmt/format.h>

#include "benchmarks/geometry/bench_meshes.h"
#include "benchmarks/harness.h"
#include "thrum/distance/heat_geodesics.h"

namespace thrum::bench {
namespace {

using distance::HeatGeodesics;
using mesh::TriangleMesh;

void measure(Report& report, int vertices, std::optional<double> target_factor, double target_source)
{
  const TriangleMesh mesh = wavy_torus(2 * vertices);
  const double factor = min_cpu_seconds([&] { do_not_optimize(HeatGeodesics(mesh)); }, 15);
  const HeatGeodesics geodesics(mesh);
  Index vertex = 0;
  const auto next_source = [&] {
    vertex = (vertex + 97) % static_cast<Index>(mesh.vertices.size());
    return vertex;
  };
  const double source =
      min_cpu_seconds([&] { do_not_optimize(geodesics.distance_from_vertex(next_source())); }, 40);
  const HeatGeodesics polishing(mesh, {.polish = true});
  const double polished =
      min_cpu_seconds([&] { do_not_optimize(polishing.distance_from_vertex(next_source())); }, 40);
  const std::string size = fmt::format("{}k vertices", vertices / 1000);
  report.row({.name = "geodesics, factor, " + size,
              .figure = factor * 1e3,
              .unit = "ms",
              .target = target_factor,
              .baseline = "",
              .target_ratio = {}});
  report.row({.name = "geodesics, one source, " + size,
              .figure = source * 1e3,
              .unit = "ms",
              .target = target_source,
              .baseline = "factor at every source",
              .baseline_value = (factor + source) * 1e3,
              .target_ratio = {}});
  report.row({.name = "geodesics, one source, polished, " + size,
              .figure = polished * 1e3,
              .unit = "ms",
              .target = {},
              .baseline = "factor at every source",
              .baseline_value = (factor + polished) * 1e3,
              .target_ratio = {}});
  report.note(fmt::format("{} vertices, {} flips, {}", geodesics.info().vertices, geodesics.info().flips,
                          geodesics.info().backend));
}

THRUM_BENCHMARK(geometry, heat_geodesics)
{
  measure(report, 5000, std::nullopt, 1.0);
  measure(report, 10000, 30.0, 2.0);
}

}  // namespace
}  // namespace thrum::bench
