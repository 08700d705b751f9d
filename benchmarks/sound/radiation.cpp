// SPDX-License-Identifier: MIT
// How long it takes to find what each mode radiates in every direction, and how well it fits.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "benchmarks/harness.h"
#include "thrum/base/parallel.h"
#include "thrum/elastic/material_library.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"
#include "thrum/sound/radiation_map.h"

namespace thrum::bench {

namespace {

constexpr int kModes = 60;

// The wanted time is for one core; bake_radiation() divides modes among threads.
double seconds_on_one_core(const std::function<void()>& work)
{
  const int threads = base::thread_count();
  base::set_thread_count(1);
  const double seconds = cpu_seconds_once(work);
  base::set_thread_count(threads);
  return seconds;
}

void measure(Report& report, const std::string& name, const mesh::TriangleMesh& surface,
             const std::string& material)
{
  elastic::ModalAnalysisDesc desc;
  desc.name = name;
  desc.materials = {elastic::MaterialLibrary::builtin().get(material)};
  desc.count = kModes;
  desc.estimate_errors = false;
  elastic::ModalAnalysisResult modes;
  const double modes_seconds =
      seconds_on_one_core([&] { modes = elastic::analyse_surface_modes(surface, {}, desc); });
  if (!modes.ok()) throw Error(elastic::describe_failure(modes));

  // A cache of its own, so that the first map is computed and the second one is read.
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "thrum_bench_radiation";
  std::filesystem::remove_all(folder);
  const base::Cache cache({.folder = folder});
  sound::RadiationMap map;
  sound::RadiationMap again;
  const double seconds =
      seconds_on_one_core([&] { map = sound::bake_radiation_cached(modes.model, {}, cache); });
  const double cached_seconds =
      seconds_on_one_core([&] { again = sound::bake_radiation_cached(modes.model, {}, cache); });
  std::filesystem::remove_all(folder);

  const std::size_t count = map.mode_count();
  const double mean = std::accumulate(map.residuals.begin(), map.residuals.end(), 0.0) / double(count);
  const auto scalar = std::count(map.kinds.begin(), map.kinds.end(), sound::ModeRadiationKind::scalar);
  report.row({.name = fmt::format("equivalent sources, {}, {} vertices, {} modes", name,
                                  modes.model.surface.vertices.size(), count),
              .figure = seconds,
              .unit = "s",
              .target = 60});
  report.note(fmt::format(
      "{}: residual {:.3f} on average, {:.3f} at most, {} modes scalar; modes found in {:.1f} s; the second "
      "time {:.3f} s{}",
      name, mean, *std::max_element(map.residuals.begin(), map.residuals.end()), scalar, modes_seconds,
      cached_seconds, again.from_cache ? " from the cache" : ", NOT from the cache"));
}

}  // namespace

THRUM_BENCHMARK(sound, equivalent_sources)
{
  measure(report, "ring", generate(shapes::TorusDesc{0.1, 0.01, 0, 129, 18}), "steel");
  measure(report, "candlestick", generate(shapes::CandlestickDesc{}), "steel");
}

}  // namespace thrum::bench
