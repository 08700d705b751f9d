// SPDX-License-Identifier: MIT
// Figures 9 and 10 of [Coevoet20] as pictures and numbers. The pictures go to build/figures.
//
// Figure 9: waves in the ground under a truck and in a scaffold, C r^-beta with C held and beta 0.5, 1 and 2:
// the larger beta, the more the response stays near the impact. Figure 10: how much of a blow arrives how far
// away in the scaffold, and curves through it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "benchmarks/harness.h"
#include "tests/support/source_dir.h"
#include "thrum/media/attenuation_picture.h"
#include "thrum/media/bitmap_font.h"
#include "thrum/media/snapshots.h"
#include "thrum/scene/build_world.h"
#include "thrum/scene/run_scene.h"

namespace thrum::bench {
namespace {

const std::filesystem::path kScenes = support::source_dir() / "scenes";
const std::filesystem::path kFigures = "build/figures";
constexpr std::array<double, 3> kExponents = {0.5, 1, 2};
constexpr double kFollowTime = 0.35;  ///< after the first impact [s]

struct FigureScene {
  std::string name;
  std::string striker;
  std::vector<std::string> settings;  ///< "BETA" stands for the exponent
  double shown;                       ///< after the first impact [s]
};

/// How high a body went after the first impact.
struct Rise {
  std::string name;
  double distance = 0;  ///< from the impact, level [m]
  double height = 0;    ///< [m]
};

struct Outcome {
  sim::Recording recording;
  double impact = 0;  ///< [s]
  std::vector<Rise> rises;
};

Outcome run(const FigureScene& figure, double beta)
{
  std::vector<std::string> settings = {"outputs.glb=false", "outputs.page=false", "outputs.poster=false",
                                       "outputs.csv=false", "outputs.frame_rate=100"};
  for (std::string setting : figure.settings) {
    const std::size_t at = setting.find("BETA");
    if (at != std::string::npos) setting.replace(at, 4, fmt::format("{}", beta));
    settings.push_back(std::move(setting));
  }
  const std::filesystem::path file = kScenes / (figure.name + ".json");
  const scene::SceneDesc desc = scene::read_scene(file, {.settings = settings});
  const std::filesystem::path folder = kFigures / "runs" / fmt::format("{}_{}", figure.name, beta);
  const scene::RunResult result = scene::run_scene(
      desc, {.folder = folder, .reading = {.settings = settings}, .scene_file = file, .version = {}});
  do_not_optimize(result.steps);
  Outcome outcome;
  outcome.recording = sim::read_recording(folder / "recording");

  // The first blow, and where: the middle of all that it struck.
  Vec3 place = Vec3::Zero();
  for (const sim::RecordedFrame& frame : outcome.recording.frames) {
    int struck = 0;
    for (const model::ResponseEvent& event : frame.responses) {
      if (event.kind != model::ResponseKind::struck) continue;
      place += event.position;
      ++struck;
    }
    if (struck == 0) continue;
    place /= struck;
    outcome.impact = frame.time;
    break;
  }
  const auto& frames = outcome.recording.frames;
  for (std::size_t b = 0; b < outcome.recording.header.bodies.size(); ++b) {
    const sim::RecordedBody& body = outcome.recording.header.bodies[b];
    if (body.motion != model::Motion::dynamic || body.name == figure.striker) continue;
    Rise rise{body.name};
    double before = 0;
    for (const sim::RecordedFrame& frame : frames) {
      const Vec3 p = frame.poses[b].pose().position;
      if (frame.time < outcome.impact) {
        before = p.z();
        rise.distance = (p - place).head<2>().norm();
      } else if (frame.time < outcome.impact + kFollowTime) {
        rise.height = std::max(rise.height, p.z() - before);
      }
    }
    outcome.rises.push_back(rise);
  }
  std::sort(outcome.rises.begin(), outcome.rises.end(),
            [](const Rise& a, const Rise& b) { return a.distance < b.distance; });
  return outcome;
}

// Mean height of the farther half over that of the nearer half.
double far_to_near_ratio(const std::vector<Rise>& rises)
{
  const std::size_t half = rises.size() / 2;
  double near = 0, far = 0;
  for (std::size_t i = 0; i < half; ++i) {
    near += rises[i].height;
    far += rises[rises.size() - 1 - i].height;
  }
  return near > 0 ? far / near : 0;
}

void figure_9(Report& report, const FigureScene& figure, std::vector<media::Image>& tiles)
{
  std::vector<Outcome> outcomes;
  for (const double beta : kExponents) {
    outcomes.push_back(run(figure, beta));
    const Outcome& outcome = outcomes.back();
    media::Image tile = media::render_snapshot(outcome.recording, outcome.impact + figure.shown,
                                               {.width = 560, .height = 380, .whole_run = true});
    media::draw_text(tile, 12, 12, fmt::format("{}, beta {}", figure.name, beta), {0.15f, 0.16f, 0.18f});
    tiles.push_back(std::move(tile));
  }
  fmt::print("{:<16} {:>10} {:>14} {:>14} {:>14}\n", figure.name, "distance", "rise, 0.5", "1", "2");
  for (const Rise& rise : outcomes[0].rises) {
    std::string line = fmt::format("  {:<14} {:>8.2f} m", rise.name, rise.distance);
    for (const Outcome& outcome : outcomes) {
      for (const Rise& other : outcome.rises) {
        if (other.name == rise.name) line += fmt::format(" {:>11.2f} mm", 1000 * other.height);
      }
    }
    fmt::print("{}\n", line);
  }
  for (std::size_t k = 0; k < kExponents.size(); ++k) {
    report.row({.name = fmt::format("figure 9, {}, beta {}: rise of the farther half over the nearer half",
                                    figure.name, kExponents[k]),
                .figure = far_to_near_ratio(outcomes[k].rises),
                .unit = "1"});
  }
}

}  // namespace

THRUM_BENCHMARK(figures, figure_9)
{
  const std::vector<FigureScene> figures = {
      {"truck",
       "truck",
       {"bodies.ground.rings.attenuation.beta=BETA", "bodies.ground.rings.attenuation.C=2",
        "camera={\"eye\": [7, 10, 3], \"target\": [0.3, 1, 1], \"field_of_view\": 28}"},
       0.08},
      {"scaffold",
       "toolbox",
       {"response.method=attenuated", "response.preset=coevoet2020",
        "bodies.scaffold.rings.attenuation={\"C\": 1, \"beta\": BETA}",
        "camera={\"eye\": [1.5, -2.6, 2.5], \"target\": [0.2, 0, 1.6], \"field_of_view\": 30}"},
       0.12}};
  std::vector<media::Image> tiles;
  for (const FigureScene& figure : figures) figure_9(report, figure, tiles);
  const int width = tiles[0].width, height = tiles[0].height;
  media::Image sheet(3 * width, 2 * height);
  for (std::size_t i = 0; i < tiles.size(); ++i)
    media::paste(sheet, tiles[i], static_cast<int>(i % 3) * width, static_cast<int>(i / 3) * height);
  media::write_png(kFigures / "figure_9.png", sheet);
  report.note(fmt::format("{}: a moment after the first impact", (kFigures / "figure_9.png").string()));
}

THRUM_BENCHMARK(figures, figure_10)
{
  std::filesystem::create_directories(kFigures);
  const scene::SceneDesc desc =
      scene::read_scene(kScenes / "scaffold.json", {.settings = {"bodies.scaffold.rings.modes=200"}});
  const scene::BuiltScene built = scene::build_world(desc);
  const vibration::BodyResponse* scaffold = built.responder->response_of(built.world.id_of(0));
  const vibration::AttenuationSamples samples =
      vibration::sample_attenuation(scaffold->model(), {.facing = Vec3::UnitZ()});
  const vibration::AttenuationFit fit = vibration::fit_attenuation(samples.samples);
  const vibration::AttenuationSettings paper{
      .full = true, .alpha = 0.048, .beta = 0.8, .r0 = 0.033, .min_distance = 0.033};
  const vibration::AttenuationSettings by_hand{.C = 0.4, .beta = 0.5, .min_distance = 0.16};
  const std::vector<media::NamedCurve> curves = {
      {"fitted: " + media::curve_text(fit.full.settings), fit.full.settings},
      {"the paper's: " + media::curve_text(paper), paper},
      {"by hand: " + media::curve_text(by_hand), by_hand}};
  media::write_png(kFigures / "figure_10.png",
                   media::attenuation_picture(samples.samples, curves,
                                              {.title = "Scaffold, 200 modes: random blows and places"}));
  report.row({.name = "figure 10, scaffold: alpha (the paper's 0.048)",
              .figure = fit.full.settings.alpha,
              .unit = "1/m"});
  report.row(
      {.name = "figure 10, scaffold: beta (the paper's 0.8)", .figure = fit.full.settings.beta, .unit = "1"});
  report.row(
      {.name = "figure 10, scaffold: r0 (the paper's 0.033)", .figure = fit.full.settings.r0, .unit = "m"});
  report.row(
      {.name = "figure 10, scaffold: C of C r^-beta", .figure = fit.simple.settings.C, .unit = "m^beta"});
  report.row(
      {.name = "figure 10, scaffold: beta of C r^-beta", .figure = fit.simple.settings.beta, .unit = "1"});
  report.row({.name = "figure 10, scaffold: spread of the samples about eq. 14",
              .figure = fit.full.spread,
              .unit = "1"});
  report.note(fmt::format("{}: {} samples", (kFigures / "figure_10.png").string(), fit.count));
}

}  // namespace thrum::bench
