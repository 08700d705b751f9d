// SPDX-License-Identifier: MIT
// Tables 1 and 3 of [Coevoet20]: one response of each of its bodies, beside direct_response.h. The paper's
// figures are of a 2.4 GHz i9-9980HK.
//
// The two are measured in turn, a few milliseconds each, and the figures are medians over all rounds: other
// programs slow both alike.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "benchmarks/harness.h"
#include "benchmarks/response/bodies.h"
#include "benchmarks/response/direct_response.h"
#include "thrum/base/error.h"
#include "thrum/vibration/attenuation.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::bench {
namespace {

struct Example {
  const char* name;
  mesh::TriangleMesh mesh;
  double filter_step;  ///< [s]
  std::size_t contacts;
  double paper;  ///< [ms]
  double target_ratio;
};

std::vector<Example> examples()
{
  shapes::TableDesc table;
  table.edge_length = 0.07;
  shapes::ScaffoldDesc scaffold;
  scaffold.lower_deck_height = 0.7;
  scaffold.edge_length = 0.086;
  shapes::FridgeDesc fridge;
  fridge.edge_length = 0.215;
  return {{"dinner, table", shapes::make_table(table), 4.9e-4, 41, 3.8, 50},
          {"wrench, roof", grid_slab({6, 4, 0.2}, 27, 17), 7.0e-3, 7, 0.8, 50},
          {"scaffold", shapes::make_scaffold(scaffold), 3.0e-3, 58, 27.5, 200},
          {"truck, ground", grid_slab({40, 40, 2}, 27, 27), 3.1e-4, 40, 5.6, 50},
          {"rockfall, cliff", grid_slab({30, 30, 8}, 59, 59), 4.0e-3, 24, 18.1, 200},
          {"washing machine, floor", grid_slab({4, 4, 0.2}, 12, 12), 1.7e-4, 26, 1.1, 50},
          {"washing machine, fridge", shapes::make_fridge(fridge), 8.6e-5, 6, 0.2, 50}};
}

ContactScene scene_on(const mesh::TriangleMesh& mesh, std::size_t contacts)
{
  base::Random random(20);
  ContactScene scene;
  const std::vector<Vec3> places = points_on_top(mesh, contacts + 1, random);
  scene.strike(places[0], 5, 2, 0.15);
  for (std::size_t i = 1; i < places.size(); ++i) scene.rest(places[i], 0.5, 0.15);
  return scene;
}

constexpr double kContactJitter = 1e-6;  // of resting contacts from step to step [m]
constexpr int kRounds = 9;

void report_in_turn(Report& report, Row row, const std::vector<double>& ours,
                    const std::vector<double>& direct)
{
  row.baseline = "direct";
  report_paired_times(report, row, {ours, direct});
}

struct Table1Case {
  const Example& example;
  std::shared_ptr<const model::ModalModel> model;
  ContactScene scene;
  vibration::ModalResponse response;
  vibration::ModeState state;
  DirectModalResponse direct;

  explicit Table1Case(const Example& e)
      : example(e),
        model(smooth_modes(e.name, e.mesh, 20, e.filter_step)),
        scene(scene_on(model->surface, e.contacts)),
        response(model, vibration::coevoet2020()),
        state(response.at_rest()),
        direct(*model)
  {
  }

  // The impact comes somewhere else each time; resting contacts tremble.
  void move(const Vec3& strike)
  {
    scene.contacts[0].position = strike;
    jitter_ = -jitter_;
    for (std::size_t i = 1; i < scene.contacts.size(); ++i) scene.contacts[i].position.x() += jitter_;
  }
  double seconds_per_impact(std::span<const Vec3> strikes)
  {
    return cpu_seconds_once([&] {
             for (const Vec3& strike : strikes) {
               move(strike);
               do_not_optimize(response.respond(scene.input(), state).kicks.size());
             }
           }) /
           static_cast<double>(strikes.size());
  }
  double direct_seconds_per_impact(std::span<const Vec3> strikes)
  {
    return cpu_seconds_once([&] {
             for (const Vec3& strike : strikes) {
               move(strike);
               do_not_optimize(direct.respond(scene.input())[1]);
             }
           }) /
           static_cast<double>(strikes.size());
  }
  // The first impact of responses that were just made: every contact is searched.
  double seconds_of_first_impact(int count)
  {
    std::vector<std::unique_ptr<vibration::ModalResponse>> fresh;
    for (int i = 0; i < count; ++i)
      fresh.push_back(std::make_unique<vibration::ModalResponse>(model, vibration::coevoet2020()));
    return cpu_seconds_once([&] {
             for (const auto& one : fresh) {
               vibration::ModeState rest = one->at_rest();
               do_not_optimize(one->respond(scene.input(), rest).kicks.size());
             }
           }) /
           count;
  }

 private:
  double jitter_ = kContactJitter;
};

// Largest difference of the two ways relative to the largest speed: places are rounded by one of them.
double largest_difference(Table1Case& one)
{
  std::vector<double> ours(one.scene.contacts.size(), 0);
  for (const vibration::Kick& kick : one.response.respond(one.scene.input(), one.state).kicks)
    ours[kick.contact] = kick.speed;
  const std::vector<double>& direct = one.direct.respond(one.scene.input());
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 1; i < ours.size(); ++i) {
    largest = std::max(largest, direct[i]);
    if (ours[i] > 0) difference = std::max(difference, std::abs(ours[i] - direct[i]));
  }
  return difference / largest;
}

THRUM_BENCHMARK(response, table_1)
{
  // Of a round. With 8 and 256 places the data of neither were in the caches yet.
  constexpr std::size_t kImpacts = 1024;
  constexpr std::size_t kDirectImpacts = 32;
  constexpr std::size_t kKnownPlaces = 256;
  constexpr double kMaxDifference = 0.01;
  for (const Example& example : examples()) {
    Table1Case one(example);
    const double difference = largest_difference(one);
    if (!(difference < kMaxDifference))
      throw Error(
          fmt::format("{}: the two ways differ by {:.2g} of the largest kick.", example.name, difference));
    base::Random random(3);
    std::vector<Vec3> known = points_on_top(one.model->surface, kKnownPlaces, random);
    for (std::size_t i = 0; known.size() < kImpacts; ++i) known.push_back(Vec3(known[i]));
    const std::vector<Vec3> fresh = points_on_top(one.model->surface, kRounds * kImpacts, random);
    (void)one.seconds_per_impact(known);
    std::vector<double> again, elsewhere, first, direct;
    std::uint64_t searches = one.response.map().searches();
    std::uint64_t known_searches = 0;
    for (std::size_t round = 0; round < kRounds; ++round) {
      again.push_back(one.seconds_per_impact(known));
      known_searches += one.response.map().searches() - searches;
      elsewhere.push_back(one.seconds_per_impact(std::span(fresh).subspan(round * kImpacts, kImpacts)));
      searches = one.response.map().searches();
      first.push_back(one.seconds_of_first_impact(16));
      direct.push_back(
          one.direct_seconds_per_impact(std::span(fresh).subspan(round * kDirectImpacts, kDirectImpacts)));
    }
    const std::string name = fmt::format("{}: {} vertices, {} contacts", example.name,
                                         one.model->vertex_count(), example.contacts);
    report_in_turn(report,
                   {.name = fmt::format("{} (paper {} ms)", name, example.paper),
                    .target = 0.1,
                    .target_ratio = example.target_ratio},
                   again, direct);
    report_in_turn(report,
                   {.name = fmt::format("{}, struck where never before", example.name),
                    .target = 0.1,
                    .target_ratio = example.target_ratio},
                   elsewhere, direct);
    report_in_turn(report, {.name = fmt::format("{}, very first impact", example.name), .target = 0.1}, first,
                   direct);
    report.note(
        fmt::format("searches in {} impacts at known places: {}, at new ones: {}; kicks differ by {:.1g}",
                    kRounds * known.size(), known_searches,
                    searches - one.scene.contacts.size() - kKnownPlaces - known_searches, difference));
  }
}

THRUM_BENCHMARK(response, table_3)
{
  constexpr int kFirstBounces = 3;  // of a round
  const std::vector<Example> all = examples();
  for (const std::size_t which : {std::size_t{2}, std::size_t{3}}) {
    const bool truck = which == 3;
    const auto model = smooth_modes(all[which].name, all[which].mesh, 20, all[which].filter_step);
    ContactScene scene = scene_on(model->surface, all[which].contacts);
    vibration::ResponseSettings settings = vibration::coevoet2020();
    settings.paper_filter = false;
    vibration::AttenuationSettings attenuation;
    attenuation.average = truck;
    // Factoring and the motion of the vertices are done when the scene is made.
    const auto make = [&] {
      auto response = std::make_unique<vibration::AttenuatedResponse>(model, settings, attenuation);
      (void)response->self_displacement(scene.step);
      const std::vector<Vec3> none;
      (void)response->geodesics().distances(none, none);
      return response;
    };
    auto response = make();
    DirectWaveResponse direct(*model, {attenuation.C, attenuation.beta, attenuation.min_distance, truck});
    const VecX& self = response->self_displacement(scene.step);
    direct.set_self_displacement(self, self.mean());
    base::Random random(4);
    const std::vector<Vec3> places = points_on_top(model->surface, 2 * kRounds + 1, random);
    const auto once = [&](const auto& respond) {
      return cpu_seconds_once([&] { do_not_optimize(respond()); });
    };
    const auto ours_once = [&](vibration::AttenuatedResponse& r) {
      return once([&] { return r.respond(scene.input()).kicks.size(); });
    };
    const auto direct_once = [&] {
      return once([&] { return direct.respond(scene.input())[1]; });
    };
    std::vector<double> first, later, same, direct_first, direct_later, direct_same;
    for (std::size_t round = 0; round < kRounds; ++round) {
      scene.contacts[0].position = places[2 * round];
      double sum = 0;
      for (int i = 0; i < kFirstBounces; ++i) {
        response = make();
        sum += ours_once(*response);
      }
      first.push_back(sum / kFirstBounces);
      direct.forget_fields();
      direct_first.push_back(direct_once());
      // The resting contacts are known, the struck place is not.
      scene.contacts[0].position = places[2 * round + 1];
      later.push_back(ours_once(*response));
      direct_later.push_back(direct_once());
      // And the same place once more.
      constexpr int kTimes = 20;
      sum = 0;
      for (int i = 0; i < kTimes; ++i) sum += ours_once(*response);
      same.push_back(sum / kTimes);
      direct_same.push_back(direct_once());
    }
    const char* name = all[which].name;
    report_in_turn(report,
                   {.name = fmt::format("{}, waves, first bounce (paper {} ms)", name, truck ? 6.9 : 30.6),
                    .target = truck ? std::optional(1.0) : std::nullopt},
                   first, direct_first);
    report_in_turn(
        report,
        {.name = fmt::format("{}, waves, later bounce elsewhere (paper {} ms)", name, truck ? 5.2 : 30.6)},
        later, direct_later);
    report_in_turn(report,
                   {.name = fmt::format("{}, waves, later bounce at the same place", name),
                    .target = truck ? 0.05 : 0.1},
                   same, direct_same);
    report.note(
        "geodesic fields solved: ours one for each new struck place; direct one for each resting contact at "
        "the first bounce, none later");
  }
}

THRUM_BENCHMARK(response, rules)
{
  shapes::TableDesc table;
  table.edge_length = 0.07;
  const auto model = smooth_modes("table", shapes::make_table(table), 50, 4.9e-4 / 2);
  ContactScene scene = scene_on(model->surface, 40);
  for (const auto& [rule, name, target] :
       {std::tuple(vibration::KickRule::peak_velocity, "peak_velocity", 0.1),
        std::tuple(vibration::KickRule::exchange, "exchange", 0.1),
        std::tuple(vibration::KickRule::micro_collisions, "micro_collisions", 0.5)}) {
    for (const double window : {0.01, 0.02}) {
      vibration::ResponseSettings settings;
      settings.rule = rule;
      settings.window = window;
      settings.vibration_after_step = vibration::VibrationAfterStep::reset;
      vibration::ModalResponse response(model, settings);
      vibration::ModeState state = response.at_rest();
      const double ours =
          min_cpu_seconds([&] { do_not_optimize(response.respond(scene.input(), state).kicks.size()); }, 50);
      report.row({.name = fmt::format("{}: 50 modes, 41 contacts, window {} ms", name, window * 1e3),
                  .figure = ours * 1e3,
                  .unit = "ms",
                  .target = window == 0.01 ? std::optional(target) : std::nullopt,
                  .target_ratio = {}});
    }
  }
}

// What the default takes, against the budget that it was chosen for.
THRUM_BENCHMARK(response, default_rule)
{
  shapes::TableDesc table;
  table.edge_length = 0.07;
  const mesh::TriangleMesh mesh = shapes::make_table(table);
  for (const int modes : {20, 50, 200}) {
    const auto model = smooth_modes("table", mesh, modes, 4.9e-4 / 2);
    const ContactScene scene = scene_on(model->surface, 40);
    vibration::ResponseSettings settings;
    settings.vibration_after_step = vibration::VibrationAfterStep::reset;
    vibration::ModalResponse response(model, settings);
    vibration::ModeState state = response.at_rest();
    const double ours =
        min_cpu_seconds([&] { do_not_optimize(response.respond(scene.input(), state).kicks.size()); }, 50);
    report.row({.name = fmt::format("automatic: {} modes, 41 contacts, usual window and budget", modes),
                .figure = ours * 1e3,
                .unit = "ms",
                .target = settings.time_budget * 1e3,
                .target_ratio = {}});
  }
}

}  // namespace
}  // namespace thrum::bench
