// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace thrum::base {

/// A count with its noun, for messages: "1 vertex", "2 vertices".
inline std::string counted(std::size_t count, std::string_view one, std::string_view many)
{
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// The same for a noun that takes an s: "1 step", "2 steps", "0 steps".
inline std::string counted(std::size_t count, std::string_view noun)
{
  return counted(count, noun, std::string(noun) + "s");
}

}  // namespace thrum::base
