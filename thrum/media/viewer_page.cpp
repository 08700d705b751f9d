// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/media/pages.h"
#include "thrum/media/run_sound.h"
#include "thrum/media/viewer_data.h"
#include "thrum/sound/audio_file.h"

namespace thrum::media {

namespace {

// What `read` reads of the sound of a run; of a damaged file it is told what makes it again.
template <typename Read>
auto read_sound_part(const std::filesystem::path& folder, const char* options, const Read& read)
{
  try {
    return read();
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}\n'thrum sound {}{}' makes it again.", error.what(), folder.string(), options));
  }
}

std::string sound_text(const std::filesystem::path& file)
{
  (void)sound::read_audio_file(file);
  return base::read_text_file(file);
}

}  // namespace

ViewerRun viewer_run(const std::filesystem::path& folder, const sim::Recording& recording)
{
  ViewerRun run{.recording = &recording};
  std::error_code none;
  if (std::filesystem::is_regular_file(folder / "sound.wav", none))
    run.sound = read_sound_part(folder, "", [&] { return sound_text(folder / "sound.wav"); });
  const std::vector<std::string> stem_files = stem_names(recording.header);
  for (std::size_t b = 0; b < stem_files.size() && !run.sound.empty(); ++b) {
    const std::filesystem::path stem = folder / "stems" / stem_files[b];
    if (std::filesystem::is_regular_file(stem, none))
      run.stems[b] = read_sound_part(folder, " --stems", [&] { return sound::read_audio_file(stem); });
  }
  if (!run.sound.empty() && std::filesystem::is_regular_file(folder / "sources.npz", none)) {
    run.sources = read_sound_part(folder, "", [&] { return read_sound_sources(folder / "sources.npz"); });
    if (run.sources->centres.size() != recording.header.bodies.size())
      throw Error(fmt::format("{}: it has {} bodies, the run {}. 'thrum sound {}' makes it again.",
                              (folder / "sources.npz").string(), run.sources->centres.size(),
                              recording.header.bodies.size(), folder.string()));
  }
  if (!std::filesystem::is_directory(folder / "modes", none)) return run;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "modes")) {
    if (entry.path().extension() == ".npz") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) run.modes.emplace_back(file.stem().string(), elastic::read_modal_file(file));
  return run;
}

std::string viewer_page(const std::vector<ViewerRun>& runs)
{
  return fill_page("viewer", viewer_data(runs));
}

}  // namespace thrum::media
