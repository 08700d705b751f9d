// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <system_error>

namespace thrum::base {

/// Whether two paths name one file, also one that does not exist yet.
[[nodiscard]] inline bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b)
{
  std::error_code none;
  if (std::filesystem::equivalent(a, b, none)) return true;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(a), none) ==
         std::filesystem::weakly_canonical(std::filesystem::absolute(b), none);
}

}  // namespace thrum::base
