// SPDX-License-Identifier: MIT
// Base64 [RFC 4648], for binary data inside pages.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace thrum::media {

[[nodiscard]] std::string base64(std::string_view bytes);

/// Numbers as in memory, little-endian.
template <class T>
[[nodiscard]] std::string base64_of(const std::vector<T>& values)
{
  static_assert(std::is_arithmetic_v<T>);
  return base64({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

}  // namespace thrum::media
