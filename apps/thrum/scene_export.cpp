// SPDX-License-Identifier: MIT
// thrum export FOLDER: files from the recording of a run. thrum compare FOLDER FOLDER: where two runs part.
#include <fmt/format.h>

#include <memory>

#include "apps/thrum/command.h"
#include "apps/thrum/scene_commands.h"
#include "thrum/base/atomic_file.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/scene/motion_glb.h"
#include "thrum/scene/run_scene.h"
#include "thrum/scene/viewer_data.h"

namespace thrum::app {

namespace {

struct ExportOptions {
  std::string folder;
  std::string glb, npz, csv, png, page;
  std::vector<std::string> modes;
  double time = -1;
  std::string size = "1280,720";
};

// BODY=FILE.npz
std::pair<std::string, model::ModalModel> read_modes(const std::string& word)
{
  const std::size_t cut = word.find('=');
  if (cut == 0 || cut == std::string::npos || cut + 1 == word.size())
    throw CLI::ValidationError("--modes", fmt::format("found '{}', expected BODY=FILE.npz", word));
  return {word.substr(0, cut), elastic::read_modal_file(word.substr(cut + 1))};
}

void export_files(const ExportOptions& options)
{
  if (options.glb.empty() && options.npz.empty() && options.csv.empty() && options.png.empty() &&
      options.page.empty()) {
    throw CLI::ValidationError("export",
                               "say what to write: --glb, --npz, --csv, --page or --png, each with a file");
  }
  const sim::Recording recording = sim::read_recording(std::filesystem::path(options.folder) / "recording");
  if (!recording.complete) {
    fmt::print(stderr, "note: the run was cut short after {:.6g} s.\n",
               recording.frames.empty() ? 0.0 : recording.frames.back().time);
  }
  if (!options.glb.empty()) base::write_file(options.glb, std::string_view(scene::motion_glb(recording)));
  if (!options.npz.empty()) scene::write_motion_npz(options.npz, recording);
  if (!options.csv.empty()) base::write_file(options.csv, std::string_view(scene::events_csv(recording)));
  if (!options.page.empty()) {
    scene::ViewerRun run = scene::viewer_run(options.folder, recording);
    for (const std::string& word : options.modes) run.modes.push_back(read_modes(word));
    base::write_file(options.page, std::string_view(scene::viewer_page({run})));
  }
  if (!options.png.empty()) {
    const std::vector<double> size = parse_numbers("--size", options.size, 2);
    scene::write_png(options.png, scene::picture_of_moment(recording, options.time, static_cast<int>(size[0]),
                                                           static_cast<int>(size[1])));
  }
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
