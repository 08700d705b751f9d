// SPDX-License-Identifier: MIT
// A modal model as bytes, for the cache: fast to read, valid for this version of the library only.
// modal_file.h writes the file for other programs.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "thrum/base/cache.h"
#include "thrum/base/hash.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/elastic/modal_version.h"
#include "thrum/elastic/surface_modes.h"

namespace thrum::elastic {

[[nodiscard]] std::vector<std::byte> pack(const ModalAnalysisResult& result);

/// Empty when the bytes were written by another version or are damaged.
[[nodiscard]] std::optional<ModalAnalysisResult> unpack(std::span<const std::byte> bytes);

/// Adds every part of the description that affects the result, and the versions of the code that assembles
/// and solves.
void add_to_hash(base::Hasher& hasher, const ModalAnalysisDesc& desc, const ModalVersions& versions);

/// The key of a mesh in the cache: a hash of everything that affects the result.
[[nodiscard]] base::Hash128 modal_key(const mesh::TetrahedralMesh& mesh, const ModalAnalysisDesc& desc,
                                      const ModalVersions& versions = kModalVersions);

/// The same of a surface.
[[nodiscard]] base::Hash128 surface_modal_key(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                              const ModalAnalysisDesc& desc,
                                              const ModalVersions& versions = kModalVersions);

/// The cached result of the key, or else the result of `analyse`, which is cached if it is complete.
[[nodiscard]] ModalAnalysisResult load_or_analyse(const base::Cache& cache, const base::Hash128& key,
                                                  const std::function<ModalAnalysisResult()>& analyse);

}  // namespace thrum::elastic
