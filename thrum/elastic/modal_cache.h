// SPDX-License-Identifier: MIT
// A modal model as bytes, for the cache: quick to read back, tied to this version of the library. The file for other
// programs is the .npz one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "thrum/base/cache.h"
#include "thrum/base/hash.h"
#include "thrum/elastic/modal_analysis.h"

namespace thrum::elastic {

[[nodiscard]] std::vector<std::byte> pack(const ModalAnalysisResult& result);

/// Empty when the bytes were written by another version or are damaged.
[[nodiscard]] std::optional<ModalAnalysisResult> unpack(std::span<const std::byte> bytes);

/// Everything of the description that decides the result.
void add_to_hash(base::Hasher& hasher, const ModalAnalysisDesc& desc);

/// What the cache holds under the key, or else what `analyse` returns, which is kept if it is complete.
[[nodiscard]] ModalAnalysisResult load_or_analyse(const base::Cache& cache, const base::Hash128& key,
                                                  const std::function<ModalAnalysisResult()>& analyse);

}  // namespace thrum::elastic
