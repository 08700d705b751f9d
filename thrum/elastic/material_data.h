// SPDX-License-Identifier: MIT
// The text of data/materials.json, compiled in.
#pragma once

#include <string_view>

namespace thrum::elastic {

[[nodiscard]] std::string_view builtin_materials();

}  // namespace thrum::elastic
