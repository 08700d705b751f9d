// SPDX-License-Identifier: MIT
// How far the kicks of each rule are from a fully coupled run, on a table, a roof and a scaffold struck at
// five places.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "benchmarks/harness.h"
#include "benchmarks/response/coupled.h"
#include "benchmarks/response/score.h"
#include "thrum/base/error.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/elastic/supports.h"
#include "thrum/media/plot.h"
#include "thrum/tets/mesh_stuffing.h"
#include "thrum/tets/structured_tets.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::bench {
namespace {

constexpr double kMinKick = 1e-4;  // below any velocity that is compared [m/s]

constexpr Index kModes = 200;

struct Body {
  std::string name;
  std::shared_ptr<const model::ModalModel> model;
};

std::shared_ptr<const model::ModalModel> modes_of(const std::string& name, const mesh::TetrahedralMesh& mesh,
                                                  const model::Material& material,
                                                  const std::vector<std::string>& clamps)
{
  elastic::ModalAnalysisDesc desc;
  desc.name = name;
  desc.materials = {material};
  for (const std::string& clamp : clamps)
    desc.supports.push_back({elastic::parse_selection(clamp), {true, true, true}});
  desc.count = kModes;
  desc.estimate_errors = false;
  return std::make_shared<const model::ModalModel>(elastic::analyse_modes_cached(mesh, desc).model);
}

std::vector<Body> bodies()
{
  const model::Damping wood{model::DampingKind::rayleigh, 60, 2e-6, 0, {}};
  const model::Material table{"table", 770, 1.1e9, 0.3, wood, 0};
  const model::Material roof{"roof", 770, 1.1e9, 0.3, wood, 0};
  const model::Material scaffold{
      "scaffold", 100, 1.0e10, 0.3, {model::DampingKind::rayleigh, 10, 1e-7, 0, {}}, 0};
  shapes::TableDesc desc;
  desc.top_thickness = 0.05;
  desc.leg_thickness = 0.08;
  desc.apron_height = 0;
  desc.edge_length = 0.1;
  shapes::ScaffoldDesc frame;
  frame.pipe_radius = 0.04;
  frame.plank_thickness = 0.06;
  frame.edge_length = 0.08;
  const auto fill = [](const mesh::TriangleMesh& mesh, double spacing) {
    return tets::tetrahedralise(distance::MeshDistance(mesh), {.spacing = spacing, .report = false})
        .stuffing.mesh;
  };
  return {{"table", modes_of("table", fill(shapes::make_table(desc), 0.04), table, {"z<0.01"})},
          {"roof",
           modes_of("roof", tets::tetrahedralise_box({4, 3, 0.12}, {24, 18, 1}), roof, {"x<-1.9", "x>1.9"})},
          {"scaffold", modes_of("scaffold", fill(shapes::make_scaffold(frame), 0.06), scaffold, {"z<0.02"})}};
}

struct Case {
  const Body* body;
  ContactScene scene;
  std::vector<double> reference;
};

MatX rows_of(const model::ModalModel& model, const ContactScene& scene)
{
  MatX rows(static_cast<Eigen::Index>(scene.contacts.size()), model.frequencies.size());
  for (std::size_t i = 0; i < scene.contacts.size(); ++i)
    rows.row(static_cast<Eigen::Index>(i)) =
        scene.contacts[i].normal.transpose() * shapes_at(model, scene.contacts[i].position);
  return rows;
}

// Kick against reference at h = 1/100, one colour a rule, with the line where both are the same and those of
// a factor of two.
void draw_scatter(const std::vector<media::PlotSeries>& rules, const std::filesystem::path& file)
{
  constexpr media::ValueRange kShown{5e-3, 2};
  const auto line = [&](const char* name, double factor, double width, float opacity) {
    return media::PlotSeries{.name = name,
                             .x = {kShown.low, kShown.high},
                             .y = {factor * kShown.low, factor * kShown.high},
                             .colour = Colour{0.3F, 0.3F, 0.3F},
                             .dot_radius = 0,
                             .line_width = width,
                             .opacity = opacity};
  };
  std::vector<media::PlotSeries> series{line("equal", 1, 2, 1), line("a factor of two", 2, 1, 0.6F),
                                        line("", 0.5, 1, 0.6F)};
  series.insert(series.end(), rules.begin(), rules.end());
  const media::PlotAxis reference{"coupled reference [m/s]", media::AxisScale::logarithmic, kShown};
  const media::PlotAxis kick{"kick [m/s]", media::AxisScale::logarithmic, media::ValueRange{1e-3, 5}};
  media::write_png(file, media::draw_plot(series, {.width = 1000,
                                                   .height = 820,
                                                   .title = "Kick against reference, h = 1/100 s",
                                                   .x = reference,
                                                   .y = kick}));
}

THRUM_BENCHMARK(accuracy, kicks)
{
  constexpr double kMinSpeed = 0.005;    // bodies that hardly move in the reference are not judged [m/s]
  constexpr double kSilentKick = 0.001;  // what counts for a kick that a rule does not give [m/s]
  const std::vector<Body> all = bodies();
  std::vector<Case> cases;
  double change = 0;
  base::Random random(17);
  for (const Body& body : all) {
    const auto& material = body.model->materials.front();
    CoupledDesc desc;
    desc.step = 5e-7;
    desc.modulus = hertz_modulus(material, material);
    std::vector<double> changes;
    for (int place = 0; place < 5; ++place) {
      Case one{&body, {}, {}};
      const std::vector<Vec3> places = points_on_top(body.model->surface, 9, random);
      one.scene.strike(places[0], place % 2 == 0 ? 5 : 1, random.uniform(1, 2), 0.15);
      for (std::size_t i = 1; i < places.size(); ++i)
        one.scene.rest(places[i], random.uniform(0.05, 0.8), 0.15);
      const MatX rows = rows_of(*body.model, one.scene);
      one.reference = coupled_speeds(*body.model, rows, one.scene, desc);
      CoupledDesc fine = desc;
      fine.step /= 2;
      const std::vector<double> finer = coupled_speeds(*body.model, rows, one.scene, fine);
      for (std::size_t i = 1; i < finer.size(); ++i) {
        if (one.reference[i] > kMinSpeed) changes.push_back(std::abs(finer[i] / one.reference[i] - 1));
      }
      cases.push_back(std::move(one));
    }
    std::sort(changes.begin(), changes.end());
    if (!changes.empty()) change = std::max(change, changes[changes.size() * 9 / 10]);
    report.note(fmt::format("{}: {} surface vertices, modes from {:.1f} to {:.0f} Hz, {:.0f} kg", body.name,
                            body.model->vertex_count(), body.model->frequencies[0],
                            body.model->frequencies[kModes - 1], body.model->mass));
  }
  report.row({.name = "reference, change when its step is halved (nine tenths of all bodies)",
              .figure = 100 * change,
              .unit = "%",
              .target = 5.0,
              .target_ratio = {}});

  struct Rule {
    const char* name;
    vibration::ResponseSettings settings;
    Index modes;
    double max_bias, median, worst;
    bool drawn = true;
  };
  std::vector<Rule> rules;
  rules.push_back({"coevoet2020", vibration::coevoet2020(), 20, 0, 0, 0});
  const auto add = [&](const char* name, vibration::KickRule rule, Index modes, double bias, double median,
                       double worst) {
    vibration::ResponseSettings settings;
    settings.rule = rule;
    settings.min_kick = kMinKick;
    settings.window = CoupledDesc().window;
    settings.micro.tail_modes = modes < kModes;  // the reference has no faster modes either
    rules.push_back({name, settings, modes, bias, median, worst});
  };
  add("peak_velocity, 50 modes", vibration::KickRule::peak_velocity, 50, 0, 0, 0);
  add("exchange, 50 modes", vibration::KickRule::exchange, 50, 0, 2, 3.5);
  add("micro_collisions, 50 modes", vibration::KickRule::micro_collisions, 50, 1.2, 1.3, 2);
  add("micro_collisions, 50 modes, substep 20 us", vibration::KickRule::micro_collisions, 50, 1.2, 1.3, 2);
  rules.back().settings.micro.step = 2e-5;
  rules.back().drawn = false;
  add("micro_collisions, 200 modes", vibration::KickRule::micro_collisions, kModes, 1.1, 1.05, 1.3);
  rules.back().drawn = false;
  const std::filesystem::path table = output_file("accuracy.csv");
  std::ofstream scatter(table);
  scatter << "rule,h,body,reference,kick\n";
  std::vector<media::PlotSeries> dots;
  for (const Rule& rule : rules) {
    double lowest_bias = 1e300;
    double highest_bias = 0;
    for (const double h : {1.0 / 30, 1.0 / 60, 1.0 / 100, 1.0 / 1000}) {
      std::vector<double> ratios;
      const bool drawn = h == 1.0 / 100 && rule.drawn;
      if (drawn) dots.push_back({.name = rule.name, .dot_radius = 4, .opacity = 0.75F});
      for (const Case& one : cases) {
        vibration::ModalResponse response(lowest(*one.body->model, rule.modes), rule.settings);
        vibration::ModeState state = response.at_rest();
        ContactScene scene = one.scene;
        scene.step = h;
        const vibration::ResponseResult result = response.respond(scene.input(), state);
        std::vector<double> kicks(scene.contacts.size(), kSilentKick);
        for (const vibration::Kick& kick : result.kicks)
          kicks[kick.contact] = std::max(kSilentKick, kick.speed);
        for (std::size_t i = 1; i < kicks.size(); ++i) {
          if (one.reference[i] < kMinSpeed) continue;
          ratios.push_back(kicks[i] / one.reference[i]);
          if (drawn) {
            dots.back().x.push_back(one.reference[i]);
            dots.back().y.push_back(kicks[i]);
          }
          scatter << fmt::format("{},{:.4g},{},{:.5g},{:.5g}\n", rule.name, h, one.body->name,
                                 one.reference[i], kicks[i]);
        }
      }
      const Score score = score_of(ratios);
      lowest_bias = std::min(lowest_bias, score.bias);
      highest_bias = std::max(highest_bias, score.bias);
      const auto row = [&](const char* what, double figure, double target) {
        report.row({.name = fmt::format("{}, h = 1/{:.0f}: {}", rule.name, 1 / h, what),
                    .figure = figure,
                    .unit = "x",
                    .target = target > 0 ? std::optional(target) : std::nullopt,
                    .target_ratio = {}});
      };
      row("bias", score.bias, 0);
      if (rule.max_bias > 0) row("bias, or its inverse", std::max(score.bias, 1 / score.bias), rule.max_bias);
      row("median factor", score.median, rule.median);
      row("worst tenth", score.percentile_90, rule.worst);
      if (h == 1.0 / 100) report.note(fmt::format("{} resting bodies judged", ratios.size()));
    }
    report.row({.name = fmt::format("{}: change of the bias over all h", rule.name),
                .figure = 100 * (highest_bias / lowest_bias - 1),
                .unit = "%",
                .target = rule.median > 0 ? std::optional(10.0) : std::nullopt,
                .target_ratio = {}});
  }
  if (!scatter.flush()) throw Error(fmt::format("{}: cannot be written", table.string()));
  const std::filesystem::path picture = output_file("accuracy.png");
  draw_scatter(dots, picture);
  report.note(
      fmt::format("all pairs in {}, those of h = 1/100 drawn in {}", table.string(), picture.string()));
}

}  // namespace
}  // namespace thrum::bench
