// SPDX-License-Identifier: MIT
// As zip_checksums.h, for the chunks of a recording.
#pragma once

#include <string>

namespace thrum::fuzz {

/// Writes the correct CRC-32 into every chunk of the file.
[[nodiscard]] std::string fix_chunk_checksums(std::string bytes);

/// The same for a checkpoint, which has one, after its magic number and version.
[[nodiscard]] std::string fix_checkpoint_checksum(std::string bytes);

}  // namespace thrum::fuzz
