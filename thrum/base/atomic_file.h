// SPDX-License-Identifier: MIT
// Files that are either complete or absent, and reading a whole file at once.
//
// Data are written to a temporary file in the same folder, which is flushed to the disk and then renamed to
// its final name in one step. A reader, a crash or a kill in between sees the old file or the new one, never
// half of one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thrum::base {

/// Writes a file piece by piece; commit() gives it its final name. Without commit() the temporary file is
/// removed.
///
///   AtomicFile file("plate.ply");
///   file.write(header);
///   file.write(std::as_bytes(std::span(vertices)));
///   file.commit();
class AtomicFile {
 public:
  /// Throws Error, with the reason, when the folder cannot be written to.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Throws Error, with the reason, when the disk is full.
  void write(std::span<const std::byte> data);
  void write(std::string_view text);

  /// Bytes written so far.
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Flushes to the disk and replaces any file that had the name before.
  void commit();

 private:
  void flush_buffer();
  void write_through(std::span<const std::byte> data);
  void discard() noexcept;

  std::filesystem::path path_;       ///< the name it will have
  std::filesystem::path temp_path_;  ///< the name it has until then
  int descriptor_ = -1;
  std::size_t size_ = 0;
  std::vector<std::byte> buffer_;
};

/// Waits until what was written to an open file is on the disk, so that a power cut does not lose it. Throws
/// Error, with the reason, when the disk cannot take it.
void sync_file(int descriptor, const std::filesystem::path& path);

/// The same for the names in the folder of `path`. Failure is not an error: some file systems cannot.
void sync_folder_of(const std::filesystem::path& path);

/// A whole file in one call.
void write_file(const std::filesystem::path& path, std::span<const std::byte> data);
void write_file(const std::filesystem::path& path, std::string_view text);

/// The whole file. Throws Error, with the reason, when it cannot be read (missing, a folder, no permission)
/// or is larger than `max_size` bytes.
[[nodiscard]] std::vector<std::byte> read_file(
    const std::filesystem::path& path, std::size_t max_size = std::numeric_limits<std::size_t>::max());
[[nodiscard]] std::string read_text_file(const std::filesystem::path& path,
                                         std::size_t max_size = std::numeric_limits<std::size_t>::max());

}  // namespace thrum::base
