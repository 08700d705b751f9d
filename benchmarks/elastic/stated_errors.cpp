// SPDX-License-Identifier: MIT
// Whether the stated errors of cut cells cover the true ones, on 30 bodies whose truth is known by another
// method: bodies of revolution in their profile, bodies along the axes in a fitted grid. The margins were
// chosen on 20 bodies (docs/methods/modal_analysis.md); ten others test them.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "benchmarks/elastic/profiles.h"
#include "benchmarks/harness.h"
#include "thrum/base/parallel.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/furniture.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"

namespace thrum::bench {
namespace {

const model::Material kMetal = {.name = "metal", .density = 8000, .young = 200e9, .poisson = 0.3};
constexpr Index kModes = 10;
// Of the round body with 96 facets; no claim is made about errors below it, or below what the truth states.
constexpr double kTruth = 1e-3;
constexpr double kMaxTruthCells = 30e3;

std::vector<Vec2> arc(double radius, double to, int count)
{
  std::vector<Vec2> line;
  for (int k = 0; k <= count; ++k) {
    const double angle = to * k / count;
    line.emplace_back(k == 0 ? 0 : radius * std::sin(angle), -radius * std::cos(angle));
  }
  return line;
}

mesh::TriangleMesh box(const Vec3& low, const Vec3& high)
{
  mesh::TriangleMesh mesh = shapes::generate(shapes::BoxDesc{.size = high - low});
  for (Vec3& v : mesh.vertices) v += 0.5 * (low + high);
  return mesh;
}

mesh::TriangleMesh united(const std::vector<mesh::TriangleMesh>& parts)
{
  return shapes::boolean_union(parts);
}

// Four square pipes as uprights, joined by beams at two heights, and a plank on the upper ones.
mesh::TriangleMesh square_scaffold()
{
  std::vector<mesh::TriangleMesh> parts;
  constexpr double kSide = 0.04;
  for (const double x : {0.0, 1.2})
    for (const double y : {0.0, 0.8}) parts.push_back(box({x, y, 0}, {x + kSide, y + kSide, 1.6}));
  for (const double z : {0.6, 1.3}) {
    for (const double x : {0.0, 1.2}) parts.push_back(box({x, 0, z}, {x + kSide, 0.8 + kSide, z + kSide}));
    for (const double y : {0.0, 0.8}) parts.push_back(box({0, y, z}, {1.2 + kSide, y + kSide, z + kSide}));
  }
  parts.push_back(box({0, 0.2, 1.34}, {1.24, 0.6, 1.38}));
  return united(parts);
}

mesh::TriangleMesh comb()
{
  std::vector<mesh::TriangleMesh> parts = {box({0, 0, 0}, {0.2, 0.03, 0.006})};
  for (int k = 0; k < 8; ++k)
    parts.push_back(box({0.005 + 0.025 * k, 0, 0}, {0.02 + 0.025 * k, 0.12 + 0.005 * k, 0.006}));
  return united(parts);
}

mesh::TriangleMesh fork()
{
  return united({box({0, 0, 0}, {0.005, 0.004, 0.1}), box({0.013, 0, 0}, {0.018, 0.004, 0.1}),
                 box({0, 0, -0.008}, {0.018, 0.004, 0.0}), box({0.0065, 0, -0.05}, {0.0115, 0.004, 0})});
}

mesh::TriangleMesh open_box()
{
  return shapes::boolean_difference(box({0, 0, 0}, {0.2, 0.14, 0.06}),
                                    box({0.003, 0.003, 0.003}, {0.197, 0.137, 0.07}));
}

struct Case {
  const char* name;
  mesh::TriangleMesh surface;
};

std::vector<Case> cases_of_choice()
{
  const double quarter = std::numbers::pi / 2;
  std::vector<Case> list;
  const auto add = [&](const char* name, mesh::TriangleMesh surface) {
    list.push_back({name, std::move(surface)});
  };
  add("hemisphere", lathe(shell(arc(0.05, quarter, 30), 0.001)));
  add("bell", lathe(shell({{0, 0.1}, {0.025, 0.099}, {0.035, 0.08}, {0.04, 0.05}, {0.05, 0.02}, {0.065, 0}},
                          -0.005)));
  add("square scaffold", square_scaffold());
  add("table", shapes::make_table({.edge_length = 0}));
  add("tube", lathe({{0.0495, 0}, {0.0505, 0}, {0.0505, 0.1}, {0.0495, 0.1}}));
  add("pot", lathe({{0, 0}, {0.11, 0}, {0.11, 0.13}, {0.107, 0.13}, {0.107, 0.003}, {0, 0.003}}));
  add("comb", comb());
  add("fork", fork());
  add("thick tube", lathe({{0.04, 0}, {0.05, 0}, {0.05, 0.1}, {0.04, 0.1}}));
  add("ring", lathe({{0.095, 0}, {0.105, 0}, {0.105, 0.008}, {0.095, 0.008}}));
  add("bar", box({0, 0, 0}, {0.5, 0.012, 0.01}));
  add("slab", box({0, 0, 0}, {0.3, 0.3, 0.006}));
  add("dish", lathe({{0, 0}, {0.09, 0}, {0.13, 0.02}, {0.129, 0.024}, {0.088, 0.004}, {0, 0.004}}));
  add("bowl", lathe(shell(arc(0.075, 0.9 * quarter, 24), 0.004)));
  add("open box", open_box());
  add("bracket", united({box({0, 0, 0}, {0.2, 0.05, 0.005}), box({0, 0, 0}, {0.005, 0.05, 0.15})}));
  add("goblet", lathe({{0, 0},
                       {0.034, 0},
                       {0.034, 0.003},
                       {0.005, 0.006},
                       {0.005, 0.07},
                       {0.03, 0.09},
                       {0.037, 0.14},
                       {0.035, 0.14},
                       {0.028, 0.092},
                       {0, 0.08}}));
  add("bottle", lathe({{0, 0},
                       {0.037, 0},
                       {0.037, 0.18},
                       {0.0145, 0.23},
                       {0.0145, 0.3},
                       {0.0115, 0.3},
                       {0.0115, 0.2285},
                       {0.034, 0.1785},
                       {0.034, 0.004},
                       {0, 0.004}}));
  add("cone", lathe({{0, 0}, {0.05, 0}, {0.004, 0.2}, {0, 0.2}}));
  add("block", box({0, 0, 0}, {0.2, 0.12, 0.06}));
  return list;
}

std::vector<Case> cases_of_test()
{
  std::vector<Case> list;
  const auto add = [&](const char* name, mesh::TriangleMesh surface) {
    list.push_back({name, std::move(surface)});
  };
  const double quarter = std::numbers::pi / 2;
  add("stool", united({box({0, 0, 0.4}, {0.36, 0.36, 0.43}), box({0, 0, 0}, {0.04, 0.04, 0.4}),
                       box({0.32, 0, 0}, {0.36, 0.04, 0.4}), box({0, 0.32, 0}, {0.04, 0.36, 0.4}),
                       box({0.32, 0.32, 0}, {0.36, 0.36, 0.4})}));
  add("shelf", united({box({0, 0, 0}, {0.02, 0.25, 0.9}), box({0.6, 0, 0}, {0.62, 0.25, 0.9}),
                       box({0, 0, 0.1}, {0.62, 0.25, 0.12}), box({0, 0, 0.5}, {0.62, 0.25, 0.52})}));
  add("cross", united({box({0, 0.09, 0}, {0.2, 0.11, 0.01}), box({0.09, 0, 0}, {0.11, 0.2, 0.01})}));
  add("tray", shapes::boolean_difference(box({0, 0, 0}, {0.4, 0.3, 0.04}),
                                         box({0.006, 0.006, 0.006}, {0.394, 0.294, 0.05})));
  add("H beam", united({box({0, 0, 0}, {0.5, 0.06, 0.006}), box({0, 0.027, 0}, {0.5, 0.033, 0.06}),
                        box({0, 0, 0.054}, {0.5, 0.06, 0.06})}));
  add("vase", lathe({{0, 0},
                     {0.04, 0},
                     {0.06, 0.08},
                     {0.03, 0.16},
                     {0.035, 0.2},
                     {0.032, 0.2},
                     {0.027, 0.16},
                     {0.057, 0.08},
                     {0.038, 0.004},
                     {0, 0.004}}));
  add("dome", lathe(shell(arc(0.1, 0.6 * quarter, 24), 0.002)));
  add("cymbal", lathe(shell({{0, 0.02}, {0.02, 0.015}, {0.03, 0.008}, {0.1, 0.004}, {0.18, 0}}, -0.0015)));
  add("pipe", lathe({{0.018, 0}, {0.02, 0}, {0.02, 0.4}, {0.018, 0.4}}));
  add("spinning top",
      lathe({{0, 0}, {0.004, 0.03}, {0.04, 0.04}, {0.04, 0.05}, {0.004, 0.055}, {0.004, 0.1}, {0, 0.1}}));
  return list;
}

struct Counts {
  int modes = 0;
  int covered = 0;
  int measurable = 0;  // true errors above what is known of the truth
  int close = 0;       // stated at most five times as large
};

void add_case(const Case& body, elastic::Quality quality, Report& report, Counts& counts)
{
  const elastic::ModalAnalysisDesc desc = {.materials = {kMetal}, .count = kModes};
  const model::ModalModel exact =
      elastic::analyse_surface_modes(
          body.surface, {.max_tetrahedra = kMaxTruthCells, .quality = elastic::Quality::fine}, desc)
          .model;
  const model::ModalModel cut =
      elastic::analyse_surface_modes(body.surface,
                                     {.method = elastic::FillMethod::cut_cells, .quality = quality}, desc)
          .model;
  double worst = 0;
  double largest = 0;
  for (Index k = 0; k < kModes; ++k) {
    const double error = std::abs(cut.frequencies[k] / exact.frequencies[k] - 1);
    const double stated = cut.frequency_errors[k];
    const double known = std::max(kTruth, exact.frequency_errors[k]);
    ++counts.modes;
    counts.covered += error <= stated + known ? 1 : 0;
    counts.measurable += error > known ? 1 : 0;
    counts.close += error > known && stated <= 5 * (error + known) ? 1 : 0;
    worst = std::max(worst, error / stated);
    largest = std::max(largest, error);
  }
  report.note(
      fmt::format("  {:16} {} {:6} elements, errors up to {:5.2f} %, at most {:.2f} of the stated ones",
                  body.name, cut.element, cut.element_count, 100 * largest, worst));
}

THRUM_BENCHMARK(elastic, stated_errors)
{
  if (!include_slow_rows()) return;
  for (const auto& [name, quality] :
       {std::pair("draft", elastic::Quality::draft), std::pair("normal", elastic::Quality::normal)})
    for (const bool is_test : {true, false}) {
      Counts counts;
      for (const Case& body : is_test ? cases_of_test() : cases_of_choice())
        add_case(body, quality, report, counts);
      const char* which = is_test ? "tested" : "chosen on";
      report.row({.name = fmt::format("{}, bodies {}: true error at most the stated one", name, which),
                  .figure = 100.0 * counts.covered / counts.modes,
                  .unit = "%",
                  .target = 90,
                  .better = Better::higher});
      report.row({.name = fmt::format("{}, bodies {}: stated at most five times the true one", name, which),
                  .figure = 100.0 * counts.close / std::max(1, counts.measurable),
                  .unit = "%",
                  .target = 90,
                  .better = Better::higher});
    }
}

}  // namespace
}  // namespace thrum::bench
