// SPDX-License-Identifier: MIT
// The tables of a scene file: see object_table.h.
#pragma once

#include "thrum/scene/object_table.h"
#include "thrum/scene/scene_file.h"

namespace thrum::scene {

[[nodiscard]] const ObjectTable<SceneDesc>& scene_table();
[[nodiscard]] const KindTable<SceneShape>& shape_table();
[[nodiscard]] const KindTable<RepeatDesc>& repeat_table();
[[nodiscard]] const ObjectTable<BodyEntry>& body_table();

[[nodiscard]] const ObjectTable<IncludeEntry>& include_table();

}  // namespace thrum::scene
