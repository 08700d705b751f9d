// SPDX-License-Identifier: MIT
// thrum run SCENE: simulates a scene into a folder. thrum export FOLDER: files from its recording.
// thrum compare FOLDER FOLDER: where two runs part.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/thrum/command.h"
#include "apps/thrum/scene_commands.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/timing.h"
#include "thrum/scene/motion_glb.h"
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
  bool json = false;
  bool quiet = false;
};

// A line with the time left and the pace: redrawn on a terminal, now and then elsewhere.
class RunReport {
 public:
  explicit RunReport(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) == 1) {}
  ~RunReport()
  {
    if (drawn_ && terminal_) fmt::print(stderr, "\n");
  }

  void show(const scene::RunProgress& p)
  {
    if (quiet_ || p.wall_seconds < next_) return;
    next_ = p.wall_seconds + (terminal_ ? kRedrawInterval : kLineInterval);
    drawn_ = true;
    const double left = p.real_time_factor > 0 ? (p.duration - p.time) / p.real_time_factor : 0;
    fmt::print(stderr, "{}{:5.1f} % of {:.3g} s, {:.3g} x real time, {} left{}", terminal_ ? "\r" : "",
               100 * p.time / p.duration, p.duration, p.real_time_factor, base::readable_duration(left),
               terminal_ ? "   " : "\n");
  }

 private:
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  double next_ = kRedrawInterval;
};

void print_result(const RunOptions& options, const std::string& folder, const scene::RunResult& result)
{
  if (options.json) {
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (const auto& file : result.files) files.push_back(file.string());
    const nlohmann::ordered_json out = {{"folder", folder},
                                        {"finished", result.finished},
                                        {"steps", result.steps},
                                        {"simulated", result.simulated},
                                        {"wall_seconds", result.wall_seconds},
                                        {"final_hash", base::to_hex(result.final_hash)},
                                        {"files", files}};
    fmt::print("{}\n", out.dump());
    return;
  }
  if (options.quiet) return;
  fmt::print("{}: {:.6g} s in {} steps, {} of computing, {:.3g} x real time\n", bold(folder),
             result.simulated, result.steps, base::readable_duration(result.wall_seconds),
             result.wall_seconds > 0 ? result.simulated / result.wall_seconds : 0);
  for (const auto& file : result.files) fmt::print("  {}\n", file.filename().string());
  fmt::print("  state hash {}\n", base::to_hex(result.final_hash));
  if (!result.finished) {
    fmt::print("{}\n", warning(fmt::format("Stopped early; 'thrum run --resume {}' goes on.", folder)));
  }
}

void run(const RunOptions& options)
{
  if (options.scene.empty() == options.resume.empty()) {
    throw CLI::ValidationError("run", "give either a scene file or --resume FOLDER");
  }
  base::StopSource stop;
  stop.on_interrupt();
  RunReport report(options.quiet || options.json);
  scene::RunDesc desc;
  desc.version = THRUM_VERSION;
  desc.stop = stop.token();
  desc.on_progress = [&](const scene::RunProgress& progress) {
    report.show(progress);
  };
  if (!options.resume.empty()) {
    desc.folder = options.resume;
    print_result(options, options.resume, scene::resume_run(desc));
    return;
  }
  desc.scene_file = options.scene;
  desc.reading.settings = options.settings;
  if (options.duration > 0)
    desc.reading.settings.push_back(fmt::format("duration={:.17g}", options.duration));
  if (!options.seed.empty()) desc.reading.settings.push_back("seed=" + options.seed);
  if (options.no_response) desc.reading.settings.emplace_back("response.method=none");
  const scene::SceneDesc scene = scene::read_scene(desc.scene_file, desc.reading);
  const std::string folder = options.output.empty()
                                 ? "runs/" + std::filesystem::path(options.scene).stem().string()
                                 : options.output;
  desc.folder = folder;
  print_result(options, folder, scene::run_scene(scene, desc));
}

struct ExportOptions {
  std::string folder;
  std::string glb, npz, csv, png;
  double time = -1;
  std::string size = "1280,720";
};

void export_files(const ExportOptions& options)
{
  if (options.glb.empty() && options.npz.empty() && options.csv.empty() && options.png.empty()) {
    throw CLI::ValidationError("export", "say what to write: --glb, --npz, --csv or --png, each with a file");
  }
  const sim::Recording recording = sim::read_recording(std::filesystem::path(options.folder) / "recording");
  if (!recording.complete) {
    fmt::print(stderr, "note: the run was cut short after {:.6g} s.\n",
               recording.frames.empty() ? 0.0 : recording.frames.back().time);
  }
  if (!options.glb.empty()) base::write_file(options.glb, std::string_view(scene::motion_glb(recording)));
  if (!options.npz.empty()) scene::write_motion_npz(options.npz, recording);
  if (!options.csv.empty()) base::write_file(options.csv, std::string_view(scene::events_csv(recording)));
  if (!options.png.empty()) {
    const std::vector<double> size = parse_numbers("--size", options.size, 2);
    scene::write_png(options.png, scene::picture_of_moment(recording, options.time, static_cast<int>(size[0]),
                                                           static_cast<int>(size[1])));
  }
}

}  // namespace

void add_scene_run(CLI::App& app)
{
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Simulate a scene into a folder");
  command->add_option("scene", options->scene, "the scene file");
  command->add_option("-o,--output", options->output, "the folder to write; by itself: runs/NAME");
  command->add_option("--resume", options->resume, "go on with the run in this folder");
  command->add_option("--set", options->settings, "change a value: path=value; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--duration", options->duration, "instead of the scene's [s]")->check(positive());
  command->add_option("--seed", options->seed, "instead of the scene's");
  command->add_flag("--no-response", options->no_response, "impacts do not travel through bodies");
  command->add_flag("--json", options->json, "print the result as JSON");
  command->add_flag("--quiet", options->quiet, "print nothing but errors");
  command->callback([options] { run(*options); });

  auto exported = std::make_shared<ExportOptions>();
  CLI::App* exporting = app.add_subcommand("export", "Write files from the recording of a run");
  exporting->add_option("folder", exported->folder, "the folder of the run")->required();
  exporting->add_option("--glb", exported->glb, "the animated scene");
  exporting->add_option("--npz", exported->npz, "times, poses and energies as arrays");
  exporting->add_option("--csv", exported->csv, "the events as a table");
  exporting->add_option("--png", exported->png, "a picture of one moment");
  exporting->add_option("--time", exported->time, "of the picture; by itself: the end [s]");
  exporting->add_option("--size", exported->size, "of the picture: width,height")->capture_default_str();
  exporting->callback([exported] { export_files(*exported); });

  auto folders = std::make_shared<std::vector<std::string>>();
  CLI::App* compare = app.add_subcommand("compare", "Say where two runs part; fails when they do");
  compare->add_option("folders", *folders, "the folders of two runs")->required()->expected(2);
  compare->callback([folders] {
    const auto read = [](const std::string& folder) {
      return sim::read_recording(std::filesystem::path(folder) / "recording");
    };
    const scene::RunComparison result = scene::compare_runs(read((*folders)[0]), read((*folders)[1]));
    fmt::print("{}\n", result.text);
    if (!result.same) throw CLI::RuntimeError(failed);
  });
}

}  // namespace thrum::app
