// SPDX-License-Identifier: MIT
// Figures 7, 8, 15, 16 and 17 of [Zheng11] again: the curved slab, and the modes, steps and groups of running
// scenes with and without adaptation. Pictures go to docs/pictures, numbers are rows of the report.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <mutex>

#include "benchmarks/harness.h"
#include "tests/support/curved_slab.h"
#include "tests/support/source_dir.h"
#include "thrum/flexible/contact_group.h"
#include "thrum/flexible/flexible_report.h"
#include "thrum/media/image.h"
#include "thrum/media/plot.h"
#include "thrum/scene/build_world.h"

namespace thrum::bench {
namespace {

const std::filesystem::path kSource = support::source_dir();
/// Bodies that have moved by less are not compared [m].
constexpr double kMinWay = 1e-4;
const std::filesystem::path kPictures = kSource / "docs/pictures";
/// Of the paper, 1 / (6.5 f) at 5 kHz [s].
constexpr double kShortestStep = 3.07e-5;
/// Times are the least of so many runs, of both ways in turn.
constexpr int kRepeats = 3;

media::PlotSeries line(const std::string& name, double width = 2)
{
  return {.name = name, .dot_radius = 0, .line_width = width};
}

// -----------------------------------------------------------------------------------------------------------
// What a scene does over time

/// Of all groups with contacts or modes that move, in the slices of a step of the scene.
struct StepActivity {
  int modes = 0;       ///< that move at once in a group, at most
  double min_dt = 0;   ///< shortest substep [s]
  int groups = 0;      ///< in which modes move or contacts press
  double mean_dt = 0;  ///< step over substeps of the busiest group [s]
};

class Activity final : public flexible::SubstepObserver {
 public:
  void begin_step() { by_group_.clear(); }
  void on_substep(const flexible::ContactGroup& group, const flexible::SubstepInfo& info) override
  {
    const std::scoped_lock lock(mutex_);
    ++histogram_[static_cast<int>(std::lround(std::log2(info.dt)))];
    Of& of = by_group_[&group];
    of.modes = std::max(of.modes, group.active_modes());
    of.contacts = std::max(of.contacts, group.contact_count());
    of.min_dt = std::min(of.min_dt, info.dt);
    ++of.substeps;
  }
  [[nodiscard]] StepActivity end_step(double h) const
  {
    StepActivity now;
    now.min_dt = h;
    now.mean_dt = h;
    for (const auto& [group, of] : by_group_) {
      if (of.contacts == 0 && of.modes == 0) continue;
      ++now.groups;
      now.modes = std::max(now.modes, of.modes);
      now.min_dt = std::min(now.min_dt, of.min_dt);
      now.mean_dt = std::min(now.mean_dt, h / of.substeps);
    }
    return now;
  }
  /// Substeps by the power of two nearest to their length.
  [[nodiscard]] const std::map<int, long>& histogram() const { return histogram_; }

 private:
  struct Of {
    int modes = 0;
    int contacts = 0;
    double min_dt = 1;
    int substeps = 0;
  };
  std::mutex mutex_;
  std::map<const flexible::ContactGroup*, Of> by_group_;
  std::map<int, long> histogram_;
};

struct FigureScene {
  std::string scene;
  std::vector<std::string> settings;
  double duration = 0;  ///< [s]
  double max_step = 1e-3;
};

struct FigureRun {
  std::vector<StepActivity> steps;
  std::map<int, long> histogram;
  std::vector<std::string> names;            ///< of bodies that move
  std::vector<std::vector<Vec3>> positions;  ///< by step and body
  double seconds = 0;                        ///< of work
  double mean_modes = 0;                     ///< by substep
  flexible::GroupReport work;
  double step = 0;
};

enum class Way : std::uint8_t {
  adaptive,
  all_modes,  ///< always; contacts are found once a slice, and a group in which nothing touches moves at once
  /// All modes, and all bodies in steps of kShortestStep with contacts found in each: without adaptation as
  /// in the paper.
  uniform
};

FigureRun run_scene(const FigureScene& scene, Way way, double steps_per_period = 6.5)
{
  scene::SceneDesc desc =
      scene::read_scene(kSource / "scenes" / (scene.scene + ".json"), {.settings = scene.settings});
  Activity activity;
  desc.world.flexible.adapt_modes = way == Way::adaptive;
  desc.world.flexible.steps_per_period = steps_per_period;
  desc.world.flexible.max_step = way == Way::uniform ? kShortestStep : scene.max_step;
  FigureRun run;
  run.step = scene.max_step;
  scene::BuiltScene built = scene::build_world(desc);
  built.world.set_substep_observer(&activity);
  const int steps = static_cast<int>(std::lround(scene.duration / run.step));
  for (const scene::BodyVisual& body : built.visuals) run.names.push_back(body.name);
  for (int i = 0; i < steps; ++i) {
    activity.begin_step();
    const std::clock_t before = std::clock();  // of all threads
    built.step(i * run.step, run.step);
    run.seconds += static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    run.steps.push_back(activity.end_step(run.step));
    std::vector<Vec3> now;
    for (const model::BodyState& body : built.world.state().bodies) now.push_back(body.X_wb.position);
    run.positions.push_back(std::move(now));
  }
  run.histogram = activity.histogram();
  run.work = built.world.flexible_report().groups;
  run.mean_modes = static_cast<double>(run.work.active_modes) /
                   static_cast<double>(std::max<std::uint64_t>(1, run.work.substeps));
  return run;
}

struct FigurePair {
  FigureRun adaptive, plain;
};

FigurePair run_pair(const FigureScene& scene)
{
  FigurePair pair{run_scene(scene, Way::adaptive), run_scene(scene, Way::all_modes)};
  for (int i = 1; i < kRepeats; ++i) {
    pair.adaptive.seconds = std::min(pair.adaptive.seconds, run_scene(scene, Way::adaptive).seconds);
    pair.plain.seconds = std::min(pair.plain.seconds, run_scene(scene, Way::all_modes).seconds);
  }
  return pair;
}

// Modes as a line, the shortest substep of each step as another, on one picture: the substep in units of
// 1/100 of the longest.
void draw_modes(const FigureRun& adaptive, const FigureRun& plain, const std::string& title,
                const std::string& file)
{
  media::PlotSeries modes = line("active modes");
  media::PlotSeries all = line("without adaptation");
  media::PlotSeries groups = line("groups");
  media::PlotSeries dt = line("shortest substep [10 us]");
  for (std::size_t i = 0; i < adaptive.steps.size(); ++i) {
    const double time = static_cast<double>(i) * adaptive.step;
    const auto add = [&](media::PlotSeries& series, double value) {
      series.x.push_back(time);
      series.y.push_back(value);
    };
    add(all, plain.steps[i].modes);
    add(modes, adaptive.steps[i].modes);
    add(dt, 1e5 * adaptive.steps[i].min_dt);
    add(groups, adaptive.steps[i].groups);
  }
  media::write_png(kPictures / file,
                   media::draw_plot(std::vector{all, dt, groups, modes},
                                    {.title = title, .x = {"time [s]"}, .y = {"number, or 10 us"}}));
}

void draw_histogram(const FigureRun& adaptive, const FigureRun& plain, const std::string& title,
                    const std::string& file)
{
  std::vector<media::PlotSeries> series;
  for (const auto& [name, run] :
       {std::pair{"adaptive", &adaptive}, std::pair{"without adaptation", &plain}}) {
    media::PlotSeries bars{.name = name, .dot_radius = 6, .line_width = 2};
    for (const auto& [power, count] : run->histogram) {
      bars.x.push_back(1e6 * std::ldexp(1.0, power));
      bars.y.push_back(static_cast<double>(count));
    }
    series.push_back(bars);
  }
  media::write_png(kPictures / file,
                   media::draw_plot(series, {.title = title,
                                             .x = {"length of substeps [us]", media::AxisScale::logarithmic},
                                             .y = {"number of substeps", media::AxisScale::logarithmic}}));
}

/// Mean over the bodies of the largest distance between their places in two runs, until a step [m].
double motion_difference(const FigureRun& a, const FigureRun& b, std::size_t end)
{
  std::vector<double> apart(a.positions[0].size(), 0.0);
  for (std::size_t i = 0; i < end; ++i) {
    for (std::size_t k = 0; k < apart.size(); ++k)
      apart[k] = std::max(apart[k], (a.positions[i][k] - b.positions[i][k]).norm());
  }
  double sum = 0;
  int moving = 0;
  for (std::size_t k = 0; k < apart.size(); ++k) {
    if ((b.positions[end - 1][k] - b.positions[0][k]).norm() < kMinWay) continue;
    sum += apart[k];
    ++moving;
  }
  return moving > 0 ? sum / moving : 0;
}

// The motion beside what substeps of half the length change, which shows how well defined it is.
void report_motion(Report& report, const std::string& name, const FigureScene& scene, const FigurePair& pair)
{
  const FigureRun other = run_scene(scene, Way::all_modes, 13);
  const std::size_t steps = pair.plain.positions.size();
  for (const std::size_t end : {steps / 2, steps}) {
    const double time = static_cast<double>(end) * pair.plain.step;
    report.row({.name = fmt::format("{}: motion to {:.2g} s, difference", name, time),
                .figure = 1e3 * motion_difference(pair.adaptive, pair.plain, end),
                .unit = "mm",
                .baseline = "all modes, substeps of half the length",
                .baseline_value = 1e3 * motion_difference(other, pair.plain, end)});
  }
}

// Adaptation never costs time, and against the paper's way without it saves as much as there.
void report_times(Report& report, const std::string& name, const FigurePair& pair)
{
  report.row({.name = name + ": time of the run, adaptive",
              .figure = pair.adaptive.seconds,
              .unit = "s",
              .baseline = "all modes always",
              .baseline_value = pair.plain.seconds,
              .target_ratio = 1});
  report.note(fmt::format(
      "{}: {:.1f} active modes a substep instead of {:.1f}, {} substeps instead of {}, {} and {} unsolved",
      name, pair.adaptive.mean_modes, pair.plain.mean_modes, pair.adaptive.work.substeps,
      pair.plain.work.substeps, pair.adaptive.work.unsolved, pair.plain.work.unsolved));
}

void report_uniform(Report& report, const std::string& name, const FigureScene& scene, const FigurePair& pair,
                    double paper)
{
  report.row({.name = name + ": time of the run, adaptive",
              .figure = pair.adaptive.seconds,
              .unit = "s",
              .baseline = "all modes and bodies in steps of 31 us",
              .baseline_value = run_scene(scene, Way::uniform).seconds,
              .target_ratio = paper});
}

}  // namespace

// Figure 7.
THRUM_BENCHMARK(flexible, slab)
{
  struct SlabWay {
    const char* name;
    support::SlabDesc desc;
  };
  const std::vector<SlabWay> ways = {
      {"velocity test, cold", {.velocity_test = true, .warm_start = false}},
      {"velocity test, warm", {.velocity_test = true, .warm_start = true}},
      {"all intersections, cold", {.warm_start = false}},
      {"all intersections, warm", {}},
      {"all intersections, Hertz' contact", {.law = flexible::ContactLaw::hertz}},
  };
  std::vector<support::SlabRun> at_rest;
  for (const SlabWay& way : ways) {
    at_rest.push_back(support::run_slab(way.desc));
    support::SlabDesc loaded = way.desc;
    loaded.load = 2;
    const support::SlabRun moving = support::run_slab(loaded);
    report.row(
        {.name = fmt::format("slab, {}: at rest", way.name), .figure = at_rest.back().level, .unit = "dB"});
    report.row({.name = fmt::format("slab, {}: under a moving load", way.name),
                .figure = moving.level,
                .unit = "dB"});
    report.note(fmt::format("{}: forces change by {:.1e} of their mean a step at rest, {:.1e} under the load",
                            way.name, at_rest.back().jump, moving.jump));
  }
  report.row({.name = "slab at rest: what the velocity test costs",
              .figure = at_rest[1].level - at_rest[3].level,
              .unit = "dB",
              .target = 60,
              .better = Better::higher});
  std::vector<media::PlotSeries> series;
  for (const std::size_t i : {std::size_t{1}, std::size_t{3}}) {
    media::PlotSeries left = line(ways[i].name);
    const std::size_t first = at_rest[i].left.size() / 2;
    for (std::size_t k = first; k < first + 80; ++k) {
      left.x.push_back(1e3 * static_cast<double>(k - first) / support::kSlabRate);
      left.y.push_back(at_rest[i].left[k]);
    }
    series.push_back(left);
  }
  media::write_png(kPictures / "flexible_figure7.png",
                   media::draw_plot(series, {.title = "Curved slab at rest: force at its left end",
                                             .x = {"time [ms]"},
                                             .y = {"force [N]"}}));
}

// Figure 8.
THRUM_BENCHMARK(flexible, ruler_modes)
{
  const FigureScene scene{"ruler", {"stepper.flexible.max_frequency=5000"}, 0.2};
  const FigurePair pair = run_pair(scene);
  report_times(report, "ruler", pair);  // it is moved by hand
  draw_modes(pair.adaptive, pair.plain, "Ruler: modes that move", "flexible_figure8.png");
}

// Figure 15, and the table of Table 2: 72 modes and 10 bodies.
THRUM_BENCHMARK(flexible, table_modes)
{
  const FigureScene table{"table", {"stepper.kind=flexible"}, 3};
  const FigurePair of_table = run_pair(table);
  report_times(report, "table", of_table);
  report_uniform(report, "table", table, of_table, 2.6);
  report_motion(report, "table", table, of_table);
  const FigureScene dinner{"dinner", {"stepper.kind=flexible", "bodies.table.rings.modes=250"}, 2};
  const FigurePair of_dinner = run_pair(dinner);
  report_times(report, "dinner", of_dinner);
  report_motion(report, "dinner", dinner, of_dinner);
  draw_modes(of_dinner.adaptive, of_dinner.plain, "Table with dishes: modes that move",
             "flexible_figure15.png");
}

// Figures 16 and 17, and the helix of the size of Table 2.
THRUM_BENCHMARK(flexible, marble_modes)
{
  const FigureScene track{"marble_track", {}, 3};
  const FigurePair of_track = run_pair(track);
  report_times(report, "marbles", of_track);
  report_motion(report, "marbles", track, of_track);
  draw_histogram(of_track.adaptive, of_track.plain, "Marbles on tracks: substeps by their length",
                 "flexible_figure16.png");
  draw_modes(of_track.adaptive, of_track.plain, "Marbles on tracks: modes that move",
             "flexible_figure17.png");
  const FigureScene helix{"marble_track_full", {}, 3, 2.5e-4};
  const FigurePair of_helix = run_pair(helix);
  report_times(report, "helix", of_helix);
  report_uniform(report, "helix", helix, of_helix, 6.8);
}

}  // namespace thrum::bench
