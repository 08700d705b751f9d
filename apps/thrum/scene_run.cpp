// SPDX-License-Identifier: MIT
// thrum run SCENE: simulates a scene into a folder, or, to compare, with and without response into two.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/thrum/command.h"
#include "apps/thrum/scene_commands.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/timing.h"
#include "thrum/media/pages.h"
#include "thrum/media/run_outputs.h"
#include "thrum/media/viewer_data.h"
#include "thrum/scene/run_scene.h"

namespace thrum::app {

namespace {

constexpr double kLineInterval = 3;      ///< between two lines of progress [s]
constexpr double kRedrawInterval = 0.2;  ///< on a terminal [s]

struct RunOptions {
  std::string scene;
  std::string output;
  std::string resume;
  std::vector<std::string> settings;
  double duration = 0;
  std::string seed;
  bool no_response = false;
  bool sound = false;
  bool normalise = false;
  bool compare = false;
  bool json = false;
  bool quiet = false;
};

// A line with the time left and the speed: redrawn on a terminal, printed at intervals elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { end_line(); }

  // The next message starts on a new line.
  void end_line()
  {
    if (drawn_ && terminal_) fmt::print(stderr, "\n");
    drawn_ = false;
  }

  void show(const scene::RunProgress& p)
  {
    // A second run restarts the clock.
    if (p.wall_seconds < last_) next_ = kRedrawInterval;
    last_ = p.wall_seconds;
    if (quiet_ || p.wall_seconds < next_) return;
    next_ = p.wall_seconds + (terminal_ ? kRedrawInterval : kLineInterval);
    drawn_ = true;
    const double left = p.real_time_factor > 0 ? (p.duration - p.time) / p.real_time_factor : 0;
    fmt::print(stderr, "{}{:5.1f} % of {:.3g} s, {:.3g} x real time, {} left{}", terminal_ ? "\r\x1b[K" : "",
               100 * p.time / p.duration, p.duration, p.real_time_factor, base::readable_duration(left),
               terminal_ ? "" : "\n");
    std::fflush(stderr);
  }

 private:
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  double next_ = kRedrawInterval;
  double last_ = 0;
};

void print_result(const RunOptions& options, const std::string& folder, const scene::RunResult& result,
                  const media::RadiationReport& radiation = {})
{
  if (options.json) {
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (const auto& file : result.files) files.push_back(file.string());
    nlohmann::ordered_json out = {{"folder", folder},
                                  {"finished", result.finished},
                                  {"steps", result.steps},
                                  {"simulated", result.simulated},
                                  {"wall_seconds", result.wall_seconds},
                                  {"final_hash", base::to_hex(result.final_hash)},
                                  {"warnings", result.warnings},
                                  {"files", files}};
    if (!radiation.entries().empty()) out["radiation"] = radiation_json(radiation);
    fmt::print("{}\n", out.dump());
    return;
  }
  if (options.quiet) return;
  if (result.already_finished) {
    fmt::print("{}: already finished, {:.6g} s in {} steps; nothing was done\n", bold(folder),
               result.simulated, result.steps);
    return;
  }
  fmt::print("{}: {:.6g} s in {} steps, {} of computation, {:.3g} x real time\n", bold(folder),
             result.simulated, result.steps, base::readable_duration(result.wall_seconds),
             result.wall_seconds > 0 ? result.simulated / result.wall_seconds : 0);
  for (const auto& file : result.files) fmt::print("  {}\n", file.lexically_relative(folder).string());
  fmt::print("  state hash {}\n", base::to_hex(result.final_hash));
  for (const std::string& sentence : result.warnings) fmt::print("{}\n", warning(sentence));
  if (!result.finished) {
    fmt::print("{}\n", warning(fmt::format("Stopped early; 'thrum run --resume {}' continues.", folder)));
  }
}

std::vector<std::string> settings_of(const RunOptions& options, bool no_response)
{
  std::vector<std::string> settings = options.settings;
  if (options.duration > 0) settings.push_back(fmt::format("duration={:.17g}", options.duration));
  if (!options.seed.empty()) settings.push_back("seed=" + options.seed);
  if (no_response) settings.emplace_back("response.method=none");
  // What the scene or --set say about sound is kept.
  if ((options.sound || options.normalise) && !scene::read_scene(options.scene, {.settings = settings}).sound)
    settings.emplace_back("sound=true");
  if (options.normalise) settings.emplace_back("sound.normalise=true");
  return settings;
}

scene::RunResult run_once(const RunOptions& options, const std::filesystem::path& folder, bool no_response,
                          scene::RunDesc desc)
{
  desc.folder = folder;
  desc.scene_file = options.scene;
  desc.reading.settings = settings_of(options, no_response);
  const scene::SceneDesc scene = scene::read_scene(desc.scene_file, desc.reading);
  return scene::run_scene(scene, desc);
}

// Both runs, each in its own folder, and one page that shows them side by side.
void run_both(const RunOptions& options, const std::filesystem::path& folder, const scene::RunDesc& desc,
              ProgressLine& report)
{
  if (media::page_template("viewer").empty())
    throw Error(
        "--compare writes a page, and this thrum was built without pages; run script/bootstrap and build "
        "again.");
  const scene::SceneDesc scene = scene::read_scene(options.scene, {.settings = settings_of(options, false)});
  const bool rings = scene.response.body.method != vibration::ResponseMethod::none &&
                     std::any_of(scene.bodies.begin(), scene.bodies.end(),
                                 [](const scene::BodyEntry& body) { return body.rings.has_value(); });
  if (!rings)
    fmt::print(
        stderr,
        "note: no body rings in this scene, so both runs will be the same; add \"rings\" to a body.\n");
  std::vector<sim::Recording> recordings(2);
  std::vector<media::ViewerRun> runs;
  for (const bool response : {true, false}) {
    const std::filesystem::path part = folder / (response ? "with" : "without");
    scene::RunDesc own = desc;
    if (!response) own.on_warning = {};  // already printed
    const scene::RunResult result = run_once(options, part, !response, own);
    report.end_line();
    print_result(options, part.string(), result);
    sim::Recording& recording = recordings[response ? 0 : 1];
    recording = sim::read_recording(part / "recording");
    runs.push_back(media::viewer_run(part, recording));
    runs.back().label = response ? "with response" : "without response";
    if (!result.finished) break;
  }
  base::write_file(folder / "index.html", std::string_view(media::viewer_page(runs)));
  if (!options.quiet && !options.json)
    fmt::print("side by side: {}\n", bold((folder / "index.html").string()));
}

void run(const RunOptions& options)
{
  if (options.scene.empty() == options.resume.empty()) {
    throw CLI::ValidationError("run", "give either a scene file or --resume FOLDER");
  }
  if (options.compare && options.no_response) {
    throw CLI::ValidationError("--compare", "runs with and without response, so it excludes --no-response");
  }
  const bool changed = !options.output.empty() || !options.settings.empty() || options.duration > 0 ||
                       !options.seed.empty() || options.no_response || options.compare || options.sound ||
                       options.normalise;
  if (!options.resume.empty() && changed) {
    throw CLI::ValidationError(
        "--resume", "continues with the scene and the settings of the run, so no other settings are allowed");
  }
  base::StopSource stop;
  stop.stop_on_interrupt();
  ProgressLine report(options.quiet || options.json);
  scene::RunDesc desc;
  desc.version = THRUM_VERSION;
  desc.stop = stop.token();
  const bool quiet = options.quiet || options.json;
  media::RadiationReport radiation;
  desc.write_outputs = [&report, &radiation, quiet, stop = stop.token()](const scene::SceneDesc& scene,
                                                                         const std::filesystem::path& folder,
                                                                         const sim::Recording& recording) {
    std::vector<std::filesystem::path> files;
    // The page holds the sound, so it is made first.
    if (scene.sound) {
      report.end_line();
      media::RunSoundDesc sound;
      sound.preparation.stop = stop;
      try {
        const media::RunSound made = make_run_sound(folder, recording, sound, quiet);
        files = made.files;
        radiation = made.radiation;
      } catch (const base::Stopped&) {
        std::error_code none;
        for (const char* earlier : {"sound.wav", "sound.csv", "sources.npz"})
          std::filesystem::remove(folder / earlier, none);
        fmt::print(stderr, "warning: Stopped before the sound was made; 'thrum sound {}' makes it.\n",
                   folder.string());
      }
    } else {
      std::error_code none;
      std::filesystem::remove(folder / "sound.wav", none);  // of an earlier run
    }
    const std::vector<std::filesystem::path> others = media::write_run_outputs(scene, folder, recording);
    files.insert(files.end(), others.begin(), others.end());
    return files;
  };
  if (!options.quiet && !options.json) desc.preparation = {.stop = stop.token()};
  desc.on_progress = [&](const scene::RunProgress& progress) {
    report.show(progress);
  };
  if (!options.quiet)
    desc.on_warning = [](const std::string& sentence) {
      fmt::print(stderr, "warning: {}\n", sentence);
    };
  if (!options.resume.empty()) {
    desc.folder = options.resume;
    const scene::RunResult result = scene::resume_run(desc);
    report.end_line();
    print_result(options, options.resume, result, radiation);
    return;
  }
  const std::string folder = options.output.empty()
                                 ? "runs/" + std::filesystem::path(options.scene).stem().string()
                                 : options.output;
  if (options.compare) {
    run_both(options, folder, desc, report);
    return;
  }
  const scene::RunResult result = run_once(options, folder, options.no_response, desc);
  report.end_line();
  print_result(options, folder, result, radiation);
}

}  // namespace

void add_scene_run(CLI::App& app)
{
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Simulate a scene into a folder");
  command->add_option("scene", options->scene, "the scene file");
  command->add_option("-o,--output", options->output, "the folder to write; default: runs/NAME");
  command->add_option("--resume", options->resume, "continue the run in this folder");
  command->add_option("--set", options->settings, "change a value: path=value; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--duration", options->duration, "replaces that of the scene [s]")->check(positive());
  command->add_option("--seed", options->seed, "replaces that of the scene");
  command->add_flag("--sound", options->sound,
                    "record the contacts and write sound.wav, as \"sound\": true does");
  command->add_flag("--normalise", options->normalise,
                    "the sound gets a loudness of -18 LUFS, peaks at most -1 dBFS; turns sound on");
  command->add_flag("--no-response", options->no_response,
                    "rigid bodies only: impacts do not propagate through ringing bodies");
  command->add_flag("--compare", options->compare,
                    "run with and without response, and show both side by side on one page");
  command->add_flag("--json", options->json, "print the result as JSON");
  command->add_flag("--quiet", options->quiet, "print nothing but errors");
  command->callback([options] { run(*options); });
}

}  // namespace thrum::app
