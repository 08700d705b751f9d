// SPDX-License-Identifier: MIT
// Checksums reject nearly every change of a zip file before the rest of the reader sees it. A fuzzer gets
// further when they are corrected.
#pragma once

#include <string>

namespace thrum::fuzz {

/// Writes the correct CRC-32 into every entry of the table of contents that points into the file.
[[nodiscard]] std::string fix_zip_checksums(std::string bytes);

}  // namespace thrum::fuzz
