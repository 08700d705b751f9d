// SPDX-License-Identifier: MIT
// Checksums keep nearly every change of a zip file away from what lies behind them. A fuzzer gets further when
// they are made right again.
#pragma once

#include <string>

namespace thrum::fuzz {

/// Puts the right CRC-32 into every entry of the table of contents that points into the file.
[[nodiscard]] std::string fix_zip_checksums(std::string bytes);

}  // namespace thrum::fuzz
