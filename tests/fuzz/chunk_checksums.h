// SPDX-License-Identifier: MIT
// As zip_checksums.h, for the chunks of a recording.
#pragma once

#include <string>

namespace thrum::fuzz {

/// Puts the right CRC-32 into every chunk that lies in the file.
[[nodiscard]] std::string with_right_chunks(std::string bytes);

/// The same for a checkpoint, which has one, after its mark and version.
[[nodiscard]] std::string with_right_head(std::string bytes);

}  // namespace thrum::fuzz
