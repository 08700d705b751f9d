// SPDX-License-Identifier: MIT
// A whole file in memory, read once. Every reader in this folder works on bytes, so that a test or a fuzzer
// can pass a buffer instead of a file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace thrum::mesh_io {

/// The bytes of one file. Not zeroed before reading: for a mesh of 40 MB that alone would cost 10 ms.
class FileBytes {
 public:
  /// Throws InputError when the file does not exist or cannot be read.
  explicit FileBytes(const std::filesystem::path& file);

  [[nodiscard]] std::string_view view() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
};

/// Writes to a temporary file and renames it, so that a reader never sees a partial file. Throws Error when
/// the folder cannot be written.
void write_file_bytes(const std::filesystem::path& file, std::string_view bytes);

/// `text` between quotes for an error message: at most 40 characters, unprintable bytes as \xNN.
[[nodiscard]] std::string quoted_text(std::string_view text);

/// The extension of a file name in lower case with its dot: ".obj".
[[nodiscard]] std::string lower_extension(const std::filesystem::path& file);

}  // namespace thrum::mesh_io
