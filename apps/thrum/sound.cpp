// SPDX-License-Identifier: MIT
// thrum sound FOLDER: the sound of a run, again and with other settings, without simulating.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/thrum/command.h"
#include "apps/thrum/scene_commands.h"
#include "apps/thrum/sound_report.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/counted.h"
#include "thrum/base/timing.h"
#include "thrum/media/pages.h"
#include "thrum/media/viewer_data.h"

namespace thrum::app {

namespace {

struct SoundOptions {
  std::string folder;
  std::string output;
  std::vector<std::string> settings;
  SoundPictures pictures;
  std::vector<std::string> mute;
  bool normalise = false;
  bool stems = false;
  bool json = false;
  bool quiet = false;
};

constexpr const char* kChangeable[] = {"sound", "listener", "materials", "material_pairs", "bodies"};

double level_of(double pressure)
{
  constexpr double kReference = 20e-6;
  return pressure > 0 ? 20 * std::log10(pressure / kReference) : -std::numeric_limits<double>::infinity();
}

void print_result(const SoundOptions& options, const media::RunSound& result)
{
  if (options.json) {
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (const auto& file : result.files) files.push_back(file.string());
    const nlohmann::ordered_json out = {{"seconds", result.sound.duration()},
                                        {"channels", result.sound.channels.size()},
                                        {"bodies", result.sounding_bodies},
                                        {"modes", result.modes},
                                        {"diffuse_modes", result.diffuse_modes},
                                        {"impacts", result.impacts},
                                        {"peak", result.peak},
                                        {"full_scale", result.full_scale},
                                        {"modes_seconds", result.modes_seconds},
                                        {"synthesis_seconds", result.synthesis_seconds},
                                        {"radiation", radiation_json(result.radiation)},
                                        {"warnings", result.warnings},
                                        {"files", files}};
    fmt::print("{}\n", out.dump());
    return;
  }
  if (options.quiet) return;
  const std::string diffuse =
      result.diffuse_modes > 0 ? fmt::format(" and {} diffuse ones above", result.diffuse_modes) : "";
  fmt::print("{:.3g} s of sound: {} with {}{}, {}; peak {:.3g} Pa ({:.0f} dB), full scale {:.3g} Pa\n",
             result.sound.duration(), base::counted(result.sounding_bodies, "body", "bodies"),
             base::counted(result.modes, "mode"), diffuse, base::counted(result.impacts, "impact"),
             result.peak, level_of(result.peak), result.full_scale);
  fmt::print("modes in {}, synthesis in {} ({:.3g} x real time)\n",
             base::readable_duration(result.modes_seconds), base::readable_duration(result.synthesis_seconds),
             result.sound.duration() / std::max(result.synthesis_seconds, 1e-9));
  fmt::print("{}\n", loudness_text(result.sound, result.full_scale));
  for (const auto& file : result.files) fmt::print("  {}\n", file.string());
}

sim::Recording recording_of_run(const std::filesystem::path& folder)
{
  const std::filesystem::path file = folder / "recording";
  if (std::filesystem::exists(file)) return sim::read_recording(file);
  if (std::filesystem::exists(folder / "with" / "recording"))
    throw Error(fmt::format("{} contains two runs: give {} or {}.", folder.string(),
                            (folder / "with").string(), (folder / "without").string()));
  throw Error(fmt::format("{} is no run folder: it {}. Give a folder that 'thrum run' wrote.",
                          folder.string(),
                          !std::filesystem::exists(folder)         ? "does not exist"
                          : !std::filesystem::is_directory(folder) ? "is a file"
                                                                   : "has no recording"));
}

void sound(const SoundOptions& options)
{
  check_output(options.output, {".wav", ".flac"});
  check_sound_pictures(options.pictures);
  for (const std::string& setting : options.settings) {
    const bool is_heard = std::any_of(std::begin(kChangeable), std::end(kChangeable), [&](const char* part) {
      return setting.starts_with(std::string(part) + ".");
    });
    if (!is_heard)
      throw Error(
          fmt::format("--set {}: only values of sound, listener, materials, material_pairs and bodies can be "
                      "changed without simulating again, such as sound.contact_damping_scale=20, "
                      "materials.steel.gain=2 or bodies.mug.material=glass.",
                      setting));
  }
  const bool has_scale =
      std::any_of(options.settings.begin(), options.settings.end(),
                  [](const auto& setting) { return setting.starts_with("sound.full_scale="); });
  if (options.normalise && has_scale)
    throw CLI::ValidationError("--normalise", "chooses full scale, so it excludes --set sound.full_scale");
  const sim::Recording recording = recording_of_run(options.folder);
  if (options.output.empty())
    check_output((std::filesystem::path(options.folder) / "sound.wav").string(), {});
  base::StopSource stop;
  stop.stop_on_interrupt();
  media::RunSoundDesc desc;
  desc.settings = options.settings;
  if (options.stems) desc.settings.emplace_back("sound.stems=true");
  if (options.normalise) desc.settings.emplace_back("sound.normalise=true");
  desc.mute = options.mute;
  desc.output = options.output;
  desc.preparation.stop = stop.token();
  const media::RunSound result =
      make_run_sound(options.folder, recording, desc, options.quiet || options.json);
  print_result(options, result);
  write_sound_pictures(options.pictures, result.sound, "", result.mode_frequencies);
  // The page of the run holds its sound.
  const std::filesystem::path page = std::filesystem::path(options.folder) / "index.html";
  if (media::is_sound_of_run(options.folder, options.output) && std::filesystem::exists(page) &&
      !media::page_template("viewer").empty())
    base::write_file(page,
                     std::string_view(media::viewer_page({media::viewer_run(options.folder, recording)})));
}

}  // namespace

media::RunSound make_run_sound(const std::filesystem::path& folder, const sim::Recording& recording,
                               media::RunSoundDesc desc, bool quiet)
{
  constexpr double kParts = 1000;
  if (!quiet) {
    const base::StopToken stop = desc.preparation.stop;
    desc.preparation = {.stop = stop};
  }
  desc.on_warning = [](const std::string& warning) {
    fmt::print(stderr, "warning: {}\n", warning);
  };
  media::RunSound result;
  if (quiet) {
    result = media::write_run_sound(folder, recording, desc);
  } else {
    std::unique_ptr<base::Progress> progress;
    desc.on_progress = [&](double fraction) {
      if (!progress) progress = std::make_unique<base::Progress>("sound", static_cast<std::uint64_t>(kParts));
      const auto now = static_cast<std::uint64_t>(fraction * kParts);
      if (now > progress->done()) progress->advance(now - progress->done());
    };
    result = media::write_run_sound(folder, recording, desc);
  }
  if (const std::string radiation = result.radiation.text(); !quiet && !radiation.empty())
    fmt::print("{}\n", radiation);
  return result;
}

nlohmann::ordered_json radiation_json(const media::RadiationReport& report)
{
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const media::BodyRadiation& entry : report.entries()) {
    list.push_back({{"body", entry.body},
                    {"bodies", entry.bodies},
                    {"modes", entry.modes},
                    {"scalar_modes", entry.scalar_modes},
                    {"mean_residual", entry.mean_residual},
                    {"max_residual", entry.max_residual}});
  }
  return list;
}

void add_sound(CLI::App& app)
{
  auto options = std::make_shared<SoundOptions>();
  CLI::App* command = app.add_subcommand("sound", "Make the sound of a run again, with other settings");
  command->add_option("folder", options->folder, "the folder of a run with sound")->required();
  command->add_option(
      "-o,--output", options->output,
      ".wav or .flac; default: sound.wav in the folder. The table of impacts is sound.csv of the run, "
      "or NAME_impacts.csv with -o NAME.wav");
  command
      ->add_option("--set", options->settings,
                   "change a value of sound, listener, materials, material_pairs or bodies: "
                   "sound.contact_damping_scale=20, materials.steel.gain=2, "
                   "material_pairs.steel,wood.roughness=2e-6, bodies.mug.material=glass; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--mute", options->mute,
                   "a body that is not heard, or all that a repeated one made; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--normalise", options->normalise,
                    "choose full scale for a loudness of -18 LUFS, peaks at most -1 dBFS");
  command->add_flag(
      "--stems", options->stems,
      "write a file per body too, in the folder stems of the run, or NAME_stems with -o NAME.wav");
  add_sound_pictures(*command, options->pictures);
  command->add_flag("--json", options->json, "print the result as JSON");
  command->add_flag("--quiet", options->quiet, "print nothing but errors and warnings");
  command->footer(
      "The run must have recorded its contacts: \"sound\": true in the scene, or thrum run --sound.");
  command->callback([options, command] {
    if (command->count("--output") > 0 && options->output.empty())
      throw CLI::ValidationError("--output", "is empty; give the name of a file, or leave it out");
    sound(*options);
  });
}

}  // namespace thrum::app
