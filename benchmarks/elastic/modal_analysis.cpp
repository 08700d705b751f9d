// SPDX-License-Identifier: MIT
// Modes of a clamped wooden table, everything included: checks, assembly, factorisation, iteration, the probe
// for missed modes, error estimate, surface. One thread. Rows of more than half a minute need --long.
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "benchmarks/elastic/table_mesh.h"
#include "benchmarks/harness.h"
#include "thrum/base/cache.h"
#include "thrum/base/parallel.h"
#include "thrum/elastic/material_library.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/elastic/supports.h"

namespace thrum::bench {
namespace {

using elastic::ElementKind;
using elastic::ModalAnalysisDesc;
using elastic::ModalAnalysisResult;

/// Limits the loops to one thread while it exists.
struct OneThread {
  OneThread() { base::set_thread_count(1); }
  ~OneThread() { base::set_thread_count(0); }
};

ModalAnalysisDesc clamped_table(ElementKind element, Index count)
{
  ModalAnalysisDesc desc;
  desc.materials = {elastic::MaterialLibrary::builtin().get("wood")};
  desc.supports = {{elastic::parse_selection("z<0.01")}};
  desc.element = element;
  desc.count = count;
  return desc;
}

struct Measured {
  double seconds = 0;
  ModalAnalysisResult result;
};

Measured measure(const mesh::TetrahedralMesh& mesh, const ModalAnalysisDesc& desc, int repeats = 1)
{
  Measured measured;
  measured.seconds = min_cpu_seconds([&] { measured.result = elastic::analyse_modes(mesh, desc); }, repeats);
  return measured;
}

// The straightforward method: Spectra on Eigen's LDLT, one vector at a time, without a check for missed
// modes.
ModalAnalysisDesc straightforward(ModalAnalysisDesc desc, numerics::FactorisationBackend backend)
{
  desc.method = numerics::EigenMethod::spectra;
  desc.backend = backend;
  desc.verification = numerics::EigenVerification::none;
  return desc;
}

void note_result(Report& report, const ModalAnalysisResult& r)
{
  report.note(
      fmt::format("  {} nodes, {}, status {}, {} right-hand sides, factor {:.3g} million numbers, modes "
                  "{:.4f} to {:.4f} Hz, "
                  "estimated errors {:.2g} to {:.2g} %",
                  r.model.node_count, r.model.element, to_string(r.status), r.solves,
                  1e-6 * r.factorisation.factor_entries, r.model.frequencies[0],
                  r.model.frequencies[r.model.mode_count() - 1], 100 * r.model.frequency_errors.minCoeff(),
                  100 * r.model.frequency_errors.maxCoeff()));
}

struct Size {
  const char* name;
  double spacing;            // [m]
  double quadratic_spacing;  // for the same number of nodes, mid-edge nodes included [m]
  double target;             // [s], TET4
};

constexpr Size kSmall = {"5k", 0.0325, 0.066, 0.5};
constexpr Size kMedium = {"20k", 0.019, 0.04, 3};
constexpr Size kLarge = {"60k", 0.0133, 0.0245, 15};
constexpr Size kHuge = {"136k", 0.0095, 0, 40};
constexpr double kQuadraticFactor = 1.4;

void twenty_modes(Report& report, const Size& size, bool with_baseline)
{
  const OneThread one;
  const ModalAnalysisDesc linear = clamped_table(ElementKind::tet4, 20);
  const mesh::TetrahedralMesh mesh = table_mesh(size.spacing);
  const Measured ours = measure(mesh, linear, size.spacing > kMedium.spacing ? 3 : 1);
  Row row{.name = fmt::format("20 modes of a clamped table, {} nodes, TET4", size.name),
          .figure = ours.seconds,
          .unit = "s",
          .target = size.target};
  if (with_baseline) {
    row.baseline = "Spectra with Eigen's LDLT";
    row.baseline_value =
        measure(mesh, straightforward(linear, numerics::FactorisationBackend::eigen_ldlt)).seconds;
  }
  report.row(row);
  note_result(report, ours.result);

  const Measured quadratic =
      measure(table_mesh(size.quadratic_spacing), clamped_table(ElementKind::tet10, 20));
  report.row({.name = fmt::format("20 modes of a clamped table, {} nodes, TET10", size.name),
              .figure = quadratic.seconds,
              .unit = "s",
              .target = kQuadraticFactor * size.target});
  note_result(report, quadratic.result);
}

void many_modes(Report& report, const Size& size, double target)
{
  const OneThread one;
  const ModalAnalysisDesc desc = clamped_table(ElementKind::tet4, 200);
  const mesh::TetrahedralMesh mesh = table_mesh(size.spacing);
  const Measured ours = measure(mesh, desc);
  const Measured simple =
      measure(mesh, straightforward(desc, numerics::FactorisationBackend::cholmod_supernodal));
  report.row({.name = fmt::format("200 modes, {} nodes, TET4", size.name),
              .figure = ours.seconds,
              .unit = "s",
              .target = target,
              .baseline = "Spectra",
              .baseline_value = simple.seconds});
  note_result(report, ours.result);
}

void without_cholmod(Report& report, const Size& size, std::optional<double> target)
{
  const OneThread one;
  ModalAnalysisDesc desc = clamped_table(ElementKind::tet4, 20);
  desc.backend = numerics::FactorisationBackend::eigen_ldlt;
  const Measured ours = measure(table_mesh(size.spacing), desc);
  report.row({.name = fmt::format("20 modes without CHOLMOD, {} nodes, TET4", size.name),
              .figure = ours.seconds,
              .unit = "s",
              .target = target});
  for (const std::string& hint : ours.result.hints) report.note("  hint: " + hint);
}

double peak_gigabytes()
{
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);
}

THRUM_BENCHMARK(elastic, table_5k)
{
  twenty_modes(report, kSmall, true);
}
THRUM_BENCHMARK(elastic, table_20k)
{
  twenty_modes(report, kMedium, include_slow_rows());
}
THRUM_BENCHMARK(elastic, without_cholmod_5k)
{
  without_cholmod(report, kSmall, 1.0);
}

// First in its own run (--long --filter 136k), the peak memory is that of the analysis.
THRUM_BENCHMARK(elastic, table_136k)
{
  if (!include_slow_rows()) return;
  const OneThread one;
  const Measured ours = measure(table_mesh(kHuge.spacing), clamped_table(ElementKind::tet4, 20));
  report.row({.name = "20 modes of a clamped table, 136k nodes, TET4",
              .figure = ours.seconds,
              .unit = "s",
              .target = kHuge.target});
  report.row({.name = "peak memory of the process so far, 136k nodes",
              .figure = peak_gigabytes(),
              .unit = "GB",
              .target = 3.0});
  note_result(report, ours.result);
}

THRUM_BENCHMARK(elastic, table_60k)
{
  if (include_slow_rows()) twenty_modes(report, kLarge, false);
}
THRUM_BENCHMARK(elastic, many_20k)
{
  if (include_slow_rows()) many_modes(report, kMedium, 12);
}
THRUM_BENCHMARK(elastic, many_60k)
{
  if (include_slow_rows()) many_modes(report, kLarge, 45);
}
THRUM_BENCHMARK(elastic, without_cholmod_20k)
{
  if (include_slow_rows()) without_cholmod(report, kMedium, std::nullopt);
}

// A free bar of 1 x 0.03 x 0.02 m in 20 x 1 x 1 cells compared with Euler's beam, which is exact to 0.2 %
// here.
THRUM_BENCHMARK(elastic, bar)
{
  const model::Material& steel = elastic::MaterialLibrary::builtin().get("steel");
  const double thickness = 0.02;
  constexpr double kRoot = 4.730040744862704;
  const double theory = kRoot * kRoot / (2 * std::numbers::pi) * thickness / std::sqrt(12.0) *
                        std::sqrt(steel.young / steel.density);
  const mesh::TetrahedralMesh mesh = tets::tetrahedralise_box(Vec3(1, 0.03, thickness), {20, 1, 1});
  const auto error = [&](ElementKind element) {
    ModalAnalysisDesc desc{.materials = {steel}, .count = 1, .element = element};
    return 100 * std::abs(elastic::analyse_modes(mesh, desc).model.frequencies[0] / theory - 1);
  };
  report.row({.name = "first bending mode of a bar, one element thick, error of TET10",
              .figure = error(ElementKind::tet10),
              .unit = "%",
              .target = 1.0,
              .baseline = "TET4",
              .baseline_value = error(ElementKind::tet4)});
}

THRUM_BENCHMARK(elastic, cached)
{
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "thrum-bench-modes";
  const base::Cache cache({.folder = folder});
  const mesh::TetrahedralMesh mesh = table_mesh(0.0285);
  const ModalAnalysisDesc desc = clamped_table(ElementKind::tet4, 20);
  const ModalAnalysisResult first = elastic::analyse_modes_cached(mesh, desc, cache);
  const double seconds =
      min_cpu_seconds([&] { do_not_optimize(elastic::analyse_modes_cached(mesh, desc, cache)); });
  report.row({.name = fmt::format("cached call, {} surface vertices", first.model.vertex_count()),
              .figure = 1e3 * seconds,
              .unit = "ms",
              .target = 5.0});
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace thrum::bench
