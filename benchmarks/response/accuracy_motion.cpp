// SPDX-License-Identifier: MIT
// Running worlds against a coupled run of whole bodies (coupled_bodies.h): boxes that stand on four corners
// each, with friction, on a plate held along one edge that a ball strikes; and boxes on a ringing board that
// stands on that plate, which the blow reaches through the board. Compared is how high each body rises, as
// the speed that it takes, sqrt(2 g height), how far it slides, and when it starts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "benchmarks/harness.h"
#include "benchmarks/response/coupled_bodies.h"
#include "thrum/base/error.h"
#include "thrum/scene/build_world.h"

namespace thrum::bench {
namespace {

constexpr double kGravity = 9.81;
constexpr double kFall = 0.25;      // before the ball arrives [s]
constexpr double kFollowed = 0.25;  // after it [s]
constexpr double kMinSpeed = 0.02;  // bodies that hardly move in the reference are not judged [m/s]

const model::Material kWood{"wood", 770, 1.1e9, 0.3, {model::DampingKind::rayleigh, 60, 2e-6, 0, {}}, 0};

struct Part {
  std::string name;
  Vec3 half = Vec3::Zero();  ///< a ball has its radius in x [m]
  double mass = 0;           ///< [kg]
  double x = 0, y = 0;       ///< [m]
  std::string on;            ///< what it stands on
  bool rings = false;
};

/// The plate is the first part, the ball the last.
struct MotionCase {
  std::vector<Part> parts;
  std::size_t passed_on_from = 0;  ///< parts from here to the ball stand on the board; 0: there is none
};

constexpr double kBallRadius = 0.05;
const Vec3 kPlateHalf(0.8, 0.4, 0.025);

MotionCase boxes_on_plate(base::Random& random)
{
  MotionCase one;
  one.parts.push_back({"plate", kPlateHalf, 0, 0, 0, "", true});
  const std::size_t struck = random.index(8);
  Part ball{"ball", Vec3(kBallRadius, 0, 0), random.uniform(1, 3), 0, 0, "plate"};
  for (std::size_t cell = 0; cell < 8; ++cell) {
    const double x = -0.51 + 0.34 * static_cast<double>(cell % 4) + random.uniform(-0.05, 0.05);
    const double y = (cell < 4 ? -0.2 : 0.2) + random.uniform(-0.05, 0.05);
    if (cell == struck) {
      ball.x = x;
      ball.y = y;
      continue;
    }
    const Vec3 half(random.uniform(0.03, 0.06), random.uniform(0.03, 0.06), random.uniform(0.02, 0.04));
    one.parts.push_back({fmt::format("box{}", cell), half, random.uniform(0.1, 0.8), x, y, "plate"});
  }
  one.parts.push_back(ball);
  return one;
}

MotionCase boxes_on_board(base::Random& random)
{
  MotionCase one;
  one.parts.push_back({"plate", kPlateHalf, 0, 0, 0, "", true});
  const double x = random.uniform(0.2, 0.4);
  const Vec3 half(0.22, 0.18, 0.015);
  one.parts.push_back({"board", half, 8 * half.prod() * kWood.density, x, 0, "plate", true});
  one.passed_on_from = one.parts.size();
  for (const double side : {-1.0, 0.0, 1.0}) {
    one.parts.push_back({fmt::format("box{}", one.parts.size()),
                         {random.uniform(0.03, 0.05), random.uniform(0.03, 0.05), 0.03},
                         random.uniform(0.1, 0.4),
                         x + 0.14 * side,
                         random.uniform(-0.1, 0.1),
                         "board"});
  }
  one.parts.push_back({"ball", Vec3(kBallRadius, 0, 0), random.uniform(1, 3), random.uniform(-0.5, -0.2),
                       random.uniform(-0.2, 0.2), "plate"});
  return one;
}

const Part& part_named(const MotionCase& one, const std::string& name)
{
  return *std::find_if(one.parts.begin(), one.parts.end(), [&](const Part& p) { return p.name == name; });
}

double height_of(const MotionCase& one, const Part& part)
{
  if (part.on.empty()) return 0;
  const Part& below = part_named(one, part.on);
  const double half = part.name == "ball" ? kBallRadius : part.half.z();
  return height_of(one, below) + below.half.z() + half;
}

std::string scene_text(const MotionCase& one, const std::string& response, double step)
{
  std::string text = fmt::format(
      R"({{"duration": {}, "step": {}, "length_scale": 0.1, "response": {}, "materials": [{{"name": "timber",)"
      R"( "density": {}, "young": {}, "poisson": {}, "alpha": 60, "beta": 2e-6, "friction": 0.5,)"
      R"( "restitution": 0.15}}], "bodies": [)",
      kFall + kFollowed, step, response, kWood.density, kWood.young, kWood.poisson);
  for (const Part& part : one.parts) {
    const bool ball = part.name == "ball";
    const double lift = ball ? kGravity * kFall * kFall / 2 : 0;
    const std::string shape = ball ? fmt::format(R"({{"kind": "sphere", "radius": {}}})", kBallRadius)
                                   : fmt::format(R"({{"kind": "box", "size": [{}, {}, {}]}})",
                                                 2 * part.half.x(), 2 * part.half.y(), 2 * part.half.z());
    text += fmt::format(R"({}{{"name": "{}", "material": "timber", "shape": {}, "position": [{}, {}, {}])",
                        &part == one.parts.data() ? "" : ", ", part.name, shape, part.x, part.y,
                        height_of(one, part) + lift);
    if (part.mass == 0)
      text += R"(, "motion": "fixed", "rings": {"modes": 50, "clamp": "y>0.35", "spacing": 0.05})";
    if (part.mass > 0) text += fmt::format(R"(, "mass": {})", part.mass);
    if (part.mass > 0 && part.rings) text += R"(, "rings": {"modes": 20, "spacing": 0.03})";
    text += "}";
  }
  return text + "]}";
}

/// The path of a body from the blow on.
struct Path {
  std::vector<double> times, rises;
  double slide = 0;  ///< level distance at the end [m]

  [[nodiscard]] double max_rise() const { return *std::max_element(rises.begin(), rises.end()); }
  /// When it has reached a tenth of its height [s].
  [[nodiscard]] double start() const
  {
    const double level = 0.1 * max_rise();
    for (std::size_t i = 1; i < rises.size(); ++i) {
      if (rises[i] < level) continue;
      const double share = (level - rises[i - 1]) / (rises[i] - rises[i - 1]);
      return times[i - 1] + std::clamp(share, 0.0, 1.0) * (times[i] - times[i - 1]);
    }
    return times.back();
  }
};

using Paths = std::vector<Path>;  ///< by part

Paths coupled_paths(const MotionCase& one, const scene::BuiltScene& built, double step)
{
  std::vector<CoupledBody> bodies;
  for (const Part& part : one.parts) {
    CoupledBody body;
    body.half = part.half;
    body.is_ball = part.name == "ball";
    body.mass = part.mass;
    body.position = {part.x, part.y, height_of(one, part)};
    if (body.is_ball) body.velocity.z() = -kGravity * kFall;
    if (!part.on.empty()) body.stands_on = static_cast<int>(&part_named(one, part.on) - one.parts.data());
    if (part.rings) body.model = built.modes.at(part.name).get();
    bodies.push_back(body);
  }
  CoupledBodies run(std::move(bodies), {.step = step, .material = kWood});
  Paths paths(one.parts.size());
  const std::vector<CoupledBody> start = run.bodies();
  const auto steps = static_cast<int>(std::lround(kFollowed / step));
  constexpr int kEvery = 50;
  for (int i = 0; i <= steps; ++i) {
    if (i % kEvery == 0) {
      for (std::size_t b = 0; b < paths.size(); ++b) {
        const Vec3 moved = run.bodies()[b].position - start[b].position;
        paths[b].times.push_back(i * step);
        paths[b].rises.push_back(moved.z());
        paths[b].slide = moved.head<2>().norm();
      }
    }
    run.step();
  }
  return paths;
}

Paths world_paths(const MotionCase& one, const std::string& response, double h)
{
  scene::BuiltScene built =
      scene::build_world(scene::parse_scene(scene_text(one, response, h), "motion.json"));
  const auto place = [&](std::size_t b) {
    return built.world.state().bodies[b].X_wb.position;
  };
  Paths paths(one.parts.size());
  std::vector<Vec3> start(one.parts.size());
  const auto steps = static_cast<int>(std::lround((kFall + kFollowed) / h));
  for (int i = 0; i < steps; ++i) {
    const double before = i * h - kFall;
    if (before < -1.5 * h)
      for (std::size_t b = 0; b < paths.size(); ++b) start[b] = place(b);
    built.step(i * h, h);
    if (before < -1.5 * h) continue;
    for (std::size_t b = 0; b < paths.size(); ++b) {
      const Vec3 moved = place(b) - start[b];
      paths[b].times.push_back(before + h);
      paths[b].rises.push_back(moved.z());
      paths[b].slide = moved.head<2>().norm();
    }
  }
  return paths;
}

double speed_of(const Path& path)
{
  return std::sqrt(2 * kGravity * std::max(0.0, path.max_rise()));
}

struct Comparison {
  std::vector<double> factors, ratios, lags, slides, reference_slides;
  int too_short = 0;
};

// A body that leaves with g h is back after two steps: slower hops fall between the steps of the world, where
// nothing can be seen of them, and are counted only.
void add(Comparison& sum, const Path& world, const Path& reference, double h)
{
  constexpr double kSilent = 0.002;  // what counts for a body that does not rise [m/s]
  if (speed_of(reference) < kMinSpeed) return;
  if (speed_of(reference) < kGravity * h) {
    ++sum.too_short;
    return;
  }
  const double ratio = std::max(speed_of(world), kSilent) / speed_of(reference);
  sum.ratios.push_back(ratio);
  sum.factors.push_back(std::max(ratio, 1 / ratio));
  sum.slides.push_back(world.slide);
  sum.reference_slides.push_back(reference.slide);
  if (speed_of(world) > kMinSpeed) sum.lags.push_back(world.start() - reference.start());
}

void report_comparison(Report& report, const std::string& name, Comparison& sum, bool judged, double h)
{
  if (sum.ratios.empty()) return;
  double logs = 0;
  for (const double r : sum.ratios) logs += std::log(r);
  std::sort(sum.factors.begin(), sum.factors.end());
  report.row({.name = fmt::format("{}: bias", name),
              .figure = std::exp(logs / static_cast<double>(sum.ratios.size())),
              .unit = "x"});
  report.row({.name = fmt::format("{}: median factor", name),
              .figure = sum.factors[sum.factors.size() / 2],
              .unit = "x",
              .target = judged ? std::optional(2.0) : std::nullopt});
  report.row({.name = fmt::format("{}: worst tenth", name),
              .figure = sum.factors[sum.factors.size() * 9 / 10],
              .unit = "x"});
  // A kick acts at the end of the step of its blow, and bodies are seen at the ends of steps alone: one step
  // is what the start of a hop may be off.
  if (!sum.lags.empty()) {
    const Spread lag = spread_of(sum.lags);
    report.row({.name = fmt::format("{}: start of the hop after that of the reference, median", name),
                .figure = 1e3 * lag.median,
                .unit = "ms"});
    report.row({.name = fmt::format("{}: start of the hop off by, median", name),
                .figure = std::abs(lag.median) / h,
                .unit = "steps",
                .target = judged ? std::optional(1.0) : std::nullopt});
    report.note(fmt::format("starts from {:.1f} to {:.1f} ms after the reference, a step is {:.1f} ms",
                            1e3 * lag.min, 1e3 * lag.max, 1e3 * h));
  }
  report.note(
      fmt::format("{} bodies, {} more hop for less than two steps; slide {:.2f} mm, reference {:.2f} mm "
                  "(medians)",
                  sum.ratios.size(), sum.too_short, 1e3 * spread_of(sum.slides).median,
                  1e3 * spread_of(sum.reference_slides).median));
}

}  // namespace

THRUM_BENCHMARK(accuracy, motion)
{
  constexpr int kCases = 4;
  constexpr double kStep = 4e-6;  // of the reference [s]
  base::Random random(29);
  std::vector<MotionCase> cases;
  for (int i = 0; i < kCases; ++i) cases.push_back(boxes_on_plate(random));
  for (int i = 0; i < kCases; ++i) cases.push_back(boxes_on_board(random));
  std::vector<Paths> references;
  std::vector<double> changes;
  std::ofstream table(output_file("accuracy_motion.csv"));
  table << "case,body,rule,h,reference,world\n";
  for (const MotionCase& one : cases) {
    const scene::BuiltScene built = scene::build_world(
        scene::parse_scene(scene_text(one, R"({"rule": "automatic"})", 0.01), "motion.json"));
    references.push_back(coupled_paths(one, built, kStep));
    const Paths finer = coupled_paths(one, built, kStep / 2);
    for (std::size_t b = 1; b + 1 < finer.size(); ++b) {
      if (speed_of(finer[b]) > kMinSpeed)
        changes.push_back(std::abs(speed_of(references.back()[b]) / speed_of(finer[b]) - 1));
    }
  }
  std::sort(changes.begin(), changes.end());
  report.row({.name = "motion: reference, change when its step is halved (nine tenths)",
              .figure = 100 * changes[changes.size() * 9 / 10],
              .unit = "%",
              .target = 5.0});
  struct Rule {
    const char* name;
    const char* text;
    bool judged;
  };
  for (const Rule& rule :
       {Rule{"automatic", R"({"rule": "automatic"})", true},
        Rule{"micro_collisions", R"({"rule": "micro_collisions"})", true},
        Rule{"micro_collisions, 40 ms", R"({"rule": "micro_collisions", "window": 0.04})", true},
        Rule{"exchange", R"({"rule": "exchange"})", true},
        Rule{"coevoet2020", R"({"preset": "coevoet2020"})", false}}) {
    for (const double h : {1.0 / 60, 1.0 / 100, 1.0 / 200}) {
      Comparison direct, board, passed_on;
      for (std::size_t c = 0; c < cases.size(); ++c) {
        const Paths world = world_paths(cases[c], rule.text, h);
        for (std::size_t b = 1; b + 1 < world.size(); ++b) {
          const std::size_t from = cases[c].passed_on_from;
          add(from == 0 ? direct : (b < from ? board : passed_on), world[b], references[c][b], h);
          table << fmt::format("{},{},{},{:.4g},{:.4g},{:.4g}\n", c, cases[c].parts[b].name, rule.name, h,
                               speed_of(references[c][b]), speed_of(world[b]));
        }
      }
      const std::string name = fmt::format("{}, h = 1/{:.0f}", rule.name, 1 / h);
      report_comparison(report, "motion, boxes on the plate, " + name, direct, rule.judged, h);
      report_comparison(report, "motion, ringing board, " + name, board, rule.judged, h);
      report_comparison(report, "motion, boxes on that board, " + name, passed_on, rule.judged, h);
    }
  }
  if (!table.flush()) throw Error("accuracy_motion.csv cannot be written");
}

}  // namespace thrum::bench
