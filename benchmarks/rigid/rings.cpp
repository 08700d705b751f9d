// SPDX-License-Identifier: MIT
// Rings as true meshes, beside Bullet's compounds of capsules and, with --long, its GImpact meshes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/ring_scenes.h"
#include "benchmarks/rigid/ring_world.h"
#include "benchmarks/rigid/scenes.h"
#include "thrum/sim/world.h"

namespace thrum::bench {

namespace {

int steps_of(double seconds)
{
  return static_cast<int>(std::lround(seconds / kStep));
}

// What moves at the end may be the heap or the solver. From `late` on, a step of a quarter with thirty sweeps
// is close to exact: where it leaves the same energy, the heap itself still moves.
double energy_by_finer_steps(const RingScene& scene, const model::SceneState& late, double seconds)
{
  constexpr int kRefinement = 4;
  sim::WorldDesc desc = ring_world_desc();
  desc.constraint.iterations = 30;
  desc.constraint.max_extra_iterations = 60;
  desc.constraint.patch_rounds = 2;
  RingWorld fine = make_ring_world(scene, desc);
  fine.world.restore(late);
  for (int i = 0; i < kRefinement * steps_of(seconds); ++i) fine.world.step(kStep / kRefinement);
  return fine.world.kinetic_energy();
}

RingResult run_thrum(const RingScene& scene, sim::StepperKind stepper = sim::StepperKind::constraint)
{
  constexpr double kLate = 0.5;  // before the end [s]
  sim::WorldDesc desc = ring_world_desc();
  desc.stepper = stepper;
  auto [world, first] = make_ring_world(scene, desc);
  RingResult result;
  model::SceneState late;
  const int steps = steps_of(scene.seconds);
  for (int i = 0; i < steps; ++i) {
    if (i == steps - steps_of(kLate)) late = world.save();
    const double start = base::thread_cpu_clock();
    world.step(kStep);
    result.seconds += (base::thread_cpu_clock() - start) / steps;
    result.penetration = max_penetration(world);
    result.worst = std::max(result.worst, result.penetration);
  }
  std::vector<Pose> poses;
  for (std::size_t i = 0; i < scene.rings.size(); ++i)
    poses.push_back(world.shape_pose(world.id_of(static_cast<model::BodyIndex>(first + i))));
  result.linked = linked_pairs(poses);
  result.energy = world.kinetic_energy();
  result.note = fmt::format("{}: state {}, {} patches\n{}", scene.name, base::to_hex(world.hash()),
                            world.state().patches.size(), world.times().table());
  if (include_slow_rows() && stepper == sim::StepperKind::constraint) {
    result.note += fmt::format(
        "  the last {} s again in steps of a quarter and with 30 sweeps: {:.4f} J at the end, {:.4f} J as "
        "measured\n",
        kLate, energy_by_finer_steps(scene, late, kLate), result.energy);
  }
  return result;
}

std::string describe(const char* who, const RingResult& r)
{
  return fmt::format(
      "  {}: {} linked, penetration {:.1f} mm at the end and {:.1f} mm at worst, {:.4f} J at the end", who,
      r.linked, 1e3 * r.penetration, 1e3 * r.worst, r.energy);
}

/// A figure of ours beside the same one of Bullet.
struct RingFigure {
  const char* what;
  double RingResult::*figure;
  const char* unit;
  double scale;  ///< from the figure to the unit
};

Row row_of(const RingScene& scene, const RingFigure& f, const RingResult& ours, const RingResult& bullet,
           const char* baseline)
{
  Row row;
  row.name = scene.name + ", " + f.what;
  row.figure = f.scale * ours.*f.figure;
  row.unit = f.unit;
  row.baseline = baseline;
  row.baseline_value = f.scale * bullet.*f.figure;
  return row;
}

struct RingTargets {
  double time;     ///< of a step, as a multiple of Bullet's with capsules
  double overlap;  ///< on the way [mm]
};

// Three runs of each in turn, five with --long: a run takes half a minute.
void compare(Report& report, const RingScene& scene, const RingTargets& targets)
{
  RingResult ours;
  RingResult capsules;
  PairedTimes times;
  const int repeats = include_slow_rows() ? 5 : 3;
  for (int i = 0; i < repeats; ++i) {
    ours = run_thrum(scene);
    capsules = run_bullet(scene, BulletRing::capsules);
    times.add(ours.seconds, capsules.seconds);
  }
  const auto with_capsule_baseline = [&](const RingFigure& figure) {
    return row_of(scene, figure, ours, capsules, "Bullet, 12 capsules a ring");
  };
  Row time = with_capsule_baseline({"step", &RingResult::seconds, "ms", 1e3});
  time.target_ratio = 1 / targets.time;
  report_paired_times(report, time, times);
  const auto limited = [&](const RingFigure& figure, double target) {
    Row row = with_capsule_baseline(figure);
    row.target = target;
    report.row(row);
  };
  limited({"linked pairs", &RingResult::linked, "pairs", 1}, 0);
  limited({"penetration at the end", &RingResult::penetration, "mm", 1e3}, 30);
  limited({"largest penetration on the way", &RingResult::worst, "mm", 1e3}, targets.overlap);
  limited({"kinetic energy at the end", &RingResult::energy, "J", 1}, 0.01);
  report.note(ours.note);
  if (!include_slow_rows()) return;
  const RingResult gimpact = run_bullet(scene, BulletRing::gimpact);
  Row mesh = row_of(scene, {"step against GImpact", &RingResult::seconds, "ms", 1e3}, ours, gimpact,
                    "Bullet, GImpact meshes");
  mesh.target_ratio = 15;
  report.row(mesh);
  report.note(describe("Bullet GImpact", gimpact));
}

constexpr const char* kHeapTableHead =
    "| mesh rings, 7 s | max overlap [mm] | energy [J] | linked | step [ms] | constraint: max overlap [mm] | "
    "energy [J] | linked | step [ms] |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

std::string heap_table_line(const std::string& name, const RingResult& impulse, const RingResult& constraint)
{
  const auto cells = [](const RingResult& r) {
    return fmt::format(" {:.1f} | {:.2g} | {} | {:.0f} |", 1e3 * r.worst, r.energy, r.linked,
                       1e3 * r.seconds);
  };
  return fmt::format("| {} |{}{}\n", name, cells(impulse), cells(constraint));
}

// The impulse stepper beside the constraint stepper on the same scene. Returns its line of the table.
std::string compare_impulse(Report& report, const RingScene& scene, int repeats = include_slow_rows() ? 3 : 1)
{
  RingResult impulse;
  RingResult constraint;
  PairedTimes times;
  for (int i = 0; i < repeats; ++i) {
    impulse = run_thrum(scene, sim::StepperKind::impulse);
    constraint = run_thrum(scene);
    times.add(impulse.seconds, constraint.seconds);
  }
  const auto row = [&](const RingFigure& figure) {
    Row result = row_of(scene, figure, impulse, constraint, "constraint stepper");
    result.name = "impulse: " + result.name;
    return result;
  };
  Row time = row({"step", &RingResult::seconds, "ms", 1e3});
  time.target_ratio = 1.0 / 3;
  report_paired_times(report, time, times);
  const auto limited = [&](const RingFigure& figure, double target) {
    Row result = row(figure);
    result.target = target;
    report.row(result);
  };
  limited({"linked pairs", &RingResult::linked, "pairs", 1}, 0);
  limited({"largest penetration on the way", &RingResult::worst, "mm", 1e3}, 30);
  limited({"kinetic energy at the end", &RingResult::energy, "J", 1},
          0.01 * static_cast<double>(scene.rings.size()) / 100);
  report.note(impulse.note);
  return heap_table_line(scene.name, impulse, constraint);
}

// With the time that the energy of heaps is measured at.
RingScene for_seven_seconds(RingScene scene)
{
  scene.seconds = 7;
  return scene;
}

}  // namespace

THRUM_BENCHMARK(rigid, rings_500)
{
  compare(report, rings_in_box(500), {0.30, 15});
}
THRUM_BENCHMARK(rigid, rings_1000)
{
  compare(report, rings_in_box(1000), {0.40, 20});
}
THRUM_BENCHMARK(rigid, rings_on_poles)
{
  compare(report, for_seven_seconds(rings_on_poles(500)), {0.5, 30});
}

// The table of docs/limits.md: 500 and 1000 rings, in a box and on poles, five seeds each.
THRUM_BENCHMARK(rigid, impulse_heaps)
{
  if (!include_slow_rows()) return;
  std::string table = kHeapTableHead;
  for (const int count : {500, 1000}) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      table += compare_impulse(report, for_seven_seconds(rings_in_box(count, seed)), 1);
      table += compare_impulse(report, for_seven_seconds(rings_on_poles(count, seed)), 1);
    }
  }
  report.note(table);
}

THRUM_BENCHMARK(rigid, impulse_rings)
{
  (void)compare_impulse(report, for_seven_seconds(rings_in_box(500)));
}

}  // namespace thrum::bench
