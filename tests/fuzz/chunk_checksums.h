// SPDX-License-Identifier: MIT
// As zip_checksums.h, for the chunks of a recording.
#pragma once

#include <string>

namespace thrum::fuzz {

/// Puts the right CRC-32 into every chunk that lies in the file.
[[nodiscard]] std::string fix_chunk_checksums(std::string bytes);

/// The same for a checkpoint, which has one, after its mark and version.
[[nodiscard]] std::string fix_checkpoint_checksum(std::string bytes);

}  // namespace thrum::fuzz
