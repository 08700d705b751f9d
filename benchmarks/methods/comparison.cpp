// SPDX-License-Identifier: MIT
// The lecture's questions, asked of every method on the same scenes. Writes docs/methods/comparison.md and
// its pictures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "benchmarks/harness.h"
#include "benchmarks/methods/interference.h"
#include "benchmarks/methods/scenes.h"
#include "benchmarks/methods/timewarp.h"
#include "tests/support/source_dir.h"
#include "thrum/base/error.h"
#include "thrum/media/plot.h"

namespace thrum::bench {

namespace {

const std::filesystem::path kDocs = support::source_dir() / "docs";

/// What a run answers.
struct Answers {
  double penetration = 0;   ///< largest depth of a contact [m]
  double gained = 0;        ///< largest rise of the energy above the least so far, as a share of the first
  double kept = 0;          ///< energy at the end, as a share of the first
  double momentum = 0;      ///< change, as a share of the largest of a body
  double angular = 0;       ///< change of the angular momentum, as a share of it
  double rest_speed = 0;    ///< of the fastest body at the end [m/s]
  double moved = 0;         ///< how far the first dynamic body got [m]
  double milliseconds = 0;  ///< of a step, CPU
  double slices = 0;        ///< solved in a step
  bool passed = false;
  std::vector<double> energy;  ///< by step, as a share of the first
};

double energy_of(const sim::World& world)
{
  return world.kinetic_energy() + world.potential_energy() + world.contact_energy();
}

Answers run(const MethodScene& scene, const Method& method)
{
  sim::World world = scene.build(desc_of(method));
  Answers answers;
  const double first = energy_of(world);
  const Vec3 p = world.momentum();
  const Vec3 L = angular_momentum(world);
  double lowest = first;
  std::vector<Vec3> start;
  double scale = 0;
  for (const model::BodyId id : world.bodies()) {
    start.push_back(world.body(id).X_wb.position);
    scale = std::max(scale, world.desc_of(id).mass * world.body(id).velocity.norm());
  }
  const int steps = static_cast<int>(std::lround(scene.seconds / scene.step));
  double seconds = 0;
  for (int i = 0; i < steps; ++i) {
    seconds += cpu_seconds_once([&] { world.step(scene.step); });
    for (const model::Contact& contact : world.contacts())
      answers.penetration = std::max(answers.penetration, contact.depth);
    const double now = energy_of(world);
    answers.gained = std::max(answers.gained, (now - lowest) / first);
    lowest = std::min(lowest, now);
    answers.energy.push_back(now / first);
    answers.passed = answers.passed || scene.has_passed(world);
  }
  answers.kept = energy_of(world) / first;
  if (scale > 0) answers.momentum = (world.momentum() - p).norm() / scale;
  if (L.norm() > 0) answers.angular = (angular_momentum(world) - L).norm() / L.norm();
  const std::vector<model::BodyId> bodies = world.bodies();
  for (std::size_t i = bodies.size(); i-- > 0;) {
    if (world.desc_of(bodies[i]).motion != model::Motion::dynamic) continue;
    answers.rest_speed = std::max(answers.rest_speed, world.body(bodies[i]).velocity.norm());
    answers.moved = (world.body(bodies[i]).X_wb.position - start[i]).norm();
  }
  answers.milliseconds = 1000 * seconds / steps;
  answers.slices = static_cast<double>(world.impact_counts().solved_slices) / steps;
  return answers;
}

std::string length(double metres)
{
  if (metres < 1e-6) return "0";
  return metres < 1e-3 ? fmt::format("{:.2g} um", 1e6 * metres) : fmt::format("{:.2g} mm", 1e3 * metres);
}

std::string share(double x)
{
  return std::abs(x) < 1e-9 ? "0" : fmt::format("{:.1e}", x);
}

/// Heights of a ball that meets the ground, and its speeds, from soft to infinitely hard.
void draw_penalty_series()
{
  std::vector<media::PlotSeries> heights;
  const auto add = [&](const std::string& name, sim::WorldDesc desc) {
    desc.gravity.setZero();
    desc.sleep.enabled = false;
    sim::World world(desc);
    world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
    sim::BodyDesc ground;
    ground.shape = world.add_shape({model::Plane{}});
    ground.motion = model::Motion::fixed;
    world.add_body(ground);
    sim::BodyDesc ball;
    ball.shape = world.add_shape({model::Sphere{0.5}});
    ball.X_ws.position = {0, 0, 0.55};
    ball.mass = 1;
    ball.velocity = {0, 0, -1};
    const model::BodyId id = world.add_body(ball);
    media::PlotSeries series{.name = name, .dot_radius = 0, .line_width = 3};
    constexpr double h = 5e-4;
    for (int i = 0; i < 700; ++i) {
      world.step(h);
      series.x.push_back(1000 * h * (i + 1));
      series.y.push_back(1000 * (world.body(id).X_wb.position.z() - 0.5));
    }
    heights.push_back(series);
  };
  for (const auto& [name, stiffness] : std::vector<std::pair<std::string, double>>{
           {"soft, 200 N/m", 200}, {"hard, 2 kN/m", 2e3}, {"very hard, 20 kN/m", 2e4}, {"2 MN/m", 2e6}}) {
    sim::WorldDesc desc;
    desc.stepper = sim::StepperKind::penalty;
    desc.penalty.stiffness = stiffness;
    desc.penalty.damping_ratio = 0;
    add(name, desc);
  }
  add("infinitely hard (constraint)", sim::WorldDesc{});
  media::PlotDesc desc;
  desc.title = "A ball of 1 kg meets the ground at 1 m/s";
  desc.x = {"time [ms]"};
  desc.y = {"gap, below 0: overlap [mm]"};
  media::write_png(kDocs / "pictures/penalty_series.png", media::draw_plot(heights, desc));
}

void draw_energy(const MethodScene& scene, const std::vector<Method>& methods,
                 const std::vector<Answers>& answers)
{
  std::vector<media::PlotSeries> series;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    // Thinner from line to line, so that those that agree are all seen.
    media::PlotSeries line{.name = methods[m].name,
                           .dot_radius = 0,
                           .line_width = 2.0 + 1.5 * static_cast<double>(methods.size() - 1 - m)};
    // One more than there are colours.
    if (m + 1 == methods.size()) line.colour = Colour(0.9F, 0, 0);
    for (std::size_t i = 0; i < answers[m].energy.size(); ++i) {
      line.x.push_back(scene.step * static_cast<double>(i + 1));
      line.y.push_back(answers[m].energy[i]);
    }
    series.push_back(line);
  }
  media::PlotDesc desc;
  desc.title = "Energy: " + scene.question;
  desc.x = {"time [s]"};
  desc.y = {"share of the energy at the start"};
  media::write_png(kDocs / fmt::format("pictures/methods_{}.png", scene.name),
                   media::draw_plot(series, desc));
}

const char* const kIntroduction = R"(# Methods compared

The questions of [Lecture13], asked of every method on the same six scenes. `script/bench methods` runs them and writes
this page; times are CPU times of one run on a shared machine and good for ratios only.

| method | stepper | `time_of_impact` |
| --- | --- | --- |
| constraint (default) | `constraint` | `continuous` |
| impulse | `impulse` | `continuous` |
| penalty | `penalty` | `continuous` |
| flexible | `flexible` | `continuous` |
| none, bisection, conservative, timewarp | `constraint` | the same word |

## What to choose

| wanted | use |
| --- | --- |
| anything else, and real time | `constraint` with `continuous`, the defaults |
| impacts at their exact times, few at once (a game of billiards, a measurement) | `conservative` |
| likewise, with many bodies of which few meet (a gas, debris, marbles over a large floor) | `timewarp` |
| contact with a stiffness and a duration (rubber, a force over time), or a comparison with engines that use springs | `penalty` |
| bodies that vibrate while they touch, impacts with the duration and the loss of their materials | `flexible` |
| comparison with Guendelman03 | `impulse` |
| comparison with the lecture's backtracking | `bisection` |
| bodies that are slow for their size, and every percent of time | `none` |

- Bisection and conservative advancement solve the whole scene again for every impact. In a heap that costs much and
  brings nothing; a step that was cut `max_impact_slices` times goes on as `continuous`.
- Timewarp does that for the bodies concerned only, with the motion of conservative advancement up to about what half
  the tolerance changes ([limits](../limits.md#fast-bodies)). Where all bodies touch, they are one group, and it is
  conservative advancement with some copying.
- Springs overlap by what their stiffness needs, a quarter of the thinner width for fast bodies, and take substeps for
  it. In exchange the energy of motion, height and springs never grows, but where joints act.
- The flexible stepper cuts a step into slices of 1 ms and those into substeps for each impact. Contacts yield by what
  their material needs, micrometres at rest, and rebounds take the time that they take.
- With `none` a fast body passes through a thin one whenever no step happens to end within it.
- `interference: zlist` is the detection of [Forgue91] for meshes. It finds what the hierarchy finds and costs more,
  but for fast meshes whose impacts are found one by one.

)";

}  // namespace

THRUM_BENCHMARK(methods, comparison)
{
  const std::vector<Method> methods = all_methods();
  std::string page = kIntroduction;
  std::string header = "| scene |";
  std::string rule = "| --- |";
  for (const Method& method : methods) {
    header += " " + method.name + " |";
    rule += " --- |";
  }
  const std::string head = header + "\n" + rule + "\n";
  std::vector<MethodScene> scenes = method_scenes();
  std::vector<std::vector<Answers>> all;
  page += "## Scenes\n\n| scene | what happens |\n| --- | --- |\n";
  for (const MethodScene& scene : scenes) {
    page += fmt::format("| {} | {} ({:g} s, step {:.4f} s) |\n", scene.name, scene.question, scene.seconds,
                        scene.step);
    std::vector<Answers>& answers = all.emplace_back();
    for (const Method& method : methods) answers.push_back(run(scene, method));
    for (std::size_t m = 1; m < methods.size(); ++m) {
      report.row({.name = fmt::format("{}, a step with {}", scene.name, methods[m].name),
                  .figure = answers[m].milliseconds,
                  .unit = "ms",
                  .baseline = methods[0].name,
                  .baseline_value = answers[0].milliseconds});
    }
  }
  const auto table = [&](const std::string& title, const std::string& text, auto&& cell) {
    page += "\n## " + title + "\n\n" + text + "\n\n" + head;
    for (std::size_t s = 0; s < scenes.size(); ++s) {
      page += "| " + scenes[s].name + " |";
      for (const Answers& answers : all[s]) page += " " + cell(answers) + " |";
      page += "\n";
    }
  };
  table("Do bodies pass through each other?", "Whether any body was ever on the wrong side.",
        [](const Answers& a) { return std::string(a.passed ? "**yes**" : "no"); });
  table("How deep do they overlap?",
        "Largest depth of a contact at the start of a slice. What is pressed in and let go within one does "
        "not show.",
        [](const Answers& a) { return length(a.penetration); });
  table(
      "Does energy grow?",
      "Largest rise above the least that it has been, as a share of the energy at the start. Springs count.",
      [](const Answers& a) { return share(a.gained); });
  table("How much energy is left?", "At the end, as a share of the start.",
        [](const Answers& a) { return fmt::format("{:.4f}", a.kept); });
  page +=
      "\n![energy of the drop](../pictures/methods_drop.png)\n\n"
      "![energy of the pile](../pictures/methods_pile.png)\n";
  const auto one_row = [&](const std::string& title, const std::string& text, std::size_t s, auto&& cell) {
    page += "\n## " + title + "\n\n" + text + "\n\n" + head + "| " + scenes[s].name + " |";
    for (const Answers& answers : all[s]) page += " " + cell(answers) + " |";
    page += "\n";
  };
  one_row("Is momentum kept?", "Change in the collision in space, as a share of the largest of a body.", 1,
          [](const Answers& a) { return share(a.momentum); });
  one_row("Is angular momentum kept?", "Change in the collision in space, as a share of it.", 1,
          [](const Answers& a) { return share(a.angular); });
  one_row("Do bodies rest?", "Speed of the fastest body of the stack at the end.", 2,
          [](const Answers& a) { return fmt::format("{:.1e} m/s", a.rest_speed); });
  one_row("Does friction hold?", "How far the block on the incline got in 2 s.", 3,
          [](const Answers& a) { return length(a.moved); });
  table("What does a step cost?", "CPU time [ms], and slices solved in a step.",
        [](const Answers& a) { return fmt::format("{:.3f} / {:.1f}", a.milliseconds, a.slices); });
  draw_penalty_series();
  draw_energy(scenes[0], methods, all[0]);
  draw_energy(scenes[5], methods, all[5]);
  page += measure_timewarp(report, kDocs / "pictures/methods_timewarp.png");
  page += measure_interference(report);
  page += "\n## References\n\nMoore and Wilhelms 1988; Hahn 1988; Forgue and Shinya 1991; Mirtich 2000.\n";
  std::ofstream file(kDocs / "methods/comparison.md");
  file << page;
  if (!file) throw Error("methods benchmark: docs/methods/comparison.md cannot be written.");
  report.note("page: " + (kDocs / "methods/comparison.md").string());
}

}  // namespace thrum::bench
