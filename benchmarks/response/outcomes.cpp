// SPDX-License-Identifier: MIT
// What happens in the scenes of the distant response: with the rule of the file, with the rule of the paper
// (preset coevoet2020) and at five steps. Prints and writes the tables of docs/response_scenes.md.
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <limits>
#include <optional>

#include "benchmarks/harness.h"
#include "tests/support/scene_outcomes.h"
#include "tests/support/source_dir.h"

namespace thrum::bench {
namespace {

const std::filesystem::path kScenes = support::source_dir() / "scenes";
const std::filesystem::path kTables = "build/outcomes";
// The surface meshes of Table 1 of [Coevoet20].
struct PaperMesh {
  std::string scene, body;
  int vertices, triangles;
};
const std::vector<PaperMesh> kPaperMeshes = {
    {"dinner", "table", 966, 1928},          {"wrench_on_roof", "roof", 1002, 2000},
    {"scaffold", "scaffold", 5384, 10776},   {"truck", "ground", 1570, 3136},
    {"rockfall", "cliff", 7182, 14360},      {"washing_machine", "floor", 360, 716},
    {"washing_machine", "fridge", 250, 496},
};

// The rule of the paper with its 20 modes.
std::vector<std::string> paper_settings(const std::string& scene)
{
  std::vector<std::string> settings = {"response.preset=coevoet2020"};
  for (const PaperMesh& mesh : kPaperMeshes)
    if (mesh.scene == scene) settings.push_back(fmt::format("bodies.{}.rings.modes=20", mesh.body));
  return settings;
}

void write(const std::filesystem::path& file, const std::string& text)
{
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
  fmt::print("{}", text);
}

std::string shown(double value)
{
  return fmt::format("{:.{}f}", value, value >= 10 || value == std::floor(value) ? 0 : value >= 1 ? 1 : 2);
}

}  // namespace

THRUM_BENCHMARK(outcomes, meshes)
{
  std::string table =
      "| scene | body | vertices, paper | vertices | triangles, paper | triangles |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const PaperMesh& paper : kPaperMeshes) {
    const scene::BuiltScene built = scene::build_world(scene::read_scene(kScenes / (paper.scene + ".json")));
    const model::ModalModel& model = *built.modes.at(paper.body);
    table += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", paper.scene, paper.body, paper.vertices,
                         model.vertex_count(), paper.triangles, model.surface.triangles.size());
    report.row({.name = fmt::format("{}, {}: surface vertices over the paper's", paper.scene, paper.body),
                .figure = static_cast<double>(model.vertex_count()) / paper.vertices,
                .unit = "1"});
  }
  write(kTables / "meshes.md", table);
}

THRUM_BENCHMARK(outcomes, rules)
{
  std::string table =
      "| scene | outcome | no response | the paper, 1/30 s | the paper, 1/100 s | the paper, 1 ms "
      "| thrum, 1/30 s | thrum, 1/100 s | thrum, 1 ms |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const std::string& name : support::response_scenes()) {
    const auto run = [&](const std::vector<std::string>& settings, double rate) {
      return support::outcomes_of(name,
                                  support::run_scene_motion(kScenes / (name + ".json"), settings, rate));
    };
    std::vector<std::vector<support::Outcome>> columns = {run({"response.method=none"}, 100)};
    for (const std::vector<std::string>& settings : {paper_settings(name), std::vector<std::string>()})
      for (const double rate : {30.0, 100.0, 1000.0}) columns.push_back(run(settings, rate));
    for (std::size_t i = 0; i < columns[0].size(); ++i) {
      table += fmt::format("| `{}` | {} [{}] |", name, columns[0][i].name, columns[0][i].unit);
      for (const auto& column : columns) table += fmt::format(" {} |", shown(column[i].value));
      table += "\n";
      report.row({.name = fmt::format("{}, {}, 1/100 s", name, columns[0][i].name),
                  .figure = columns[5][i].value,
                  .unit = columns[0][i].unit,
                  .baseline = "coevoet2020",
                  .baseline_value = columns[2][i].value});
    }
  }
  write(kTables / "rules.md", table);
}

THRUM_BENCHMARK(outcomes, modes)
{
  std::string table =
      "| modes | rise of the plates at the far end [mm] | of the cups [mm] |\n| --- | --- | --- |\n";
  for (const int modes : {20, 50, 80, 150, 200}) {
    const support::SceneMotion motion = support::run_scene_motion(
        kScenes / "dinner.json", {fmt::format("bodies.table.rings.modes={}", modes)}, 0);
    const auto rise = [&](const char* name) {
      return 1000 * motion.at(name).up;
    };
    table += fmt::format("| {} | {:.1f}, {:.1f} | {:.1f}, {:.1f} |\n", modes, rise("plate_left/2"),
                         rise("plate_right/2"), rise("cup_left/1"), rise("cup_right/1"));
    report.row({.name = fmt::format("dinner, {} modes: rise of a far plate", modes),
                .figure = rise("plate_left/2"),
                .unit = "mm"});
  }
  write(kTables / "modes.md", table);
}

THRUM_BENCHMARK(outcomes, dinner_rules)
{
  std::string table =
      "| `--set` | rise of the plates at the far end [mm] | of the cups [mm] |\n| --- | --- | --- |\n";
  const std::vector<std::vector<std::string>> choices = {
      {"response.rule=micro_collisions"},  {"response.rule=exchange"},  {"response.rule=peak_velocity"},
      {"response.rule=peak_displacement"}, {"response.rule=automatic"}, paper_settings("dinner")};
  for (const std::vector<std::string>& settings : choices) {
    const support::SceneMotion motion = support::run_scene_motion(kScenes / "dinner.json", settings, 0);
    const auto rise = [&](const char* name) {
      return 1000 * motion.at(name).up;
    };
    table +=
        fmt::format("| `{}` | {:.1f}, {:.1f} | {:.1f}, {:.1f} |\n", fmt::join(settings, "`, `"),
                    rise("plate_left/2"), rise("plate_right/2"), rise("cup_left/1"), rise("cup_right/1"));
    report.row({.name = fmt::format("dinner, {}: rise of a far plate", settings.front()),
                .figure = rise("plate_left/2"),
                .unit = "mm"});
  }
  write(kTables / "dinner_rules.md", table);
}

THRUM_BENCHMARK(outcomes, steps)
{
  std::string table =
      "| scene | outcome | 1/30 s | 1/60 s | 1/100 s | 1/200 s | 1 ms |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const std::string& name : support::response_scenes()) {
    std::vector<std::vector<support::Outcome>> columns;
    for (const double rate : support::kStepRates)
      columns.push_back(
          support::outcomes_of(name, support::run_scene_motion(kScenes / (name + ".json"), {}, rate)));
    for (std::size_t i = 0; i < columns[0].size(); ++i) {
      table += fmt::format("| `{}` | {} [{}] |", name, columns[0][i].name, columns[0][i].unit);
      double worst = 1;
      for (const auto& column : columns) {
        table += fmt::format(" {} |", shown(column[i].value));
        const double reference = columns.back()[i].value;
        worst = std::max({worst, column[i].value / reference, reference / column[i].value});
      }
      table += "\n";
      report.row({.name = fmt::format("{}, {}: worst factor to 1 ms", name, columns[0][i].name),
                  .figure = worst,
                  .unit = "1",
                  .target = 1.5});
    }
  }
  write(kTables / "steps.md", table);
}

// Steps that no test uses, each with the first step cut to three lengths, so that impacts fall elsewhere
// within theirs: the worst factor of each rise to the 1 ms run, and how often as many bodies fall.
THRUM_BENCHMARK(outcomes, sweep)
{
  constexpr std::array<double, 14> rates = {30, 38, 45, 52, 60, 75, 90, 100, 120, 144, 200, 240, 333, 500};
  constexpr std::array<double, 3> phases = {0.17, 0.5, 0.83};
  for (const std::string& name : support::response_scenes()) {
    if (name == "scaffold" && !include_slow_rows()) continue;
    const auto run = [&](double rate, double phase) {
      return support::outcomes_of(name,
                                  support::run_scene_motion(kScenes / (name + ".json"), {}, rate, phase));
    };
    const std::vector<support::Outcome> reference = run(support::kStepRates.back(), 1);
    std::vector<double> worst(reference.size(), 1.0);
    std::vector<std::string> worst_at(reference.size());
    for (const double rate : rates) {
      for (const double phase : phases) {
        const std::vector<support::Outcome> outcomes = run(rate, phase);
        const double unseen = 1e3 * 9.81 / (8 * rate * rate);  // of a hop, between two steps [mm]
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
          const double value = outcomes[i].value;
          const double expected = reference[i].value;
          double factor = std::max(value / expected, expected / (value + unseen));
          if (outcomes[i].name.find("that fall") != std::string::npos)
            factor = value == expected ? 1 : std::numeric_limits<double>::infinity();
          if (!(factor > worst[i])) continue;
          worst[i] = factor;
          worst_at[i] = fmt::format("{} at 1/{} s, first step {}", shown(value), rate, phase);
        }
      }
    }
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const bool judged =
          reference[i].name.rfind("rise", 0) == 0 || reference[i].name.find("that fall") != std::string::npos;
      report.row({.name = fmt::format("{}, {}: worst factor to 1 ms of 42 runs", name, reference[i].name),
                  .figure = worst[i],
                  .unit = "1",
                  .target = judged ? std::optional(1.5) : std::nullopt});
      report.note(fmt::format("1 ms: {}; {}", shown(reference[i].value), worst_at[i]));
    }
  }
}

}  // namespace thrum::bench
