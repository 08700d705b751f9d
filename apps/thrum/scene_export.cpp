// SPDX-License-Identifier: MIT
// thrum export FOLDER: files from the recording of a run. thrum compare FOLDER FOLDER: where two runs part.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/thrum/command.h"
#include "apps/thrum/scene_commands.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/progress.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/scene/moments.h"
#include "thrum/scene/motion_glb.h"
#include "thrum/scene/run_scene.h"
#include "thrum/scene/viewer_data.h"

namespace thrum::app {

namespace {

struct ExportOptions {
  std::string folder;
  std::string glb, npz, csv, png, page, strip, sheet, mp4;
  std::vector<std::string> modes;
  double time = -1;
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

// width,height of one picture, or what suits the kind of file.
scene::MomentDesc picture_size(const ExportOptions& options, int width, int height)
{
  scene::MomentDesc desc{.width = width, .height = height};
  if (!options.size.empty()) {
    const std::vector<double> size = parse_numbers("--size", options.size, 2);
    desc.width = static_cast<int>(size[0]);
    desc.height = static_cast<int>(size[1]);
    if (desc.width < 16 || desc.height < 16 || desc.width > 8192 || desc.height > 8192)
      throw CLI::ValidationError("--size", "found '" + options.size + "', expected sides from 16 to 8192");
  }
  return desc;
}

void write_pictures(const ExportOptions& options, const sim::Recording& recording)
{
  if (!options.png.empty()) {
    scene::write_png(options.png,
                     scene::picture_of_moment(recording, options.time, picture_size(options, 1280, 720)));
  }
  if (!options.strip.empty()) {
    std::vector<double> times = scene::evenly_spaced(recording, options.count);
    if (!options.times.empty()) {
      const auto commas = std::count(options.times.begin(), options.times.end(), ',');
      times = parse_numbers("--times", options.times, static_cast<std::size_t>(commas) + 1);
    }
    scene::write_png(options.strip,
                     scene::strip_of_moments(recording, times, picture_size(options, 480, 360)));
  }
  if (!options.sheet.empty()) {
    const std::vector<double> grid = parse_numbers("--grid", options.grid, 2);
    if (grid[0] < 1 || grid[1] < 1 || grid[0] > 100 || grid[1] > 100)
      throw CLI::ValidationError("--grid",
                                 "found '" + options.grid + "', expected columns,rows from 1 to 100");
    const int columns = static_cast<int>(grid[0]);
    const auto times = scene::evenly_spaced(recording, columns * static_cast<int>(grid[1]));
    scene::write_png(options.sheet,
                     scene::sheet_of_moments(recording, times, columns, picture_size(options, 400, 300)));
  }
}

void write_film(const ExportOptions& options, const sim::Recording& recording)
{
  base::StopSource stop;
  stop.on_interrupt();
  scene::FilmDesc film;
  film.picture = picture_size(options, 960, 540);
  film.picture.whole_run = true;
  film.frame_rate = options.frame_rate;
  film.speed = options.speed;
  film.stop = stop.token();
  const std::filesystem::path sound = std::filesystem::path(options.folder) / "sound.wav";
  if (std::filesystem::exists(sound)) film.sound = sound;
  scene::write_film(options.mp4, recording, film);
}

void export_files(const ExportOptions& options)
{
  if (options.glb.empty() && options.npz.empty() && options.csv.empty() && options.png.empty() &&
      options.page.empty() && options.strip.empty() && options.sheet.empty() && options.mp4.empty()) {
    throw CLI::ValidationError("export",
                               "say what to write: --glb, --npz, --csv, --page, --png, --strip, --sheet "
                               "or --mp4, each with a file");
  }
  const sim::Recording recording = sim::read_recording(std::filesystem::path(options.folder) / "recording");
  if (!recording.complete) {
    fmt::print(stderr, "note: the run was cut short after {:.6g} s.\n",
               recording.frames.empty() ? 0.0 : recording.frames.back().time);
  }
  if (!options.glb.empty())
    base::write_file(options.glb,
                     std::string_view(scene::motion_glb(recording, {.impulses = options.arrows})));
  if (!options.npz.empty()) scene::write_motion_npz(options.npz, recording);
  if (!options.csv.empty()) base::write_file(options.csv, std::string_view(scene::events_csv(recording)));
  if (!options.page.empty()) {
    scene::ViewerRun run = scene::viewer_run(options.folder, recording);
    for (const std::string& word : options.modes) run.modes.push_back(read_modes(word));
    base::write_file(options.page, std::string_view(scene::viewer_page({run})));
  }
  write_pictures(options, recording);
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
  exporting->add_option("--png", exported->png, "a picture of one moment");
  exporting->add_option("--page", exported->page, "the page that shows the run");
  exporting
      ->add_option("--modes", exported->modes, "modes to show on the page: BODY=FILE.npz; may be repeated")
      ->allow_extra_args(false);
  exporting->add_option("--time", exported->time, "of the picture; by itself: the end [s]");
  exporting->add_option("--strip", exported->strip, "a picture of several moments side by side");
  exporting->add_option("--times", exported->times, "of the strip: 0,0.5,1 [s]; by itself: evenly spaced");
  exporting->add_option("--count", exported->count, "of moments in the strip")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  exporting->add_option("--sheet", exported->sheet, "a picture of many moments in rows");
  exporting->add_option("--grid", exported->grid, "of the sheet: columns,rows")->capture_default_str();
  exporting->add_option("--mp4", exported->mp4, "a film, through ffmpeg; with sound when the run has it");
  exporting->add_option("--rate", exported->frame_rate, "pictures of the film in a second")
      ->check(positive())
      ->capture_default_str();
  exporting->add_option("--speed", exported->speed, "of the film; 0.25: four times slower")
      ->check(positive())
      ->capture_default_str();
  exporting->add_option("--size", exported->size, "of one picture: width,height");
  exporting->add_flag("--arrows", exported->arrows, "contact impulses as animated arrows in the GLB");
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
