// SPDX-License-Identifier: MIT
// thrum check SCENE: reports what would be simulated, without a full run. thrum schema: the JSON Schema of
// scene files, or their reference page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <set>

#include "apps/thrum/command.h"
#include "apps/thrum/scene_commands.h"
#include "thrum/base/counted.h"
#include "thrum/base/index.h"
#include "thrum/base/progress.h"
#include "thrum/base/timing.h"
#include "thrum/scene/build_world.h"
#include "thrum/scene/scene_schema.h"
#include "thrum/scene/scene_warnings.h"

namespace thrum::app {

namespace {

constexpr double kPoseBytes =
    24;  // a moved body in a frame: its number, three floats, four 16-bit components
constexpr double kMegabyte = 1e6;  // [byte]

struct CheckOptions {
  std::string scene;
  std::vector<std::string> settings;
};

/// wall-clock time for the steps that measure the speed of a run [s]
constexpr double kTrialSeconds = 1;
constexpr double kWarmUpFraction = 0.75;  ///< of the trial; only the steps after it are measured
constexpr double kPageBytes = 4096;       ///< unit of /proc/self/statm [byte]

/// Current memory [byte]; the peak would include the factorisation for modes that are computed for the first
/// time.
double resident_bytes()
{
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * kPageBytes;
}

/// The wall-clock time of a run, estimated from as many of its first steps as fit into a second. Falling
/// bodies are cheap until they collide, so only the last of these steps are measured.
void print_time(scene::BuiltScene& built, double step, std::int64_t steps)
{
  const base::Stopwatch watch;
  std::int64_t taken = 0;
  std::int64_t taken_early = 0;
  double early = 0;
  for (; taken < steps && watch.seconds() < kTrialSeconds; ++taken) {
    if (watch.seconds() < kWarmUpFraction * kTrialSeconds) {
      early = watch.seconds();
      taken_early = taken;
    }
    built.step(static_cast<double>(taken) * step, step);
  }
  const double elapsed = watch.seconds();
  const double step_time =
      taken > taken_early ? (elapsed - early) / static_cast<double>(taken - taken_early) : 0;
  const double total = elapsed + static_cast<double>(steps - taken) * step_time;
  fmt::print("  time      {}{} for the steps", taken < steps ? "about " : "", base::readable_duration(total));
  if (taken < steps) fmt::print(", estimated from the first {}", taken);
  fmt::print(", without recording and pictures\n");
}

// Bodies of one kind share their modes; these are counted once.
void print_resonators(const scene::BuiltScene& built)
{
  std::size_t bodies = 0;
  std::set<const model::ModalModel*> models;
  for (std::size_t b = 0; b < built.ids.size(); ++b) {
    const auto late = built.late_bodies.find(b);
    const model::ModalModel* model =
        late != built.late_bodies.end() ? late->second.modes.get() : built.responder->model_of(built.ids[b]);
    if (model == nullptr) continue;
    ++bodies;
    models.insert(model);
  }
  Eigen::Index modes = 0;
  double bytes = 0;
  double lowest = std::numeric_limits<double>::max();
  double highest = 0;
  for (const model::ModalModel* model : models) {
    modes += model->frequencies.size();
    bytes += static_cast<double>(sizeof(double)) *
             static_cast<double>(model->shapes.size() + 2 * model->frequencies.size());
    bytes += static_cast<double>(model->surface.vertices.size() * sizeof(Vec3) +
                                 model->surface.triangles.size() * sizeof(Triangle));
    lowest = std::min(lowest, model->frequencies.minCoeff());
    highest = std::max(highest, model->frequencies.maxCoeff());
  }
  fmt::print("  ringing   {}, {} from {:.4g} to {:.4g} Hz, {:.3g} MB of mode shapes\n",
             base::counted(bodies, "body", "bodies"), base::counted(at(modes), "mode"), lowest, highest,
             bytes / kMegabyte);
}

// "2 to 48", or "48" when both have the same text.
std::string range_text(double min, double max)
{
  const std::string from = fmt::format("{:.4g}", min);
  const std::string to = fmt::format("{:.4g}", max);
  return from == to ? from : from + " to " + to;
}

void check(const CheckOptions& options)
{
  const scene::SceneDesc desc = scene::read_scene(options.scene, {.settings = options.settings});
  scene::BuiltScene built = scene::build_world(desc, {});
  const std::vector<std::string> warnings = scene::find_scene_warnings(desc, built);
  const model::SceneModel& model = built.world.model();
  std::size_t moving = 0;
  double mass = 0;
  for (const model::BodyProperties& body : model.bodies) {
    if (body.motion == model::Motion::fixed) continue;
    ++moving;
    if (body.motion == model::Motion::dynamic) mass += body.mass;
  }
  double lightest = std::numeric_limits<double>::max();
  double heaviest = 0;
  for (const model::BodyProperties& body : model.bodies) {
    if (body.motion != model::Motion::dynamic) continue;
    lightest = std::min(lightest, body.mass);
    heaviest = std::max(heaviest, body.mass);
  }
  std::size_t triangles = 0;
  for (const auto& mesh : built.meshes) triangles += mesh->triangles.size();
  fmt::print("{}{}\n", bold(options.scene), desc.title.empty() ? "" : ": " + desc.title);
  fmt::print("  bodies    {} moving ({:.6g} kg), {} fixed", moving, mass, model.bodies.size() - moving);
  if (!built.late_bodies.empty()) fmt::print(", {} that appear later", built.late_bodies.size());
  fmt::print("\n");
  if (heaviest > 0) fmt::print("  masses    {} kg each\n", range_text(lightest, heaviest));
  fmt::print("  shapes    {}, {} in all\n", model.shapes.size(), base::counted(triangles, "triangle"));
  fmt::print("  joints    {}, scripted impulses {}, forces {}\n", model.joints.size(), built.impulses.size(),
             built.forces.size());
  if (built.responder) print_resonators(built);
  const double steps = desc.duration / desc.step;
  fmt::print("  run       {:.6g} s in {:.0f} steps of {:.4g} ms, seed {}\n", desc.duration, steps,
             1000 * desc.step, desc.seed);
  const double poses = static_cast<double>(moving) * desc.duration *
                       (desc.outputs.frame_rate > 0 ? desc.outputs.frame_rate : 1 / desc.step);
  fmt::print("  recording about {:.3g} MB of poses\n", poses * kPoseBytes / kMegabyte);
  print_time(built, desc.step, std::llround(steps));
  fmt::print("  memory    {:.3g} MB during the run\n", resident_bytes() / kMegabyte);
  for (const std::string& sentence : scene::modal_warnings(desc, built))
    fmt::print("{}\n", warning(sentence));
  for (const std::string& sentence : warnings) fmt::print("{}\n", warning(sentence));
  fmt::print("{}\n", success(warnings.empty() ? "The scene can be run."
                                              : "The scene can be run; check the warnings above."));
}

}  // namespace

void add_scene_check(CLI::App& app)
{
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Report what a scene would simulate, or all errors in it");
  command->add_option("scene", options->scene, "the scene file")->required();
  command
      ->add_option("--set", options->settings,
                   "change a value: path=value, such as duration=2; may be repeated")
      ->allow_extra_args(false);
  command->callback([options] { check(*options); });

  auto reference = std::make_shared<bool>(false);
  CLI::App* schema = app.add_subcommand("schema", "Print the JSON Schema of scene files");
  schema->add_flag("--reference", *reference, "print the reference page instead");
  schema->callback([reference] {
    const std::string text = *reference ? scene::scene_reference() : scene::scene_schema();
    std::fwrite(text.data(), 1, text.size(), stdout);
  });
}

}  // namespace thrum::app
