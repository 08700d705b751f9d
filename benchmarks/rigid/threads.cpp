// SPDX-License-Identifier: MIT
// Two threads against one, on the same scene and with the same bits.
//
// A step on two threads is slow whenever another program wants a core, and on a busy machine it is most of
// the time. Both are therefore run several times, in turn, and each step counts with its least time: all
// runs of a scene take the same steps. The note says how much of the time of one thread was spent where
// two can share it.
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/ring_scenes.h"
#include "benchmarks/rigid/ring_world.h"
#include "benchmarks/rigid/scenes.h"
#include "tests/support/source_dir.h"
#include "thrum/base/parallel.h"
#include "thrum/base/team.h"
#include "thrum/base/thread_limit.h"
#include "thrum/base/timing.h"
#include "thrum/scene/build_world.h"
#include "thrum/sim/world.h"

namespace thrum::bench {

namespace {

/// Gives each thread of the team a core, and takes that back at the end: a busy system often leaves both
/// on one, where two threads can gain nothing.
class PinnedTeam {
 public:
  PinnedTeam()
  {
    pthread_getaffinity_np(pthread_self(), sizeof all_, &all_);
    is_pinned_ = base::run_team(2, [](int member) {
      cpu_set_t core;
      CPU_ZERO(&core);
      CPU_SET(member, &core);
      pthread_setaffinity_np(pthread_self(), sizeof core, &core);
    });
  }
  ~PinnedTeam()
  {
    if (!is_pinned_) return;
    static_cast<void>(
        base::run_team(2, [&](int) { pthread_setaffinity_np(pthread_self(), sizeof all_, &all_); }));
  }
  PinnedTeam(const PinnedTeam&) = delete;
  PinnedTeam& operator=(const PinnedTeam&) = delete;

 private:
  cpu_set_t all_{};
  bool is_pinned_ = false;
};

struct ThreadScene {
  std::string name;
  std::function<sim::World(const sim::WorldDesc&)> make;
  int first = 0;   ///< steps before those that count
  int steps = 60;  ///< that count
  int repeats = 6;
};

/// Of each step, the least of all runs [s].
struct StepTimes {
  std::vector<double> steps;
  std::vector<double> alone;  ///< outside the sections of a team
  base::Hash128 hash;

  [[nodiscard]] double sum() const { return sum_of(steps); }
  [[nodiscard]] double sum_alone() const { return sum_of(alone); }

 private:
  static double sum_of(const std::vector<double>& times)
  {
    double sum = 0;
    for (const double time : times) sum += time;
    return sum;
  }
};

void run(const ThreadScene& scene, int threads, StepTimes& times)
{
  const base::ThreadLimit limit(threads);
  sim::WorldDesc desc = ring_world_desc();
  desc.threads = 0;
  sim::World world = scene.make(desc);
  for (int i = 0; i < scene.first; ++i) world.step(kStep);
  times.steps.resize(static_cast<std::size_t>(scene.steps), std::numeric_limits<double>::infinity());
  times.alone.resize(times.steps.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < times.steps.size(); ++i) {
    const double shared = base::team_seconds();
    const double start = base::wall_clock();
    world.step(kStep);
    const double time = base::wall_clock() - start;
    times.steps[i] = std::min(times.steps[i], time);
    times.alone[i] = std::min(times.alone[i], time - (base::team_seconds() - shared));
  }
  times.hash = world.hash();
}

void compare_threads(Report& report, const ThreadScene& scene)
{
  base::set_thread_count(2);
  base::measure_team(true);
  base::rest_when_crowded(false);
  const PinnedTeam pinned;
  StepTimes one;
  StepTimes two;
  const int repeats = scene.repeats * (include_slow_rows() ? 4 : 1);
  for (int i = 0; i < repeats; ++i) {
    run(scene, 1, one);
    run(scene, 2, two);
  }
  base::measure_team(false);
  base::rest_when_crowded(true);
  base::set_thread_count(0);
  Row row;
  row.name = fmt::format("two threads, {}", scene.name);
  row.figure = 1e3 * two.sum() / scene.steps;
  row.unit = "ms";
  row.baseline = "one thread";
  row.baseline_value = 1e3 * one.sum() / scene.steps;
  row.target_ratio = 1.6;
  report.row(row);
  report.note(fmt::format("{:.0f} % of the time of one thread is shared; least of {} runs of each step; {}",
                          100 * (1 - two.sum_alone() / one.sum()), repeats,
                          one.hash == two.hash ? "the same bits" : "NOT THE SAME BITS"));
}

sim::World make_boxes(const BoxScene& scene, const sim::WorldDesc& desc)
{
  sim::World world(desc);
  world.set_surface(model::kDefaultSurface, {0, scene.friction, 0, 0});
  sim::BodyDesc ground;
  ground.shape = world.add_shape({model::Plane{}});
  ground.motion = model::Motion::fixed;
  world.add_body(ground);
  for (const BoxBody& box : scene.boxes) {
    sim::BodyDesc body;
    body.shape = world.add_shape({model::Box{box.half}});
    body.X_ws = {box.position, box.rotation};
    body.mass = box.mass;
    world.add_body(body);
  }
  return world;
}

// Towers of ten boxes, far from each other.
BoxScene towers(int count)
{
  BoxScene scene{fmt::format("{} towers of 10 boxes", count), {}, 0.5, 1};
  const int side = static_cast<int>(std::ceil(std::sqrt(count)));
  for (int i = 0; i < 10 * count; ++i) {
    const int tower = i / 10;
    scene.boxes.push_back(
        {Vec3::Constant(0.5), {3.0 * (tower % side), 3.0 * (tower / side), 0.5 + i % 10}, 1});
  }
  return scene;
}

ThreadScene of_boxes(BoxScene boxes, int first, int steps, int repeats)
{
  std::string name = boxes.name;
  return {std::move(name),
          [boxes = std::move(boxes)](const sim::WorldDesc& desc) { return make_boxes(boxes, desc); }, first,
          steps, repeats};
}

}  // namespace

THRUM_BENCHMARK(rigid, threads_wall)
{
  compare_threads(report, of_boxes(wall(), 30, 60, 12));
}
THRUM_BENCHMARK(rigid, threads_towers)
{
  compare_threads(report, of_boxes(towers(100), 30, 60, 12));
}
THRUM_BENCHMARK(rigid, threads_heap)
{
  compare_threads(report, of_boxes(falling(1000), 100, 40, 8));
}
THRUM_BENCHMARK(rigid, threads_pile)
{
  const auto make = [](const sim::WorldDesc&) {
    const scene::SceneDesc desc = scene::read_scene(support::source_dir() / "scenes" / "nonconvex_pile.json");
    return std::move(scene::build_world(desc).world);
  };
  compare_threads(report, {"nonconvex_pile.json", make, 90, 40, 6});
}
THRUM_BENCHMARK(rigid, threads_rings)
{
  const RingScene rings = rings_in_box(500);
  compare_threads(
      report, {rings.name,
               [rings](const sim::WorldDesc& desc) { return std::move(make_ring_world(rings, desc).world); },
               60, 60, 4});
}

}  // namespace thrum::bench
