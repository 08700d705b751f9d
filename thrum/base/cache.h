// SPDX-License-Identifier: MIT
// Precomputed data on disk, keyed by the hash of their whole input: a second run is fast, and stale data are
// never used because a changed input has another key.
//
//   Cache cache;                                               // the user's own, see default_cache_folder()
//   if (const auto data = cache.load("modes", key)) return unpack(*data);
//   cache.store("modes", key, pack(result));
//
// An entry is one file, written under a temporary name and renamed, with a checksum inside. So a kill while
// writing leaves no entry, two processes may share a folder, and a damaged entry is a miss (and is removed).
// The cache never fails: when the folder cannot be created or written to, nothing is kept and every load is a
// miss.
//
// When the entries together exceed the limit, the least recently used ones are removed. The time of the last
// use is the modification time of the file, which load() renews.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thrum/base/hash.h"

namespace thrum::base {

/// $THRUM_CACHE_DIR, else $XDG_CACHE_HOME/thrum, else ~/.cache/thrum; empty when none is known.
[[nodiscard]] std::filesystem::path default_cache_folder();

struct CacheDesc {
  std::filesystem::path folder = default_cache_folder();  ///< empty: keep nothing
  std::uint64_t size_limit = std::uint64_t{4} << 30;      ///< all entries together [byte]
};

class Cache {
 public:
  explicit Cache(CacheDesc desc = {});

  /// The data stored under this kind and key, or nothing. `kind` is a word such as "modes" that is part of
  /// the file name; letters, digits, '-' and '_' are allowed.
  [[nodiscard]] std::optional<std::vector<std::byte>> load(std::string_view kind, const Hash128& key) const;

  /// Stores the data; returns whether that succeeded.
  bool store(std::string_view kind, const Hash128& key, std::span<const std::byte> data) const;

  /// Removes one entry; returns whether there was one.
  bool remove(std::string_view kind, const Hash128& key) const;

  /// Removes the least recently used entries until the total is within `size_limit`, and temporary files of
  /// killed writers.
  void evict() const;

  /// Removes all entries.
  void clear() const;

  /// All entries together [byte].
  [[nodiscard]] std::uint64_t size() const;

  [[nodiscard]] const std::filesystem::path& folder() const { return desc_.folder; }
  [[nodiscard]] std::filesystem::path path_of(std::string_view kind, const Hash128& key) const;

 private:
  CacheDesc desc_;
};

}  // namespace thrum::base
