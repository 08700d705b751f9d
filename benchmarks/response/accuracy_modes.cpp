// SPDX-License-Identifier: MIT
// Kicks on plates whose models have few modes, from 10 to 200, for restitutions from 0 to 1, against a
// coupled run with 400 modes: what a rule makes of the modes that are missing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "benchmarks/harness.h"
#include "benchmarks/response/coupled.h"
#include "benchmarks/response/score.h"
#include "tests/vibration/plate_model.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::bench {
namespace {

constexpr double kMinSpeed = 0.01;       // bodies that hardly move in the reference are not judged [m/s]
constexpr double kSilentKick = 0.001;    // what counts for a kick that a rule does not give [m/s]
constexpr double kReferenceStep = 5e-7;  // [s]
constexpr int kReferenceModes = 400;
constexpr int kCells = 64;
constexpr int kCases = 5;
constexpr int kBodies = 4;

struct NamedPlate {
  const char* name;
  vibration::PlateSize size;
};

const std::vector<NamedPlate>& plates()
{
  const auto plate = [](double a, double b, double thickness, double density, double young, double poisson,
                        double alpha, double beta) {
    return vibration::PlateSize{.a = a,
                                .b = b,
                                .h = thickness,
                                .density = density,
                                .young = young,
                                .poisson = poisson,
                                .modes = kReferenceModes,
                                .cells = kCells,
                                .alpha = alpha,
                                .beta = beta};
  };
  static const std::vector<NamedPlate> plates = {
      {"wood", plate(1.1, 0.7, 0.02, 700, 1.1e10, 0.25, 60, 2e-6)},
      {"steel", plate(0.8, 0.75, 0.006, 7850, 2e11, 0.29, 5, 3e-8)},
      {"aluminium", plate(1.3, 0.6, 0.012, 2700, 7e10, 0.33, 1.5, 2e-8)},
      {"glass", plate(0.9, 0.6, 0.008, 2600, 6.2e10, 0.2, 1, 1e-7)}};
  return plates;
}

struct Case {
  ContactScene scene;
  std::vector<double> reference;
};

// Contacts lie at vertices, where the shapes of the model are those of the plate.
Case make_case(const NamedPlate& plate, const model::ModalModel& model, double restitution,
               base::Random& random)
{
  Case one;
  std::vector<Index> vertices;
  while (vertices.size() < 1 + kBodies) {
    const auto v = static_cast<Index>(random.index(model.surface.vertices.size()));
    const Vec3& p = model.surface.vertices[static_cast<std::size_t>(v)];
    const bool inside =
        std::abs(p.x() / plate.size.a - 0.5) < 0.42 && std::abs(p.y() / plate.size.b - 0.5) < 0.42;
    if (inside && std::find(vertices.begin(), vertices.end(), v) == vertices.end()) vertices.push_back(v);
  }
  MatX rows(static_cast<Eigen::Index>(vertices.size()), model.frequencies.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const Vec3& p = model.surface.vertices[static_cast<std::size_t>(vertices[i])];
    if (i == 0) {
      one.scene.strike(p, std::pow(10, random.uniform(-0.5, 0.5)), random.uniform(1, 3), restitution);
    } else {
      one.scene.rest(p, random.uniform(0.05, 0.5), restitution);
    }
    rows.row(static_cast<Eigen::Index>(i)) = model.shapes.row(3 * Eigen::Index{vertices[i]} + 2);
  }
  CoupledDesc desc;
  desc.step = kReferenceStep;
  desc.modulus = hertz_modulus(model.materials.front(), model.materials.front());
  one.reference = coupled_speeds(model, rows, one.scene, desc);
  return one;
}

void add_ratios(vibration::ModalResponse& response, const Case& one, std::vector<double>& ratios)
{
  vibration::ModeState state = response.at_rest();
  std::vector<double> kicks(one.scene.contacts.size(), kSilentKick);
  for (const vibration::Kick& kick : response.respond(one.scene.input(), state).kicks)
    kicks[kick.contact] = std::max(kSilentKick, kick.speed);
  for (std::size_t i = 1; i < kicks.size(); ++i) {
    if (one.reference[i] > kMinSpeed) ratios.push_back(kicks[i] / one.reference[i]);
  }
}

}  // namespace

THRUM_BENCHMARK(accuracy, modes)
{
  struct Way {
    const char* name;
    vibration::KickRule rule;
    bool tail;
  };
  constexpr std::array<Way, 4> ways = {
      Way{"automatic", vibration::KickRule::automatic, true},
      {"exchange", vibration::KickRule::exchange, true},
      {"micro_collisions", vibration::KickRule::micro_collisions, true},
      {"micro_collisions without tail", vibration::KickRule::micro_collisions, false}};
  base::Random random(31);
  // By way, number of modes, restitution.
  std::map<std::string, std::map<int, std::map<double, std::vector<double>>>> all;
  for (const NamedPlate& plate : plates()) {
    const auto model = vibration::plate_model(plate.size);
    for (const double e : {0.0, 0.15, 0.5, 0.8, 1.0}) {
      std::vector<Case> cases;
      for (int i = 0; i < kCases; ++i) cases.push_back(make_case(plate, *model, e, random));
      for (const Way& way : ways) {
        for (const int modes : {10, 20, 60, 100, 200}) {
          vibration::ResponseSettings settings;
          settings.rule = way.rule;
          settings.window = CoupledDesc().window;
          settings.min_kick = 1e-4;
          settings.micro.tail_modes = way.tail;
          vibration::ModalResponse response(lowest(*model, modes), settings);
          for (const Case& one : cases) add_ratios(response, one, all[way.name][modes][e]);
        }
      }
    }
  }
  for (const auto& [way, by_modes] : all) {
    double worst = 0;
    for (const auto& [modes, by_restitution] : by_modes) {
      std::string line = fmt::format("{}, {} modes (bias/median factor/worst tenth):", way, modes);
      for (const auto& [e, ratios] : by_restitution) {
        const Score score = score_of(ratios);
        line += fmt::format("  e {}: {:.2f}/{:.2f}/{:.1f}", e, score.bias, score.median, score.percentile_90);
        worst = std::max(worst, score.median);
      }
      report.note(line);
    }
    report.row({.name = fmt::format("{}: median factor, worst of 10 to 200 modes and e 0 to 1", way),
                .figure = worst,
                .unit = "x",
                .target = way == "automatic" ? std::optional(1.5) : std::nullopt});
  }
}

}  // namespace thrum::bench
