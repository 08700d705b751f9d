// SPDX-License-Identifier: MIT
// What can only be checked when the whole scene is known: names, and values that must fit each other.
#pragma once

#include <vector>

#include "thrum/scene/scene_file.h"

namespace thrum::scene {

/// Adds to the mistakes found while reading, without those that only follow from them.
void check_scene(const SceneDesc& scene, std::vector<Mistake>& mistakes);

/// Gives mistakes within bodies, materials and shapes their names: body "mug".
void name_subjects(const SceneDesc& scene, std::vector<Mistake>& mistakes);

}  // namespace thrum::scene
