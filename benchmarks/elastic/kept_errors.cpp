// SPDX-License-Identifier: MIT
// Whether the errors stated by default cover the true ones on bodies that are neither round nor along three
// axes, many of them with small parts on large ones. Truth: the same body in several times as many elements,
// less what these state themselves. No limit was chosen on these bodies.
#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/elastic/profiles.h"
#include "benchmarks/harness.h"
#include "thrum/base/parallel.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/shapes.h"

namespace thrum::bench {
namespace {

using mesh::TriangleMesh;

const model::Material kMetal = {.name = "metal", .density = 8000, .young = 200e9, .poisson = 0.3};
constexpr Index kModes = 8;
// Differences of the truth below this say nothing.
constexpr double kTruth = 5e-4;
constexpr double kMaxTruthCells = 60e3;

TriangleMesh moved(TriangleMesh mesh, const Mat3& turn, const Vec3& by)
{
  for (Vec3& v : mesh.vertices) v = turn * v + by;
  return mesh;
}

Mat3 turn(double degrees, const Vec3& axis)
{
  return Eigen::AngleAxisd(degrees * std::numbers::pi / 180, axis.normalized()).toRotationMatrix();
}

TriangleMesh box(const Vec3& low, const Vec3& high)
{
  return moved(shapes::generate(shapes::BoxDesc{.size = high - low}), Mat3::Identity(), 0.5 * (low + high));
}

TriangleMesh prism(std::vector<Vec2> outline, double height, std::vector<std::vector<Vec2>> holes = {})
{
  return shapes::generate(
      shapes::ExtrusionDesc{.outline = std::move(outline), .holes = std::move(holes), .height = height});
}

TriangleMesh rod(const std::vector<Vec3>& path, double radius, int segments)
{
  return shapes::generate(shapes::TubeDesc{.path = path, .radius = radius, .segments = segments});
}

std::vector<Vec2> circle(const Vec2& centre, double radius, int count, double phase = 0)
{
  std::vector<Vec2> points;
  for (int k = 0; k < count; ++k) {
    const double angle = phase + 2 * std::numbers::pi * k / count;
    points.emplace_back(centre + radius * Vec2(std::cos(angle), std::sin(angle)));
  }
  return points;
}

TriangleMesh united(const std::vector<TriangleMesh>& parts)
{
  return shapes::boolean_union(parts);
}

// A square handle that stands askew on the side of a block.
TriangleMesh block_with_turned_handle()
{
  const std::vector<TriangleMesh> handle = {box({-0.1, -0.02, -0.01}, {-0.06, 0.02, 0.1}),
                                            box({0.06, -0.02, -0.01}, {0.1, 0.02, 0.1}),
                                            box({-0.1, -0.02, 0.06}, {0.1, 0.02, 0.1})};
  const Mat3 askew = turn(90, Vec3::UnitY()) * turn(25, Vec3::UnitZ());
  return united({box({0, 0, 0}, {0.5, 0.5, 1}), moved(united(handle), askew, {0.5, 0.25, 0.55})});
}

TriangleMesh block_with_round_handle()
{
  const double r = 0.02;
  return united({box({0, 0, 0}, {0.5, 0.5, 1}),
                 rod({{0.49, 0.25, 0.4}, {0.58, 0.25, 0.4}, {0.58, 0.25, 0.65}, {0.49, 0.25, 0.65}}, r, 12)});
}

TriangleMesh peg_on_hexagon()
{
  return united(
      {prism(circle({0, 0}, 0.12, 6), 0.25), rod({{0.02, 0.01, 0.24}, {0.02, 0.01, 0.4}}, 0.006, 10)});
}

TriangleMesh fin_on_prism()
{
  return united({prism(circle({0, 0}, 0.1, 8), 0.3),
                 moved(box({0, -0.004, 0}, {0.2, 0.004, 0.16}), turn(13, Vec3::UnitZ()), {0.05, 0, 0.07})});
}

TriangleMesh bent_plate_with_rib()
{
  const double t = 0.005;
  const TriangleMesh plate =
      prism({{0, 0}, {0.2, 0}, {0.3, 0.08}, {0.3 - 0.6 * t, 0.08 + 0.8 * t}, {0.2, t}, {0, t}}, 0.15);
  const TriangleMesh rib = prism({{0.02, 0.5 * t}, {0.19, 0.5 * t}, {0.1, 0.03}}, 0.006);
  return united({plate, moved(rib, Mat3::Identity(), {0, 0, 0.06})});
}

TriangleMesh angle_with_hole()
{
  const TriangleMesh angle =
      united({box({0, 0, 0}, {0.16, 0.06, 0.008}), box({0, 0, 0}, {0.008, 0.06, 0.12})});
  return shapes::boolean_difference(
      angle, moved(prism(circle({0, 0}, 0.012, 16), 0.05), Mat3::Identity(), {0.11, 0.03, -0.02}));
}

TriangleMesh cup_with_thick_handle()
{
  const TriangleMesh cup = shapes::generate(shapes::LatheDesc{
      .profile = {{0, 0}, {0.035, 0}, {0.042, 0.09}, {0.037, 0.09}, {0.031, 0.006}, {0, 0.006}},
      .segments = 32});
  return united(
      {cup, rod({{0.0365, 0, 0.025}, {0.065, 0, 0.03}, {0.07, 0, 0.07}, {0.0395, 0, 0.075}}, 0.007, 10)});
}

TriangleMesh star_prism()
{
  std::vector<Vec2> star;
  for (int k = 0; k < 10; ++k)
    star.push_back(circle({0, 0}, k % 2 == 0 ? 0.1 : 0.04, 10)[static_cast<std::size_t>(k)]);
  return prism(star, 0.02);
}

TriangleMesh hollow_box_with_slot()
{
  const TriangleMesh hollow = shapes::boolean_difference(box({0, 0, 0}, {0.2, 0.14, 0.1}),
                                                         box({0.006, 0.006, 0.006}, {0.194, 0.134, 0.094}));
  return shapes::boolean_difference(hollow, moved(box({-0.06, -0.005, -0.02}, {0.06, 0.005, 0.02}),
                                                  turn(30, Vec3::UnitZ()), {0.1, 0.07, 0.1}));
}

TriangleMesh hammer()
{
  const TriangleMesh grip =
      moved(shapes::generate(
                shapes::ConeDesc{.bottom_radius = 0.014, .top_radius = 0.009, .height = 0.3, .segments = 14}),
            Mat3::Identity(), {0, 0, -0.14});
  return united({box({-0.05, -0.02, -0.02}, {0.06, 0.02, 0.02}), grip});
}

TriangleMesh spoked_wheel()
{
  std::vector<std::vector<Vec2>> holes;
  for (int k = 0; k < 3; ++k) {
    std::vector<Vec2> hole;
    for (int i = 0; i <= 8; ++i) {
      const double a = 2 * std::numbers::pi * (k + 0.08 + 0.84 * i / 8) / 3;
      hole.emplace_back(0.085 * std::cos(a), 0.085 * std::sin(a));
    }
    for (int i = 8; i >= 0; i -= 4) {
      const double a = 2 * std::numbers::pi * (k + 0.2 + 0.6 * i / 8) / 3;
      hole.emplace_back(0.02 * std::cos(a), 0.02 * std::sin(a));
    }
    holes.push_back(hole);
  }
  return prism(circle({0, 0}, 0.1, 36), 0.012, holes);
}

TriangleMesh leaning_chair()
{
  return united({box({0, 0, 0.4}, {0.4, 0.4, 0.425}),
                 moved(box({0, 0, 0}, {0.4, 0.02, 0.5}), turn(-12, Vec3::UnitX()), {0, 0.37, 0.41}),
                 box({0, 0, 0}, {0.035, 0.035, 0.41}), box({0.365, 0, 0}, {0.4, 0.035, 0.41}),
                 box({0, 0.365, 0}, {0.035, 0.4, 0.41}), box({0.365, 0.365, 0}, {0.4, 0.4, 0.41})});
}

struct Case {
  const char* name;
  TriangleMesh surface;
};

std::vector<Case> cases()
{
  return {{"turned handle", block_with_turned_handle()},
          {"round handle", block_with_round_handle()},
          {"peg", peg_on_hexagon()},
          {"fin", fin_on_prism()},
          {"bent plate with rib", bent_plate_with_rib()},
          {"angle with hole", angle_with_hole()},
          {"cup, thick handle", cup_with_thick_handle()},
          {"star prism", star_prism()},
          {"hollow box with slot", hollow_box_with_slot()},
          {"hammer", hammer()},
          {"spoked wheel", spoked_wheel()},
          {"leaning chair", leaning_chair()}};
}

struct Counts {
  int modes = 0;
  int covered = 0;
  int measurable = 0;  // true errors above what is known of the truth
  int close = 0;       // stated at most five times as large
};

elastic::ModalAnalysisResult analyse(const Case& body, const elastic::FillDesc& fill)
{
  return elastic::analyse_surface_modes(body.surface, fill,
                                        {.name = body.name, .materials = {kMetal}, .count = kModes});
}

// The truth lies below the finest run, by up to what that states; half of it is taken.
void add_case(const Case& body, const model::ModalModel& truth, elastic::Quality quality, Report& report,
              Counts& counts)
{
  model::ModalModel found;
  const double seconds = cpu_seconds_once([&] { found = analyse(body, {.quality = quality}).model; });
  double worst = 0;
  double largest = 0;
  double most_stated = 0;
  for (Index k = 0; k < kModes; ++k) {
    const double known = std::max(kTruth, 0.5 * truth.frequency_errors[k]);
    const double error = std::abs(found.frequencies[k] / truth.frequencies[k] - 1);
    const double stated = found.frequency_errors[k];
    ++counts.modes;
    counts.covered += error <= stated + kTruth ? 1 : 0;
    counts.measurable += error > known ? 1 : 0;
    counts.close += error > known && stated <= 5 * (error + known) ? 1 : 0;
    worst = std::max(worst, error / stated);
    largest = std::max(largest, error);
    most_stated = std::max(most_stated, stated);
  }
  report.note(fmt::format(
      "  {:22} {} {:6} elements {:5.1f} s, error {:5.2f} %, stated {:5.2f} %, at most {:.2f} of it",
      body.name, found.element, found.element_count, seconds, 100 * largest, 100 * most_stated, worst));
}

// THRUM_BODY=<part of a name> runs some of them.
THRUM_BENCHMARK(elastic, kept_errors)
{
  if (!include_slow_rows()) return;
  const char* only = std::getenv("THRUM_BODY");
  Counts counts[2];
  for (const Case& body : cases()) {
    if (only != nullptr && std::string_view(body.name).find(only) == std::string_view::npos) continue;

    const model::ModalModel truth =
        analyse(body, {.max_tetrahedra = kMaxTruthCells, .quality = elastic::Quality::fine}).model;
    report.note(fmt::format("  {:22} truth: {} {} elements, {:.4g} Hz, stated up to {:.2f} %", body.name,
                            truth.element, truth.element_count, truth.frequencies[0],
                            100 * truth.frequency_errors.maxCoeff()));
    add_case(body, truth, elastic::Quality::draft, report, counts[0]);
    add_case(body, truth, elastic::Quality::normal, report, counts[1]);
  }
  for (const int k : {0, 1}) {
    const char* quality = k == 0 ? "draft" : "normal";
    report.row({.name = fmt::format("default filling, {}: true error at most the stated one", quality),
                .figure = 100.0 * counts[k].covered / std::max(1, counts[k].modes),
                .unit = "%",
                .target = 90,
                .better = Better::higher});
    report.row({.name = fmt::format("default filling, {}: stated at most five times the true one", quality),
                .figure = 100.0 * counts[k].close / std::max(1, counts[k].measurable),
                .unit = "%",
                .target = 90,
                .better = Better::higher});
  }
}

}  // namespace
}  // namespace thrum::bench
