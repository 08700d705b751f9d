// SPDX-License-Identifier: MIT
// The JSON Schema and the reference page of scene files, made from the tables that the reader uses.
#pragma once

#include <string>

namespace thrum::scene {

/// schemas/scene.schema.json: draft 07, which editors know.
[[nodiscard]] std::string scene_schema();

/// docs/scene_reference.md.
[[nodiscard]] std::string scene_reference();

}  // namespace thrum::scene
