// SPDX-License-Identifier: MIT
// The rules of the distant response against the flexible stepper, in the scenes of the response: how high
// each body rises. Prints the factors and draws them over the truth; writes build/truth/.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "benchmarks/harness.h"
#include "benchmarks/response/score.h"
#include "tests/support/scene_outcomes.h"
#include "thrum/media/image.h"
#include "thrum/media/plot.h"

namespace thrum::bench {
namespace {

const std::filesystem::path kScenes = std::filesystem::path(THRUM_SOURCE_DIR) / "scenes";
const std::filesystem::path kResults = "build/truth";
/// Bodies that rise by less are not compared: the bending surface itself lifts what stands on it by up to 1
/// mm [m].
constexpr double kMinRise = 2e-3;
/// A rule that lifts a body by less counts as this, so that its factor is finite [m].
constexpr double kLeastRise = 1e-6;
/// Lowest dot of the picture [m].
constexpr double kLowestDot = 1e-5;

struct TruthScene {
  std::string name;
  std::vector<std::string> modes;     ///< settings that give the ringing bodies all their modes to 5 kHz
  std::vector<std::string> strikers;  ///< fall by themselves and are not compared
};

std::vector<TruthScene> truth_scenes()
{
  return {{"dinner", {"bodies.table.rings.modes=250"}, {"pot"}},
          {"wrench_on_roof", {"bodies.roof.rings.modes=250"}, {"wrench"}},
          {"scaffold", {"bodies.scaffold.rings.modes=150"}, {"toolbox"}},
          {"washing_machine", {"bodies.floor.rings.modes=100"}, {"machine", "washing_machine"}}};
}

struct Rises {
  std::vector<double> truth, found;  ///< [m]

  [[nodiscard]] Score score() const
  {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < truth.size(); ++i)
      ratios.push_back(std::max(found[i], kLeastRise) / truth[i]);
    return score_of(ratios);
  }
};

void compare(const TruthScene& scene, const support::SceneMotion& truth, const support::SceneMotion& found,
             Rises& rises)
{
  for (const auto& [name, motion] : truth) {
    const bool strikes = std::any_of(scene.strikers.begin(), scene.strikers.end(),
                                     [&, &n = name](const std::string& s) { return n.rfind(s, 0) == 0; });
    if (strikes || motion.up < kMinRise) continue;
    rises.truth.push_back(motion.up);
    rises.found.push_back(found.at(name).up);
  }
}

}  // namespace

THRUM_BENCHMARK(truth, rules)
{
  const std::vector<std::string> rules = {"micro_collisions", "exchange", "peak_velocity",
                                          "peak_displacement"};
  const std::vector<double> rates = {30, 60, 100, 1000};
  std::filesystem::create_directories(kResults);
  std::ofstream table(kResults / "rules.md");
  table << "| rule | step | bodies | bias | median factor | worst tenth |\n| --- | --- | --- | --- | --- | "
           "--- |\n";
  std::vector<support::SceneMotion> truths;
  for (const TruthScene& scene : truth_scenes()) {
    std::vector<std::string> settings = scene.modes;
    settings.emplace_back("stepper.kind=flexible");
    truths.push_back(support::run_scene_motion(kScenes / (scene.name + ".json"), settings, 0));
    for (const auto& [name, motion] : truths.back()) {
      if (motion.up > kMinRise)
        report.note(fmt::format("{}, {}: rises {:.1f} mm", scene.name, name, 1e3 * motion.up));
    }
  }
  std::vector<media::PlotSeries> series;
  for (const std::string& rule : rules) {
    media::PlotSeries dots{.name = rule};
    for (const double rate : rates) {
      Rises rises;
      const std::vector<TruthScene> scenes = truth_scenes();
      for (std::size_t i = 0; i < scenes.size(); ++i) {
        const support::SceneMotion found =
            support::run_scene_motion(kScenes / (scenes[i].name + ".json"), {"response.rule=" + rule}, rate);
        compare(scenes[i], truths[i], found, rises);
      }
      const Score score = rises.score();
      table << fmt::format("| `{}` | 1/{} s | {} | {:.2f} | {:.2f} | {:.2f} |\n", rule, rate,
                           rises.truth.size(), score.bias, score.median, score.percentile_90);
      const bool is_ours = rule == "micro_collisions";
      report.row({.name = fmt::format("{}, 1/{} s: median factor", rule, rate),
                  .figure = score.median,
                  .unit = "1",
                  .target = is_ours ? std::optional(1.15) : std::nullopt});
      report.row({.name = fmt::format("{}, 1/{} s: worst tenth", rule, rate),
                  .figure = score.percentile_90,
                  .unit = "1",
                  .target = is_ours ? std::optional(1.6) : std::nullopt});
      for (std::size_t i = 0; i < rises.truth.size(); ++i) {
        dots.x.push_back(1e3 * rises.truth[i]);
        dots.y.push_back(1e3 * std::max(rises.found[i], kLowestDot));
      }
    }
    series.push_back(dots);
  }
  series.push_back({.name = "equal", .x = {1, 200}, .y = {1, 200}, .dot_radius = 0, .line_width = 2});
  media::write_png(kResults / "rules.png",
                   media::draw_plot(series, {.title = "Rise of bodies after distant impacts",
                                             .x = {"flexible stepper [mm]", media::AxisScale::logarithmic},
                                             .y = {"rule [mm]", media::AxisScale::logarithmic}}));
}

}  // namespace thrum::bench
