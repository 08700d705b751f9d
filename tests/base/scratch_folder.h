// SPDX-License-Identifier: MIT
// A fresh folder for one test, removed at its end.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace thrum::base {

class ScratchFolder {
 public:
  ScratchFolder()
  {
    std::string name = (std::filesystem::temp_directory_path() / "thrum-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchFolder()
  {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::size_t file_count() const
  {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace thrum::base
