// SPDX-License-Identifier: MIT
// Base64 [RFC 4648], for binary data inside pages.
#pragma once

#include <string>
#include <string_view>

namespace thrum::scene {

[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace thrum::scene
