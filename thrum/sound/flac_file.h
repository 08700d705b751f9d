// SPDX-License-Identifier: MIT
// The part of sound files that takes libsndfile. Without it both functions throw Error.
#pragma once

#include <filesystem>
#include <string_view>

#include "thrum/sound/audio.h"

namespace thrum::sound {

/// 24-bit FLAC; samples above full scale are limited to it.
void write_flac(const std::filesystem::path& path, const AudioBuffer& sound, double full_scale);

/// The samples of a file that was read into memory; `path` is for messages.
[[nodiscard]] AudioBuffer read_by_library(const std::filesystem::path& path, std::string_view bytes);

}  // namespace thrum::sound
