// SPDX-License-Identifier: MIT
// A modal model as bytes, for the cache: quick to read back, tied to this version of the library. The file for other
// programs is the .npz one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "thrum/elastic/modal_analysis.h"

namespace thrum::elastic {

[[nodiscard]] std::vector<std::byte> pack(const ModalAnalysisResult& result);

/// Empty when the bytes were written by another version or are damaged.
[[nodiscard]] std::optional<ModalAnalysisResult> unpack(std::span<const std::byte> bytes);

}  // namespace thrum::elastic
