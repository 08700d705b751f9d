// SPDX-License-Identifier: MIT
// The page of a run: all data that web/src/viewer shows, as one JSON text with numbers as base64.
//
//   const sim::Recording recording = sim::read_recording("runs/hello/recording");
//   base::write_file("hello.html", viewer_page({{.recording = &recording}}));
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "thrum/media/sound_sources.h"
#include "thrum/model/modal_model.h"
#include "thrum/sim/recording.h"
#include "thrum/sound/audio.h"

namespace thrum::media {

/// One run on a page. Two runs are shown side by side.
struct ViewerRun {
  const sim::Recording* recording = nullptr;             ///< must outlive the call
  std::string label = {};                                ///< above the picture when there are two
  std::string sound = {};                                ///< bytes of a WAV file, or none
  std::map<std::size_t, sound::AudioBuffer> stems = {};  ///< parts of that sound, by the number of the body
  std::optional<SoundSources> sources = {};              ///< of that sound, for a listener at the camera
  std::vector<std::pair<std::string, model::ModalModel>> modes = {};  ///< of bodies, by name
};

/// The files of a run's folder that are shown on its page besides the recording: `sound.wav`, its parts
/// `stems/NAME.wav` and `sources.npz`, and `modes/NAME.npz` for the body (or the bodies NAME/0, NAME/1 ...)
/// of that name, '/' in names written as '_'. Throws InputError when a file exists but is invalid.
[[nodiscard]] ViewerRun viewer_run(const std::filesystem::path& folder, const sim::Recording& recording);

/// Throws Error when a modal file is for a body that does not exist.
[[nodiscard]] std::string viewer_data(const std::vector<ViewerRun>& runs);

/// The whole page. Throws Error when thrum was built without pages.
[[nodiscard]] std::string viewer_page(const std::vector<ViewerRun>& runs);

}  // namespace thrum::media
