// SPDX-License-Identifier: MIT
// The bodies whose frequencies are known by other methods (Ritz series, Fourier series around the axis), as a
// table for docs/methods/modal_analysis.md. One thread. Some of them also without CHOLMOD, and with --long in
// twenty positions, which takes some minutes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include "benchmarks/elastic/profiles.h"
#include "benchmarks/harness.h"
#include "thrum/base/parallel.h"
#include "thrum/base/random.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/shapes/furniture.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"

namespace thrum::bench {
namespace {

using mesh::TriangleMesh;

const model::Material kSteel = {.name = "steel", .density = 7850, .young = 210e9, .poisson = 0.3};
const model::Material kGlass = {.name = "glass", .density = 2500, .young = 70e9, .poisson = 0.22};

struct Body {
  std::string name = {};
  TriangleMesh surface = {};
  elastic::FillDesc fill = {};
  model::Material material = {};
  std::vector<double> expected = {};  ///< [Hz]
  double max_percent = 0;             ///< allowed of these
  Index count = 10;
  /// In the best quality, for modes that are not among those expected; 0: not compared.
  double max_percent_of_all = 0;
  double max_seconds = 0;
  double max_nodes = 0;
};

TriangleMesh square(double side)
{
  TriangleMesh sheet;
  sheet.vertices = {{0, 0, 0}, {side, 0, 0}, {side, side, 0}, {0, side, 0}};
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  return sheet;
}

// A surface of revolution of a line, without thickness.
TriangleMesh turned_line(const std::vector<Vec2>& line, int segments)
{
  TriangleMesh mesh;
  const auto rings = static_cast<Index>(line.size());
  for (const Vec2& p : line)
    for (int k = 0; k < segments; ++k) {
      const double angle = 2 * std::numbers::pi * k / segments;
      mesh.vertices.emplace_back(p.x() * std::cos(angle), p.x() * std::sin(angle), p.y());
    }
  for (Index j = 0; j + 1 < rings; ++j)
    for (int k = 0; k < segments; ++k) {
      const Index a = j * segments + k;
      const Index b = j * segments + (k + 1) % segments;
      mesh.triangles.push_back({a, b, b + segments});
      mesh.triangles.push_back({a, b + segments, a + segments});
    }
  return mesh;
}

// The quarter circle ends short of the axis: the first ring would be a point.
TriangleMesh hemisphere_sheet()
{
  std::vector<Vec2> line = hemisphere(0.05, 16);
  line.erase(line.begin());
  TriangleMesh mesh = turned_line(line, 64);
  const auto tip = static_cast<Index>(mesh.vertices.size());
  mesh.vertices.emplace_back(0, 0, -0.05);
  for (Index k = 0; k < 64; ++k) mesh.triangles.push_back({tip, (k + 1) % 64, k});
  return mesh;
}

std::vector<Body> bodies()
{
  const std::vector<double> hemisphere_hz = {417.22, 1131.57, 2109.1};
  const std::vector<double> cylinder_hz = {265.99, 354.76, 752.06};
  return {
      {.name = "bar of 0.5 x 0.012 x 0.01 m, 6 modes",
       .surface = shapes::generate(shapes::BoxDesc{.size = {0.5, 0.012, 0.01}}),
       .material = kSteel,
       .expected = {212.36, 254.67, 583.84, 699.34},
       .max_percent = 0.1,
       .count = 6,
       .max_seconds = 1,
       .max_nodes = 6000},
      {.name = "the same, 10 modes, torsion",
       .surface = shapes::generate(shapes::BoxDesc{.size = {0.5, 0.012, 0.01}}),
       .material = kSteel,
       .expected = {2899.3},
       .max_percent = 2},
      {.name = "plate of 0.3 x 0.3 m, 6 mm",
       .surface = shapes::generate(shapes::BoxDesc{.size = {0.3, 0.3, 0.006}}),
       .material = kSteel,
       .expected = {221.75, 324.95, 402.30},
       .max_percent = 0.5},
      {.name = "the same as a sheet, edges of 12 mm",
       .surface = square(0.3),
       .fill = {.spacing = 0.012, .thickness = 0.006},
       .material = kSteel,
       .expected = {221.75, 324.95, 402.30},
       .max_percent = 0.5},
      {.name = "sheet of 0.3 x 0.3 m, 0.5 mm, edges of 10 mm",
       .surface = square(0.3),
       .fill = {.spacing = 0.01, .thickness = 0.0005},
       .material = kSteel,
       .expected = {18.633, 27.119, 33.587},
       .max_percent = 0.3,
       .max_percent_of_all = 1},
      {.name = "the same by default",
       .surface = square(0.3),
       .fill = {.thickness = 0.0005},
       .material = kSteel,
       .expected = {18.633, 27.119, 33.587},
       .max_percent = 0.3,
       .max_percent_of_all = 1},
      {.name = "sheet of 0.3 x 0.3 m, 0.3 mm, edges of 12 mm",
       .surface = square(0.3),
       .fill = {.spacing = 0.012, .thickness = 0.0003},
       .material = kSteel,
       .expected = {},
       .max_percent = 1,
       .max_percent_of_all = 1},
      {.name = "hemisphere, R 50 mm, 1 mm",
       .surface = lathe(shell(hemisphere(0.05, 40), 0.001)),
       .material = kSteel,
       .expected = hemisphere_hz,
       .max_percent = 1.5,
       .count = 20},
      {.name = "the same as a sheet, edges of 5 mm",
       .surface = hemisphere_sheet(),
       .fill = {.spacing = 0.005, .thickness = 0.001},
       .material = kSteel,
       .expected = hemisphere_hz,
       .max_percent = 1.5,
       .count = 20},
      {.name = "cylinder, R 50 mm, 1 mm",
       .surface = lathe({{0.0495, 0}, {0.0505, 0}, {0.0505, 0.1}, {0.0495, 0.1}}),
       .material = kSteel,
       .expected = cylinder_hz,
       .max_percent = 0.5,
       .count = 20},
      {.name = "the same as a sheet, edges of 5 mm",
       .surface = turned_line(divided({{0.05, 0}, {0.05, 0.1}}), 64),
       .fill = {.spacing = 0.005, .thickness = 0.001},
       .material = kSteel,
       .expected = cylinder_hz,
       .max_percent = 0.5,
       .count = 20},
      {.name = "wine glass, 1 mm",
       .surface = lathe(wine_glass(0.001)),
       .material = kGlass,
       .expected = {666.27, 670.84, 788.57, 1812.1},
       .max_percent = 2,
       .count = 20,
       .max_seconds = 15,
       .max_nodes = 45000},
      {.name = "wine glass, 0.5 mm",
       .surface = lathe(wine_glass(0.0005)),
       .material = kGlass,
       .expected = {340.86, 751.91, 850.17},
       .max_percent = 3,
       .count = 20},
  };
}

struct Run {
  model::ModalModel model;
  double seconds = 0;
};

Run run(const Body& body, const elastic::FillDesc& fill, const model::Material& material,
        numerics::FactorisationBackend backend = numerics::FactorisationBackend::automatic)
{
  Run result;
  result.seconds = cpu_seconds_once([&] {
    result.model = elastic::analyse_surface_modes(
                       body.surface, fill,
                       {.name = body.name, .materials = {material}, .count = body.count, .backend = backend})
                       .model;
  });
  return result;
}

// The largest distance of an expected frequency from the closest one found [%].
double worst_percent(const VecX& found, const std::vector<double>& expected)
{
  double worst = 0;
  for (const double f : expected) worst = std::max(worst, 100 * (found.array() / f - 1).abs().minCoeff());
  return worst;
}

double worst_difference(const VecX& found, const VecX& fine)
{
  return 100 * (found.array() / fine.array() - 1).abs().maxCoeff();
}

// A file of rows of Markdown.
class Table {
 public:
  Table(const std::string& name, const std::string& head) : text_(head) { path_ = output_file(name); }
  ~Table()
  {
    std::filesystem::create_directories(path_.parent_path());
    std::ofstream(path_) << text_;
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  void row(const std::vector<std::string>& cells)
  {
    for (const std::string& cell : cells) text_ += "| " + cell + " ";
    text_ += "|\n";
  }

 private:
  std::filesystem::path path_;
  std::string text_;
};

std::string joined(const std::vector<double>& values)
{
  std::string text;
  for (const double v : values) text += fmt::format("{}{:g}", text.empty() ? "" : ", ", v);
  return text;
}

// The frequencies found that are closest to those expected.
std::string closest(const VecX& found, const std::vector<double>& expected)
{
  std::string text;
  for (const double f : expected) {
    Eigen::Index best = 0;
    (found.array() - f).abs().minCoeff(&best);
    text += fmt::format("{}{:.5g}", text.empty() ? "" : ", ", found[best]);
  }
  return text;
}

void add_body(const Body& body, Report& report, Table& table)
{
  const Run found = run(body, body.fill, body.material);
  const VecX& stated = found.model.frequency_errors;
  double error = worst_percent(found.model.frequencies, body.expected);
  std::string of_all = "-";
  if (body.max_percent_of_all > 0) {
    const Run fine =
        run(body, {.thickness = body.fill.thickness, .quality = elastic::Quality::fine}, body.material);
    const double all = worst_difference(found.model.frequencies, fine.model.frequencies);
    of_all = fmt::format("{:.2f} ({:g})", all, body.max_percent_of_all);
    report.row(
        {.name = body.name + ", all modes", .figure = all, .unit = "%", .target = body.max_percent_of_all});
  }
  if (!body.expected.empty())
    report.row({.name = body.name, .figure = error, .unit = "%", .target = body.max_percent});
  if (body.max_seconds > 0)
    report.row(
        {.name = body.name + ", time", .figure = found.seconds, .unit = "s", .target = body.max_seconds});
  if (body.max_nodes > 0)
    report.row({.name = body.name + ", nodes",
                .figure = static_cast<double>(found.model.node_count),
                .unit = "",
                .target = body.max_nodes});
  table.row({body.name, joined(body.expected), closest(found.model.frequencies, body.expected),
             body.expected.empty() ? "-" : fmt::format("{:.3f} ({:g})", error, body.max_percent), of_all,
             stated.size() > 0 ? fmt::format("{:.2f}", 100 * stated.maxCoeff()) : "-",
             fmt::format("{}, {}", found.model.element, found.model.node_count),
             fmt::format("{:.2f}", found.seconds)});
}

// The mass of the body is that of its surface.
void add_volume(const std::string& name, const TriangleMesh& surface, const elastic::FillDesc& fill,
                Report& report)
{
  const Run found = run({.name = name,
                         .surface = surface,
                         .fill = fill,
                         .material = kSteel,
                         .expected = {},
                         .max_percent = 0,
                         .count = 3},
                        fill, kSteel);
  const double volume = mesh::solid_mass_properties(surface).volume;
  report.row({.name = name + ", volume against that of its surface",
              .figure = std::abs(found.model.mass / (kSteel.density * volume) - 1),
              .unit = "",
              .target = 1e-5});
}

THRUM_BENCHMARK(elastic, acceptance)
{
  base::set_thread_count(1);
  {
    Table table(
        "acceptance/acceptance.md",
        "| body | known [Hz] | found [Hz] | error (allowed) % | all modes to the finest run (allowed) % | "
        "stated, at most % | elements, nodes | time s |\n| --- | --- | --- | --- | --- | --- | --- | --- "
        "|\n");
    for (const Body& body : bodies()) add_body(body, report, table);
  }
  add_volume("bar", shapes::generate(shapes::BoxDesc{.size = {0.5, 0.012, 0.01}}), {}, report);
  const TriangleMesh mug = shapes::generate(shapes::MugDesc{});
  const TriangleMesh table = shapes::make_table({});
  for (const auto& [how, method] : {std::pair("by default", elastic::FillMethod::automatic),
                                    std::pair("in tetrahedra that keep it", elastic::FillMethod::delaunay)}) {
    const elastic::FillDesc fill = {.method = method, .quality = elastic::Quality::draft};
    add_volume(fmt::format("mug {}", how), mug, fill, report);
    add_volume(fmt::format("table {}", how), table, fill, report);
  }
  for (const Body& body : bodies())
    if (body.max_seconds > 0) {
      const Run own = run(body, body.fill, body.material, numerics::FactorisationBackend::eigen_ldlt);
      report.row({.name = body.name + ", without CHOLMOD",
                  .figure = worst_percent(own.model.frequencies, body.expected),
                  .unit = "%",
                  .target = body.max_percent});
      report.row({.name = body.name + ", without CHOLMOD, time",
                  .figure = own.seconds,
                  .unit = "s",
                  .target = body.max_seconds});
    }
  base::set_thread_count(0);
}

// By default, in twenty positions: no failure, and a spread of the first mode below 0.1 %.
THRUM_BENCHMARK(elastic, acceptance_turned)
{
  if (!include_slow_rows()) return;
  constexpr int kPositions = 20;
  base::set_thread_count(1);
  std::vector<Body> all;
  all.push_back({.name = "mug",
                 .surface = shapes::generate(shapes::MugDesc{}),
                 .material = kSteel,
                 .expected = {},
                 .max_percent = 0});
  all.push_back({.name = "table",
                 .surface = shapes::make_table({}),
                 .material = kSteel,
                 .expected = {},
                 .max_percent = 0});
  for (Body& body : bodies())
    if (body.fill.spacing == 0 && body.name.find("the same") == std::string::npos) all.push_back(body);
  Table table("acceptance/turned.md",
              "| body, 20 positions | spread of mode 1 (0.1 allowed) % | of all modes % | stated, at most % "
              "| failed |\n"
              "| --- | --- | --- | --- | --- |\n");
  for (const Body& body : all) {
    base::Random random(1717);
    VecX low, high;
    double stated = 0;
    int failed = 0;
    for (int position = 0; position < kPositions; ++position) {
      Body turned = body;
      const Vec4 q(random.normal(), random.normal(), random.normal(), random.normal());
      const Mat3 rotation = Eigen::Quaterniond(q.normalized()).toRotationMatrix();
      const Vec3 shift(random.normal(), random.normal(), random.normal());
      for (Vec3& v : turned.surface.vertices) v = rotation * v + shift;
      const model::ModalModel found = run(turned, turned.fill, turned.material).model;
      if (found.frequencies.size() < turned.count) {
        ++failed;
        continue;
      }
      stated = std::max(stated, 100 * found.frequency_errors.maxCoeff());
      low = low.size() == 0 ? found.frequencies : VecX(low.cwiseMin(found.frequencies));
      high = high.size() == 0 ? found.frequencies : VecX(high.cwiseMax(found.frequencies));
    }
    const VecX spread = 100 * (high.array() / low.array() - 1);
    report.row({.name = body.name + ", spread of mode 1 in 20 positions",
                .figure = spread[0],
                .unit = "%",
                .target = 0.1});
    report.note(fmt::format("  all modes {:.3g} %, stated up to {:.2g} %, {} failed", spread.maxCoeff(),
                            stated, failed));
    table.row({body.name, fmt::format("{:.2g}", spread[0]), fmt::format("{:.2g}", spread.maxCoeff()),
               fmt::format("{:.2f}", stated), std::to_string(failed)});
  }
  base::set_thread_count(0);
}

}  // namespace
}  // namespace thrum::bench
