// SPDX-License-Identifier: MIT
// thrum export FOLDER: files from the recording of a run. thrum compare FOLDER FOLDER: where two runs
// diverge.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "apps/thrum/command.h"
#include "apps/thrum/scene_commands.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/counted.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/progress.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/media/motion_glb.h"
#include "thrum/media/run_outputs.h"
#include "thrum/media/snapshots.h"
#include "thrum/media/viewer_data.h"
#include "thrum/scene/run_scene.h"
#include "thrum/sound/audio_file.h"

namespace thrum::app {

namespace {

struct ExportOptions {
  std::string folder;
  std::string glb, npz, csv, png, page, strip, sheet, mp4;
  std::vector<std::string> modes;
  std::optional<double> time;  ///< [s]
  std::string size;
  std::string times;
  int count = 5;
  std::string grid = "4,3";
  double frame_rate = 30;  ///< [1/s]
  double speed = 1;
  bool arrows = false;
};

// BODY=FILE.npz
std::pair<std::string, model::ModalModel> read_modes(const std::string& word)
{
  const std::size_t cut = word.find('=');
  if (cut == 0 || cut == std::string::npos || cut + 1 == word.size())
    throw CLI::ValidationError("--modes", fmt::format("found '{}', expected BODY=FILE.npz", word));
  return {word.substr(0, cut), elastic::read_modal_file(word.substr(cut + 1))};
}

// width,height of one picture, or the default for the kind of file.
media::SnapshotDesc picture_size(const ExportOptions& options, int width, int height)
{
  media::SnapshotDesc desc{.width = width, .height = height};
  if (!options.size.empty()) {
    const std::vector<double> size = parse_numbers("--size", options.size, 2, "640,360");
    desc.width = static_cast<int>(size[0]);
    desc.height = static_cast<int>(size[1]);
    if (desc.width < 16 || desc.height < 16 || desc.width > 8192 || desc.height > 8192)
      throw CLI::ValidationError("--size",
                                 "found '" + options.size + "', expected width,height from 16 to 8192");
  }
  return desc;
}

constexpr double kTimeTolerance = 1e-6;  ///< times closer than this are equal [s]

double end_of(const sim::Recording& recording)
{
  return recording.frames.empty() ? 0.0 : recording.frames.back().time;
}

// Times beyond the end show the last frame; a note is printed.
void warn_times_past_end(const char* option, const std::vector<double>& times,
                         const sim::Recording& recording)
{
  const double end = end_of(recording);
  const auto late =
      std::find_if(times.begin(), times.end(), [&](double t) { return t > end + kTimeTolerance; });
  if (late == times.end()) return;
  fmt::print(stderr, "note: {}: {:.6g} s is beyond the end; the last frame, at {:.6g} s, is shown.\n", option,
             *late, end);
}

void print_written(const std::string& file, const std::string& what)
{
  fmt::print("{}: {}\n", bold(file), what);
}

void write_picture(const ExportOptions& options, const sim::Recording& recording)
{
  if (options.time) warn_times_past_end("--time", {*options.time}, recording);
  const double time = std::min(options.time.value_or(end_of(recording)), end_of(recording));
  const media::Image image = media::render_snapshot(recording, time, picture_size(options, 1280, 720));
  media::write_png(options.png, image);
  print_written(options.png, fmt::format("time {:.6g} s, {} x {} pixels", time, image.width, image.height));
}

void write_strip(const ExportOptions& options, const sim::Recording& recording)
{
  std::vector<double> times = media::evenly_spaced_times(recording, options.count);
  if (!options.times.empty()) {
    const auto commas = std::count(options.times.begin(), options.times.end(), ',');
    times = parse_numbers("--times", options.times, at(commas) + 1, "0,0.5,1");
    warn_times_past_end("--times", times, recording);
  }
  media::write_png(options.strip,
                   media::render_snapshot_strip(recording, times, picture_size(options, 480, 360)));
  print_written(options.strip, base::counted(times.size(), "frame") + " side by side");
}

void write_sheet(const ExportOptions& options, const sim::Recording& recording)
{
  const std::vector<double> grid = parse_numbers("--grid", options.grid, 2, "4,3");
  if (grid[0] < 1 || grid[1] < 1 || grid[0] > 100 || grid[1] > 100)
    throw CLI::ValidationError("--grid", "found '" + options.grid + "', expected columns,rows from 1 to 100");
  const int columns = static_cast<int>(grid[0]);
  const auto times = media::evenly_spaced_times(recording, columns * static_cast<int>(grid[1]));
  media::write_png(options.sheet,
                   media::render_snapshot_sheet(recording, times, columns, picture_size(options, 400, 300)));
  print_written(options.sheet, base::counted(times.size(), "frame") + " in rows");
}

// Before the film is drawn, and not in the words of ffmpeg.
void check_sound(const std::string& folder, const std::filesystem::path& file)
{
  try {
    (void)sound::read_audio_file(file);
  } catch (const Error& error) {
    throw Error(fmt::format("{}\n'thrum sound {}' makes it again.", error.what(), folder));
  }
}

void write_film(const ExportOptions& options, const sim::Recording& recording)
{
  constexpr double kParts = 1000;  // steps of the progress of a film
  base::StopSource stop;
  stop.stop_on_interrupt();
  media::FilmDesc film;
  film.picture = picture_size(options, 960, 540);
  film.picture.whole_run = true;
  film.frame_rate = options.frame_rate;
  film.speed = options.speed;
  film.stop = stop.token();
  base::Progress progress("film", static_cast<std::uint64_t>(kParts));
  film.on_progress = [&](double fraction) {
    const auto done = static_cast<std::uint64_t>(std::lround(kParts * fraction));
    progress.advance(done - progress.done());
  };
  const std::filesystem::path sound = std::filesystem::path(options.folder) / "sound.wav";
  if (std::filesystem::exists(sound)) {
    check_sound(options.folder, sound);
    film.sound = sound;
    if (options.speed != 1)
      fmt::print(stderr, "note: the film has no sound, which is only of the original speed.\n");
  } else if (!recording.header.note("sound").empty()) {
    fmt::print(stderr, "note: the film has no sound: {} is missing; 'thrum sound {}' makes it again.\n",
               sound.string(), options.folder);
  }
  media::write_film(options.mp4, recording, film);
  progress.finish();
  if (stop.stop_requested()) fmt::print(stderr, "note: stopped early, so the film is incomplete.\n");
  print_written(options.mp4, fmt::format("a film at {:.4g} x the original speed", options.speed));
}

// All errors in the file names are reported before the recording is read.
void check_files(const ExportOptions& options)
{
  if (options.glb.empty() && options.npz.empty() && options.csv.empty() && options.png.empty() &&
      options.page.empty() && options.strip.empty() && options.sheet.empty() && options.mp4.empty()) {
    throw CLI::ValidationError(
        "export",
        "no output selected: give --glb, --npz, --csv, --page, --png, --strip, --sheet "
        "or --mp4, each with a file");
  }
  check_output(options.glb, {".glb"});
  check_output(options.npz, {".npz"});
  check_output(options.csv, {".csv"});
  check_output(options.page, {".html"});
  check_output(options.mp4, {".mp4"});
  for (const std::string& picture : {options.png, options.strip, options.sheet})
    check_output(picture, {".png"});
}

// The recording in the folder of a run.
sim::Recording recording_in(const std::filesystem::path& folder)
{
  if (!std::filesystem::exists(folder / "recording") &&
      std::filesystem::exists(folder / "with" / "recording")) {
    throw Error(fmt::format("{} contains two runs: give {} or {}.", folder.string(),
                            (folder / "with").string(), (folder / "without").string()));
  }
  return sim::read_recording(folder / "recording");
}

void write_page(const ExportOptions& options, const sim::Recording& recording)
{
  media::ViewerRun run = media::viewer_run(options.folder, recording);
  for (const std::string& word : options.modes) run.modes.push_back(read_modes(word));
  base::write_file(options.page, std::string_view(media::viewer_page({run})));
  print_written(options.page, "open it in a browser");
}

void export_files(const ExportOptions& options)
{
  check_files(options);
  const sim::Recording recording = recording_in(options.folder);
  if (!recording.complete)
    fmt::print(stderr, "note: the run is incomplete and ends at {:.6g} s.\n", end_of(recording));
  const std::string content = fmt::format("{} of {}", base::counted(recording.frames.size(), "frame"),
                                          base::counted(recording.header.bodies.size(), "body", "bodies"));
  if (!options.glb.empty()) {
    base::write_file(options.glb,
                     std::string_view(media::motion_glb(recording, {.impulses = options.arrows})));
    print_written(options.glb, content);
  }
  if (!options.npz.empty()) {
    media::write_motion_npz(options.npz, recording);
    print_written(options.npz, content);
  }
  if (!options.csv.empty()) {
    const std::string table = media::events_csv(recording);
    base::write_file(options.csv, std::string_view(table));
    const auto lines = static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n'));
    print_written(options.csv, base::counted(lines > 0 ? lines - 1 : 0, "event"));
  }
  if (!options.page.empty()) write_page(options, recording);
  if (!options.png.empty()) write_picture(options, recording);
  if (!options.strip.empty()) write_strip(options, recording);
  if (!options.sheet.empty()) write_sheet(options, recording);
  if (!options.mp4.empty()) write_film(options, recording);
}

}  // namespace

void add_scene_export(CLI::App& app)
{
  auto exported = std::make_shared<ExportOptions>();
  CLI::App* exporting = app.add_subcommand("export", "Write files from the recording of a run");
  exporting->add_option("folder", exported->folder, "the folder of the run")->required();
  exporting->add_option("--glb", exported->glb, "the animated scene");
  exporting->add_option("--npz", exported->npz, "times, poses and energies as arrays");
  exporting->add_option("--csv", exported->csv, "the events as a table");
  exporting->add_option("--png", exported->png, "a picture of one frame");
  exporting->add_option("--page", exported->page, "a page that shows the run");
  exporting
      ->add_option("--modes", exported->modes, "modes to show on the page: BODY=FILE.npz; may be repeated")
      ->allow_extra_args(false);
  exporting->add_option("--time", exported->time, "time of the picture [s]; default: the end")
      ->check(not_negative());
  exporting->add_option("--strip", exported->strip, "a picture of several frames side by side");
  exporting->add_option("--times", exported->times,
                        "times of the strip: 0,0.5,1 [s]; default: evenly spaced");
  exporting->add_option("--count", exported->count, "number of frames in the strip")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  exporting->add_option("--sheet", exported->sheet, "a picture of many frames in rows");
  exporting->add_option("--grid", exported->grid, "columns,rows of the sheet")->capture_default_str();
  exporting->add_option("--mp4", exported->mp4, "a film (needs ffmpeg), with sound when the run has it");
  exporting->add_option("--frame-rate", exported->frame_rate, "frames per second of the film")
      ->check(positive())
      ->capture_default_str();
  exporting->add_option("--speed", exported->speed, "playback speed of the film; 0.25: four times slower")
      ->check(positive())
      ->capture_default_str();
  exporting->add_option("--size", exported->size, "width,height of one picture");
  exporting->add_flag("--arrows", exported->arrows, "contact impulses as animated arrows in the GLB");
  exporting->callback([exported] { export_files(*exported); });

  auto folders = std::make_shared<std::vector<std::string>>();
  CLI::App* compare =
      app.add_subcommand("compare", "Report where two runs diverge; exits with 1 when they do");
  compare->add_option("folders", *folders, "the folders of two runs")->required()->expected(2);
  compare->callback([folders] {
    const scene::RunComparison result =
        scene::compare_runs(recording_in((*folders)[0]), recording_in((*folders)[1]));
    fmt::print("{}\n", result.text);
    if (!result.same) throw CLI::RuntimeError(failed);
  });
}

}  // namespace thrum::app
