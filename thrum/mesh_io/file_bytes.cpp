// SPDX-License-Identifier: MIT
#include "thrum/mesh_io/file_bytes.h"

#include <fmt/format.h>

#include <cstdio>
#include <system_error>

#include "thrum/base/error.h"

namespace thrum::mesh_io {

namespace {

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using FileHandle = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace

FileBytes::FileBytes(const std::filesystem::path& file)
{
  // A folder can be opened for reading on Linux and only fails later with an unclear message.
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) throw InputError({file}, "no such file", "a file to read");
  if (std::filesystem::is_directory(status)) throw InputError({file}, "a folder", "a file to read");
  const auto size = std::filesystem::file_size(file, error);
  if (error) throw InputError({file}, "a file without a size (" + error.message() + ")", "a file to read");
  const FileHandle handle(std::fopen(file.string().c_str(), "rb"));
  if (!handle) throw InputError({file}, "a file without read permission", "a readable file");

  data_.reset(new char[static_cast<std::size_t>(size) + 1]);
  size_ = std::fread(data_.get(), 1, static_cast<std::size_t>(size), handle.get());
  if (size_ != size) {
    throw InputError({file}, fmt::format("only {} readable bytes", size_), fmt::format("{} bytes", size));
  }
}

void write_file_bytes(const std::filesystem::path& file, std::string_view bytes)
{
  std::filesystem::path temporary = file;
  temporary += ".part";
  {
    const FileHandle handle(std::fopen(temporary.string().c_str(), "wb"));
    if (!handle)
      throw Error(
          fmt::format("{} cannot be written: check that the folder exists and is writable.", file.string()));
    const std::size_t written = std::fwrite(bytes.data(), 1, bytes.size(), handle.get());
    if (written != bytes.size() || std::fflush(handle.get()) != 0) {
      throw Error(fmt::format("{}: only {} of {} bytes could be written; is the disk full?",
                              temporary.string(), written, bytes.size()));
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, file, error);
  if (error) throw Error(fmt::format("{} cannot be replaced: {}", file.string(), error.message()));
}

std::string quoted_text(std::string_view text)
{
  constexpr std::size_t kMaxLength = 40;
  std::string result = "\"";
  for (const char c : text.substr(0, kMaxLength)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  result += text.size() > kMaxLength ? "...\"" : "\"";
  return result;
}

std::string lower_extension(const std::filesystem::path& file)
{
  std::string ending = file.extension().string();
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return ending;
}

}  // namespace thrum::mesh_io
