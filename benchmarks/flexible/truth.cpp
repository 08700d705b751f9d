// SPDX-License-Identifier: MIT
// The rules of the distant response against the flexible stepper, in the scenes of the response: how high
// each body rises. Prints the factors and draws them over the truth; writes build/truth/. What the flexible
// stepper itself gives for a slightly higher drop shows how well defined the heights are.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "benchmarks/harness.h"
#include "benchmarks/response/score.h"
#include "tests/support/scene_outcomes.h"
#include "tests/support/source_dir.h"
#include "thrum/media/image.h"
#include "thrum/media/plot.h"

namespace thrum::bench {
namespace {

const std::filesystem::path kScenes = support::source_dir() / "scenes";
const std::filesystem::path kResults = "build/truth";
/// Bodies that rise by less are not compared: the bending surface itself lifts what stands on it by up to 1
/// mm [m].
constexpr double kMinRise = 2e-3;
/// A rule that lifts a body by less counts as this, so that its factor is finite [m].
constexpr double kLeastRise = 1e-6;
/// Lowest dot of the picture [m].
constexpr double kLowestDot = 1e-5;

/// The truth again with so much of the drop added.
constexpr double kHigherDrop = 0.005;
/// Heights are means over these shares of the drop where single ones are not well defined.
constexpr std::array kDrops = {0.98, 0.99, 1.0, 1.01, 1.02};

struct TruthScene {
  std::string name;
  std::string modes;    ///< setting that gives the ringing body all its modes to 5 kHz
  std::string striker;  ///< falls or is pushed and is not compared
  double drop = 0;      ///< of the striker in the file; 0: none [m]
};

std::vector<TruthScene> truth_scenes()
{
  return {{"dinner", "bodies.table.rings.modes=250", "pot", 0.6},
          {"wrench_on_roof", "bodies.roof.rings.modes=250", "toolbox", 1.2},
          {"scaffold", "bodies.scaffold.rings.modes=150", "toolbox", 0.8},
          {"washing_machine", "bodies.floor.rings.modes=100", "machine", 0}};
}

/// A rule with the modes of the file or with those of the truth.
struct ComparedRule {
  std::string rule;
  bool all_modes = false;

  [[nodiscard]] std::string name() const { return all_modes ? rule + ", all modes" : rule; }
};

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
    if (name == scene.striker || motion.up < kMinRise) continue;
    rises.truth.push_back(motion.up);
    rises.found.push_back(found.at(name).up);
  }
}

support::SceneMotion run_truth(const TruthScene& scene, double drop_ratio)
{
  std::vector<std::string> settings = {scene.modes, "stepper.kind=flexible"};
  if (scene.drop > 0) settings.push_back(fmt::format("parameters.drop={}", drop_ratio * scene.drop));
  return support::run_scene_motion(kScenes / (scene.name + ".json"), settings, 0);
}

support::SceneMotion run_rule(const TruthScene& scene, const ComparedRule& rule, double rate,
                              double drop_ratio)
{
  std::vector<std::string> settings = {"response.rule=" + rule.rule};
  if (rule.all_modes) settings.push_back(scene.modes);
  if (drop_ratio != 1) settings.push_back(fmt::format("parameters.drop={}", drop_ratio * scene.drop));
  return support::run_scene_motion(kScenes / (scene.name + ".json"), settings, rate);
}

/// How high a body rises, over several drops.
struct Heights {
  double log_sum = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  int count = 0;

  void add(double height)
  {
    height = std::max(height, kLeastRise);
    log_sum += std::log(height);
    least = std::min(least, height);
    most = std::max(most, height);
    ++count;
  }
  [[nodiscard]] double mean() const { return std::exp(log_sum / count); }
};

void add_heights(const support::SceneMotion& motion, std::map<std::string, Heights>& heights)
{
  for (const auto& [name, of] : motion) heights[name].add(of.up);
}

}  // namespace

THRUM_BENCHMARK(truth, rules)
{
  const std::vector<ComparedRule> rules = {{"micro_collisions", true},
                                           {"micro_collisions", false},
                                           {"exchange", false},
                                           {"peak_velocity", false},
                                           {"peak_displacement", false}};
  const std::vector<double> rates = {30, 60, 100, 1000};
  std::filesystem::create_directories(kResults);
  std::ofstream table(kResults / "rules.md");
  table << "| rule | step | bodies | bias | median factor | worst tenth |\n| --- | --- | --- | --- | --- | "
           "--- |\n";
  const std::vector<TruthScene> scenes = truth_scenes();
  std::vector<support::SceneMotion> truths;
  Rises again;
  for (const TruthScene& scene : scenes) {
    truths.push_back(run_truth(scene, 1));
    for (const auto& [name, motion] : truths.back()) {
      if (motion.up > kMinRise)
        report.note(fmt::format("{}, {}: rises {:.1f} mm", scene.name, name, 1e3 * motion.up));
    }
    if (scene.drop > 0) compare(scene, truths.back(), run_truth(scene, 1 + kHigherDrop), again);
  }
  const auto report_score = [&](const std::string& name, const std::string& step, const Rises& rises,
                                bool has_target) {
    const Score score = rises.score();
    table << fmt::format("| {} | {} | {} | {:.2f} | {:.2f} | {:.2f} |\n", name, step, rises.truth.size(),
                         score.bias, score.median, score.percentile_90);
    report.row({.name = fmt::format("{}, {}: median factor", name, step),
                .figure = score.median,
                .unit = "1",
                .target = has_target ? std::optional(1.15) : std::nullopt});
    report.row({.name = fmt::format("{}, {}: worst tenth", name, step),
                .figure = score.percentile_90,
                .unit = "1",
                .target = has_target ? std::optional(1.6) : std::nullopt});
  };
  report_score("flexible stepper, 0.5 % higher drop", "its own", again, false);
  std::vector<media::PlotSeries> series;
  for (const ComparedRule& rule : rules) {
    media::PlotSeries dots{.name = rule.name()};
    for (const double rate : rates) {
      Rises rises;
      for (std::size_t i = 0; i < scenes.size(); ++i)
        compare(scenes[i], truths[i], run_rule(scenes[i], rule, rate, 1), rises);
      report_score(rule.name(), fmt::format("1/{} s", rate), rises, rule.all_modes);
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

// What a rule is off where the truth itself moves by factors from one drop to the next: the geometric means
// of the heights over kDrops, and which bodies are off most.
THRUM_BENCHMARK(truth, drops)
{
  std::map<std::string, std::map<std::string, Heights>> truths;  // by scene and body
  for (const TruthScene& scene : truth_scenes()) {
    for (const double drop : kDrops) {
      if (scene.drop > 0) add_heights(run_truth(scene, drop), truths[scene.name]);
    }
  }
  for (const bool all_modes : {true, false}) {
    const ComparedRule rule{"micro_collisions", all_modes};
    std::vector<double> ratios, spreads;
    for (const TruthScene& scene : truth_scenes()) {
      if (scene.drop == 0) continue;
      std::map<std::string, Heights> found;
      for (const double drop : kDrops) add_heights(run_rule(scene, rule, 100, drop), found);
      for (const auto& [name, heights] : truths[scene.name]) {
        if (name == scene.striker || heights.mean() < kMinRise) continue;
        const Heights& by_rule = found.at(name);
        ratios.push_back(by_rule.mean() / heights.mean());
        spreads.push_back(heights.most / heights.least);
        report.note(fmt::format("{}, {}: {:.1f} mm ({:.1f} to {:.1f}), {} {:.1f} ({:.1f} to {:.1f})",
                                scene.name, name, 1e3 * heights.mean(), 1e3 * heights.least,
                                1e3 * heights.most, rule.name(), 1e3 * by_rule.mean(), 1e3 * by_rule.least,
                                1e3 * by_rule.most));
      }
    }
    const Score score = score_of(ratios);
    report.row({.name = rule.name() + ", means over five drops: bias", .figure = score.bias, .unit = "1"});
    report.row({.name = rule.name() + ", means over five drops: median factor",
                .figure = score.median,
                .unit = "1",
                .target = 1.15});
    report.row({.name = rule.name() + ", means over five drops: worst tenth",
                .figure = score.percentile_90,
                .unit = "1",
                .target = 1.6});
    report.row({.name = "highest over lowest truth of these drops: median",
                .figure = score_of(spreads).median,
                .unit = "1"});
  }
}

}  // namespace thrum::bench
