// SPDX-License-Identifier: MIT
// Kicks of micro_collisions on plates of wood, steel, glass and ceramic, where impacts are short and plates
// ring long, against two coupled runs: one with the same modes, which shows the error of the method, and one
// with four times as many, which adds that of the modes that are missing. How much that is for a coupled run
// itself is a row as well.
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

constexpr double kMinSpeed = 0.005;    // bodies that hardly move in the reference are not judged [m/s]
constexpr double kSilentKick = 0.001;  // what counts for a kick that a rule does not give [m/s]
constexpr int kReferenceModes = 800;
constexpr int kCells = 72;

constexpr int kModes = 200;
constexpr double kReferenceStep = 2.5e-7;  // [s]

struct PlateMaterial {
  const char* name;
  vibration::PlateSize plate;
  double lightest, heaviest;  ///< striker [kg]
};

std::vector<PlateMaterial> plates()
{
  const auto plate = [](double thickness, double density, double young, double poisson, double alpha,
                        double beta) {
    return vibration::PlateSize{.a = 1.2,
                                .b = 0.9,
                                .h = thickness,
                                .density = density,
                                .young = young,
                                .poisson = poisson,
                                .modes = kReferenceModes,
                                .cells = kCells,
                                .alpha = alpha,
                                .beta = beta};
  };
  return {{"wood", plate(0.03, 750, 1.1e10, 0.25, 60, 2e-6), 0.2, 2},
          {"steel", plate(0.01, 7850, 2e11, 0.29, 5, 3e-8), 0.2, 2},
          {"glass", plate(0.01, 2600, 6.2e10, 0.2, 1, 1e-7), 0.1, 1},
          {"ceramic", plate(0.012, 2700, 7.4e10, 0.19, 6, 1e-7), 0.1, 1}};
}

// Contacts lie at vertices, where the shapes of the model are those of the plate.
struct PlateCase {
  ContactScene scene;
  std::vector<double> reference;   ///< with all modes
  std::vector<double> same_modes;  ///< with the modes of the rule
};

PlateCase make_case(const PlateMaterial& material, const model::ModalModel& model, double restitution,
                    base::Random& random, std::vector<double>& changes)
{
  PlateCase one;
  std::vector<Index> vertices;
  while (vertices.size() < 9) {
    const auto v = static_cast<Index>(random.index(model.surface.vertices.size()));
    const Vec3& p = model.surface.vertices[static_cast<std::size_t>(v)];
    const bool inside = p.x() > 0.1 && p.x() < 1.1 && p.y() > 0.1 && p.y() < 0.8;
    if (inside && std::find(vertices.begin(), vertices.end(), v) == vertices.end()) vertices.push_back(v);
  }
  MatX rows(static_cast<Eigen::Index>(vertices.size()), model.frequencies.size());
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const Vec3& p = model.surface.vertices[static_cast<std::size_t>(vertices[i])];
    if (i == 0) {
      const double mass =
          material.lightest * std::pow(material.heaviest / material.lightest, random.uniform());
      one.scene.strike(p, mass, random.uniform(1, 2), restitution);
    } else {
      one.scene.rest(p, random.uniform(0.05, 0.8), restitution);
    }
    rows.row(static_cast<Eigen::Index>(i)) = model.shapes.row(3 * Eigen::Index{vertices[i]} + 2);
  }
  CoupledDesc desc;
  desc.step = kReferenceStep;
  desc.modulus = hertz_modulus(model.materials.front(), model.materials.front());
  one.reference = coupled_speeds(model, rows, one.scene, desc);
  const auto few = lowest(model, kModes);
  one.same_modes = coupled_speeds(*few, rows.leftCols(kModes), one.scene, desc);
  CoupledDesc coarse = desc;
  coarse.step *= 2;
  const std::vector<double> coarser = coupled_speeds(*few, rows.leftCols(kModes), one.scene, coarse);
  for (std::size_t i = 1; i < coarser.size(); ++i) {
    if (one.same_modes[i] > kMinSpeed) changes.push_back(std::abs(coarser[i] / one.same_modes[i] - 1));
  }
  return one;
}

std::vector<double> kicks_of(vibration::ModalResponse& response, const ContactScene& scene)
{
  vibration::ModeState state = response.at_rest();
  std::vector<double> kicks(scene.contacts.size(), kSilentKick);
  for (const vibration::Kick& kick : response.respond(scene.input(), state).kicks)
    kicks[kick.contact] = std::max(kSilentKick, kick.speed);
  return kicks;
}

void add_ratios(const std::vector<double>& kicks, const std::vector<double>& reference,
                std::vector<double>& ratios)
{
  for (std::size_t i = 1; i < kicks.size(); ++i) {
    if (reference[i] > kMinSpeed) ratios.push_back(kicks[i] / reference[i]);
  }
}

void add_rows(Report& report, const std::string& name, const std::vector<double>& ratios, bool judged)
{
  const Score score = score_of(ratios);
  report.row({.name = fmt::format("{}: bias", name), .figure = score.bias, .unit = "x"});
  report.row({.name = fmt::format("{}: median factor", name),
              .figure = score.median,
              .unit = "x",
              .target = judged ? std::optional(1.05) : std::nullopt});
  report.row({.name = fmt::format("{}: worst tenth", name),
              .figure = score.percentile_90,
              .unit = "x",
              .target = judged ? std::optional(1.3) : std::nullopt});
}

}  // namespace

THRUM_BENCHMARK(accuracy, plates)
{
  constexpr int kCases = 6;
  base::Random random(23);
  std::vector<double> changes;
  std::map<std::string, std::vector<double>> all;
  for (const PlateMaterial& material : plates()) {
    const auto model = vibration::plate_model(material.plate);
    std::vector<PlateCase> cases;
    for (int i = 0; i < kCases; ++i) cases.push_back(make_case(material, *model, 0.15, random, changes));
    const auto few = lowest(*model, kModes);
    vibration::ResponseSettings settings;
    settings.rule = vibration::KickRule::micro_collisions;
    settings.window = CoupledDesc().window;
    settings.min_kick = 1e-4;
    vibration::ModalResponse with_tail(few, settings);
    settings.micro.tail_modes = false;  // the reference has no faster modes either
    vibration::ModalResponse without_tail(few, settings);
    std::vector<double> method, missing, truncated;
    for (const PlateCase& one : cases) {
      add_ratios(kicks_of(without_tail, one.scene), one.same_modes, method);
      add_ratios(kicks_of(with_tail, one.scene), one.reference, missing);
      add_ratios(one.same_modes, one.reference, truncated);
    }
    add_rows(report, fmt::format("plate of {}, micro_collisions", material.name), method, true);
    add_rows(report, fmt::format("plate of {}, micro_collisions, reference of 800 modes", material.name),
             missing, false);
    add_rows(report, fmt::format("plate of {}, coupled run of 200 modes, reference of 800", material.name),
             truncated, false);
    for (const auto& [name, ratios] :
         {std::pair("micro_collisions", &method), {"micro_collisions, reference of 800 modes", &missing}})
      all[name].insert(all[name].end(), ratios->begin(), ratios->end());
    report.note(fmt::format("{}: {} modes, to {:.0f} Hz; {} to {:.0f} Hz", material.name, kModes,
                            model->frequencies[kModes - 1], kReferenceModes,
                            model->frequencies[kReferenceModes - 1]));
  }
  for (const auto& [name, ratios] : all)
    add_rows(report, "all four plates, " + name, ratios, name == "micro_collisions");
  std::sort(changes.begin(), changes.end());
  report.row({.name = "plates: reference, change when its step is doubled (nine tenths of all bodies)",
              .figure = 100 * changes[changes.size() * 9 / 10],
              .unit = "%",
              .target = 5.0});
}

}  // namespace thrum::bench
