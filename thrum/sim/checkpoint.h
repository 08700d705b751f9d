// SPDX-License-Identifier: MIT
// The whole state of a run in a file, to go on from it bit for bit. It is replaced in one step, so there is
// always one whole checkpoint: the last or the one before.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "thrum/base/hash.h"
#include "thrum/model/scene.h"

namespace thrum::sim {

struct Checkpoint {
  std::uint64_t steps_done = 0;        ///< whole steps of the run
  std::uint64_t recording_length = 0;  ///< of the recording at that moment [bytes]
  base::Hash128 source_hash;           ///< of the scene that is run
  model::SceneState state;
};

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

/// Throws InputError when the file is not whole or of another version.
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& file);
[[nodiscard]] Checkpoint parse_checkpoint(std::string_view bytes, const std::filesystem::path& name);
[[nodiscard]] std::string checkpoint_bytes(const Checkpoint& checkpoint);

}  // namespace thrum::sim
