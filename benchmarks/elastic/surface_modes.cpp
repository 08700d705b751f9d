// SPDX-License-Identifier: MIT
// Modes of surfaces by default: time, and the largest error of the frequencies against published values,
// series solutions or, where there are none, a run of the best quality. One thread. Rows of more than half a
// minute need --long.
#include <sys/resource.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/elastic/profiles.h"
#include "benchmarks/harness.h"
#include "thrum/base/parallel.h"
#include "thrum/elastic/material_library.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/shapes/furniture.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"

namespace thrum::bench {
namespace {

using elastic::FillDesc;
using elastic::ModalAnalysisDesc;
using elastic::ModalAnalysisResult;

struct OneThread {
  OneThread() { base::set_thread_count(1); }
  ~OneThread() { base::set_thread_count(0); }
};

const model::Material kSteel = {.name = "steel", .density = 7850, .young = 210e9, .poisson = 0.3};
const model::Material kGlass = {.name = "glass", .density = 2500, .young = 70e9, .poisson = 0.22};

struct Timed {
  double seconds = 0;
  ModalAnalysisResult result;
};

Timed timed(const mesh::TriangleMesh& surface, const FillDesc& fill, const model::Material& material,
            Index count, const char* clamp = nullptr)
{
  Timed run;
  ModalAnalysisDesc desc = {.materials = {material}, .count = count};
  if (clamp != nullptr) desc.supports = {{elastic::parse_selection(clamp)}};
  run.seconds = cpu_seconds_once([&] { run.result = elastic::analyse_surface_modes(surface, fill, desc); });
  return run;
}

// The largest distance of an expected frequency from the closest one found [%].
double worst_percent(const VecX& found, const std::vector<double>& expected)
{
  double worst = 0;
  for (const double f : expected) worst = std::max(worst, (found.array() / f - 1).abs().minCoeff());
  return 100 * worst;
}

// The largest difference between two runs [%].
double worst_difference(const VecX& found, const VecX& fine)
{
  double worst = 0;
  for (Eigen::Index k = 0; k < fine.size(); ++k)
    worst = std::max(worst, 100 * std::abs(found[k] / fine[k] - 1));
  return worst;
}

void rows(Report& report, const std::string& name, const Timed& run, double max_seconds, double error,
          double max_percent)
{
  report.row({.name = name + ", time", .figure = run.seconds, .unit = "s", .target = max_seconds});
  report.row({.name = name + ", largest error", .figure = error, .unit = "%", .target = max_percent});
  const VecX& stated = run.result.model.frequency_errors;
  report.note(fmt::format("  {} nodes, {}, errors of up to {:.2g} % stated", run.result.model.node_count,
                          run.result.model.element, stated.size() > 0 ? 100 * stated.maxCoeff() : 0.0));
}

mesh::TriangleMesh lathe(std::vector<Vec2> profile, int segments = 64)
{
  return shapes::generate(shapes::LatheDesc{.profile = std::move(profile), .segments = segments});
}

// A body with ears and a nose, like the well-known rabbit.
mesh::TriangleMesh rabbit()
{
  mesh::TriangleMesh mesh = shapes::generate(shapes::SphereDesc{.radius = 1, .edge_length = 0.09});
  const std::pair<Vec3, Vec2> bumps[] = {
      {{0.35, 0.3, 0.887}, {0.06, 18}}, {{0.35, -0.3, 0.887}, {0.06, 18}}, {{0.9, 0, 0.43}, {0.02, 12}}};
  for (Vec3& v : mesh.vertices) {
    const Vec3 d = v.normalized();
    double r = 0.045 * (1 + 0.15 * (2 * d.z() * d.z() - 1) + 0.1 * d.x() * d.y());
    for (const auto& [to, size] : bumps) r += size.x() * std::exp((d.dot(to.normalized()) - 1) * size.y());
    v = r * d;
  }
  return mesh;
}

mesh::TriangleMesh box(const Vec3& size)
{
  return shapes::generate(shapes::BoxDesc{.size = size});
}

// Bending of a bar by a Ritz series, of a round bar by Timoshenko's equations, of a ring by Love's; one tenth
// of a percent is left to these.
THRUM_BENCHMARK(elastic, slender_bodies)
{
  const OneThread one;
  const Timed bar = timed(box({0.5, 0.012, 0.01}), {}, kSteel, 10);
  rows(report, "bar of 0.5 x 0.012 x 0.01 m, 10 modes", bar, 1,
       worst_percent(bar.result.model.frequencies, {212.36, 254.67, 583.84, 699.34, 2899.3}), 0.3);
  const Timed round =
      timed(shapes::generate(shapes::CylinderDesc{.radius = 0.01, .height = 0.5}), {}, kSteel, 10);
  rows(report, "round bar of 0.5 m, 20 mm", round, 1,
       worst_percent(round.result.model.frequencies, {366.78, 1003.24, 1945.05}), 0.5);
  // n (n^2 - 1)/sqrt(n^2 + 1 or n^2 + 1 + nu) sqrt(E I/(rho A R^4)), in and out of the plane.
  const double base = std::sqrt(210e9 / 7850) * 0.002 / (0.1 * 0.1) / (2 * std::numbers::pi);
  const Timed ring =
      timed(shapes::generate(shapes::TorusDesc{.major_radius = 0.1, .minor_radius = 0.004}), {}, kSteel, 10);
  rows(report, "round ring, R 0.1 m, r 4 mm", ring, 1,
       worst_percent(ring.result.model.frequencies,
                     {6 / std::sqrt(5.0) * base, 6 / std::sqrt(5.3) * base, 24 / std::sqrt(10.0) * base}),
       0.5);
}

// Kirchhoff theory for h/a = 1/1000 [Leissa]; for 1/50 cut cells of 1.25 thicknesses, another method.
THRUM_BENCHMARK(elastic, plates)
{
  const OneThread one;
  const model::Material metal = {.name = "metal", .density = 8000, .young = 200e9, .poisson = 0.3};
  const Timed thick = timed(box({1, 1, 0.02}), {}, metal, 5, "x<-0.5");
  rows(report, "plate of 1 x 1 x 0.02 m, clamped", thick, 1,
       worst_percent(thick.result.model.frequencies, {16.72, 40.75, 102.3}), 0.5);
  const double unit = std::sqrt(200e9 * 1e-6 / (12 * 0.91 * 8000)) / (2 * std::numbers::pi);
  const Timed held = timed(box({1, 1, 0.001}), {}, metal, 5, "x<-0.5");
  rows(report, "plate of 1 x 1 x 0.001 m, clamped", held, 10,
       worst_percent(held.result.model.frequencies, {3.471 * unit, 8.508 * unit, 21.29 * unit}), 1);
  const Timed loose = timed(box({1, 1, 0.001}), {}, metal, 5);
  rows(report, "plate of 1 x 1 x 0.001 m, free", loose, 10,
       worst_percent(loose.result.model.frequencies, {13.468 * unit, 19.596 * unit, 24.27 * unit}), 1);
}

THRUM_BENCHMARK(elastic, wine_glass)
{
  const OneThread one;
  const Timed run = timed(lathe(wine_glass(0.001)), {}, kGlass, 20);
  // By a Fourier series around the axis with fine quadratic elements, another program.
  rows(report, "wine glass with a wall of 1 mm, 20 modes", run, 10,
       worst_percent(run.result.model.frequencies, {666.27, 670.84, 788.57, 1812.1}), 1);
}

THRUM_BENCHMARK(elastic, shells)
{
  const OneThread one;
  const Timed bowl = timed(lathe(shell(hemisphere(0.05, 40), 0.001)), {}, kSteel, 20);
  rows(report, "hemispherical shell, R 50 mm, 1 mm", bowl, 10,
       worst_percent(bowl.result.model.frequencies, {417.22, 1131.57, 2109.1}), 1);
  const Timed tube = timed(lathe({{0.0495, 0}, {0.0505, 0}, {0.0505, 0.1}, {0.0495, 0.1}}), {}, kSteel, 20);
  rows(report, "cylinder, R 50 mm, 1 mm", tube, 10,
       worst_percent(tube.result.model.frequencies, {265.99, 354.76, 752.06}), 1);
  const std::vector<Vec2> line =
      divided({{0, 0.1}, {0.025, 0.099}, {0.035, 0.08}, {0.04, 0.05}, {0.05, 0.02}, {0.065, 0}});
  const Timed bell = timed(lathe(shell(line, -0.005)), {}, kSteel, 20);
  const VecX fine = timed(lathe(shell(line, -0.005), 96), {.quality = elastic::Quality::fine}, kSteel, 20)
                        .result.model.frequencies;
  rows(report, "bell, 20 modes", bell, 10,
       worst_percent(bell.result.model.frequencies, std::vector<double>(fine.begin(), fine.end())), 1);
}

THRUM_BENCHMARK(elastic, sheet)
{
  const OneThread one;
  mesh::TriangleMesh sheet;
  sheet.vertices = {{0, 0, 0}, {0.3, 0, 0}, {0.3, 0.3, 0}, {0, 0.3, 0}};
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  const Timed run = timed(sheet, {.thickness = 0.0005}, kSteel, 10);
  rows(report, "sheet of 0.3 x 0.3 m, 0.5 mm", run, 10,
       worst_percent(run.result.model.frequencies, {18.633, 27.119, 33.587}), 1);
}

THRUM_BENCHMARK(elastic, rabbit)
{
  const OneThread one;
  const Timed run = timed(rabbit(), {}, kSteel, 20);
  if (!include_slow_rows()) {
    report.row({.name = "rabbit, 20 modes, time", .figure = run.seconds, .unit = "s", .target = 15});
    return;
  }
  // About six times as many cells.
  const VecX fine = timed(rabbit(), {.spacing = 0.008}, kSteel, 20).result.model.frequencies;
  rows(report, "rabbit, 20 modes", run, 15, worst_difference(run.result.model.frequencies, fine), 1);
}

// The table of the scene `dinner`.
THRUM_BENCHMARK(elastic, dinner_table)
{
  const OneThread one;
  const mesh::TriangleMesh table = shapes::make_table(
      {.length = 1.6, .top_thickness = 0.03, .leg_thickness = 0.08, .apron_height = 0, .edge_length = 0.1});
  const Timed run = timed(table, {}, kSteel, 20, "z<0.01");
  if (!include_slow_rows()) {
    report.row({.name = "table of dinner, 20 modes, time", .figure = run.seconds, .unit = "s", .target = 2});
    return;
  }
  const Timed fine = timed(table, {.quality = elastic::Quality::fine}, kSteel, 20, "z<0.01");
  rows(report, "table of dinner, 20 modes", run, 2,
       worst_difference(run.result.model.frequencies, fine.result.model.frequencies), 2);
}

// Not round, not along the axes, with thin walls and notches.
THRUM_BENCHMARK(elastic, notched_bodies)
{
  if (!include_slow_rows()) return;
  const OneThread one;
  const std::pair<const char*, mesh::TriangleMesh> bodies[] = {
      {"mug with a handle", shapes::generate(shapes::MugDesc{})}, {"scaffold", shapes::make_scaffold({})}};
  for (const auto& [name, surface] : bodies) {
    const Timed run = timed(surface, {}, kSteel, 10);
    const Timed fine = timed(surface, {.quality = elastic::Quality::fine}, kSteel, 10);
    rows(report, fmt::format("{}, 10 modes", name), run, 15,
         worst_difference(run.result.model.frequencies, fine.result.model.frequencies), 3);
  }
}

double peak_gigabytes()
{
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);
}

// In a run of its own (--long --filter catalogue) the peak memory is that of the largest of them.
THRUM_BENCHMARK(elastic, catalogue)
{
  if (!include_slow_rows()) return;
  const OneThread one;
  const std::pair<const char*, mesh::TriangleMesh> bodies[] = {
      {"plate", shapes::generate(shapes::PlateDesc{})},
      {"bowl", shapes::generate(shapes::BowlDesc{})},
      {"cup", shapes::generate(shapes::CupDesc{})},
      {"pot", shapes::generate(shapes::PotDesc{})},
      {"bottle", shapes::generate(shapes::BottleDesc{})},
      {"mug", shapes::generate(shapes::MugDesc{})},
      {"candlestick", shapes::generate(shapes::CandlestickDesc{})},
      {"table", shapes::make_table({})},
      {"scaffold", shapes::make_scaffold({})},
      {"fridge", shapes::make_fridge({})}};
  for (const auto& [name, surface] : bodies) {
    const Timed run = timed(surface, {}, kSteel, 20);
    report.row({.name = fmt::format("{} by default, 20 modes", name), .figure = run.seconds, .unit = "s"});
    const VecX& stated = run.result.model.frequency_errors;
    report.note(fmt::format("  {}, {} nodes, {}, errors of up to {:.2g} % stated",
                            to_string(run.result.status), run.result.model.node_count,
                            run.result.model.element, stated.size() > 0 ? 100 * stated.maxCoeff() : 0.0));
  }
  report.row(
      {.name = "peak memory of the catalogue", .figure = peak_gigabytes(), .unit = "GB", .target = 1.0});
}

}  // namespace
}  // namespace thrum::bench
