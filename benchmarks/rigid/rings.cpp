// SPDX-License-Identifier: MIT
// Rings as true meshes, beside Bullet's compounds of capsules and, with --long, its GImpact meshes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/ring_scenes.h"
#include "benchmarks/rigid/scenes.h"
#include "thrum/sim/world.h"

namespace thrum::bench {

namespace {

double max_penetration(const sim::World& world)
{
  double max_depth = 0;
  for (const model::ContactPatch& patch : world.state().patches) {
    for (const model::ContactPoint& point : patch.active()) max_depth = std::max(max_depth, point.depth);
  }
  return max_depth;
}

/// The scene as a world, and the number of its first ring.
struct RingWorld {
  sim::World world;
  std::size_t first = 0;
};

RingWorld make_world(const RingScene& scene, const sim::WorldDesc& desc)
{
  sim::World world(desc);
  world.set_surface(model::kDefaultSurface,
                    {0, scene.friction, scene.rolling_friction, scene.rolling_friction});
  const auto add_fixed = [&](model::ShapeId shape, const Pose& pose) {
    sim::BodyDesc body;
    body.shape = shape;
    body.X_ws = pose;
    body.motion = model::Motion::fixed;
    world.add_body(body);
  };
  add_fixed(world.add_shape({model::Plane{}}), Pose{});
  if (scene.half_width > 0) {
    const double w = scene.half_width;
    const model::ShapeId wall = world.add_shape({model::Box{{0.5, w + 1, 30}}});
    for (int k = 0; k < 4; ++k) {
      const Quat turned(Eigen::AngleAxisd(k * std::acos(0.0), Vec3::UnitZ()));
      add_fixed(wall, {turned * Vec3(w + 0.5, 0, 30), turned});
    }
  }
  for (const PoleBody& pole : scene.poles) {
    add_fixed(world.add_shape({model::Cylinder{pole.radius, pole.half_length}}),
              {pole.position, Quat::Identity()});
  }
  const model::ShapeId ring =
      world.add_shape({model::Mesh{std::make_shared<mesh::TriangleMesh>(ring_mesh()), nullptr}});
  const std::size_t first = world.state().bodies.size();
  for (const Pose& pose : scene.rings) {
    sim::BodyDesc body;
    body.shape = ring;
    body.X_ws = pose;
    body.mass = kRingMass;
    world.add_body(body);
  }
  return {std::move(world), first};
}

sim::WorldDesc without_sleep()
{
  sim::WorldDesc desc;
  desc.reports = {false, false, false};  // not needed here
  desc.sleep.enabled = false;
  return desc;
}

int steps_of(double seconds)
{
  return static_cast<int>(std::lround(seconds / kStep));
}

// What moves at the end may be the heap or the solver. From `late` on, a step of a quarter with thirty sweeps
// is close to exact: where it leaves the same energy, the heap itself still moves.
double energy_by_finer_steps(const RingScene& scene, const model::SceneState& late, double seconds)
{
  constexpr int kRefinement = 4;
  sim::WorldDesc desc = without_sleep();
  desc.constraint.iterations = 30;
  desc.constraint.max_extra_iterations = 60;
  desc.constraint.patch_rounds = 2;
  RingWorld fine = make_world(scene, desc);
  fine.world.restore(late);
  for (int i = 0; i < kRefinement * steps_of(seconds); ++i) fine.world.step(kStep / kRefinement);
  return fine.world.kinetic_energy();
}

RingResult run_thrum(const RingScene& scene)
{
  constexpr double kLate = 0.5;  // before the end [s]
  auto [world, first] = make_world(scene, without_sleep());
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
  if (include_slow_rows()) {
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

// Three runs of each in turn, five with --long: a run takes half a minute.
void compare(Report& report, const RingScene& scene, double target_time_ratio)
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
  if (target_time_ratio > 0) time.target_ratio = target_time_ratio;
  report_paired_times(report, time, times);
  const auto limited = [&](const RingFigure& figure, double target) {
    Row row = with_capsule_baseline(figure);
    row.target = target;
    report.row(row);
  };
  limited({"linked pairs", &RingResult::linked, "pairs", 1}, 0);
  limited({"penetration at the end", &RingResult::penetration, "mm", 1e3}, 30);
  limited({"largest penetration on the way", &RingResult::worst, "mm", 1e3}, 30);
  limited({"kinetic energy at the end", &RingResult::energy, "J", 1}, 0.01);
  report.note(ours.note);
  if (!include_slow_rows()) return;
  const RingResult gimpact = run_bullet(scene, BulletRing::gimpact);
  Row mesh = row_of(scene, {"step against GImpact", &RingResult::seconds, "ms", 1e3}, ours, gimpact,
                    "Bullet, GImpact meshes");
  mesh.target_ratio = 10;
  report.row(mesh);
  report.note(describe("Bullet GImpact", gimpact));
}

}  // namespace

THRUM_BENCHMARK(rigid, rings_500)
{
  compare(report, rings_in_box(500), 1.0);
}
THRUM_BENCHMARK(rigid, rings_1000)
{
  compare(report, rings_in_box(1000), 1.0);
}
THRUM_BENCHMARK(rigid, rings_on_poles)
{
  compare(report, rings_on_poles(500), 0);
}

}  // namespace thrum::bench
