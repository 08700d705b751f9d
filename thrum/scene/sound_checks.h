// SPDX-License-Identifier: MIT
// What is wrong with "sound" and "listener" of a scene and would be found only after the simulation.
#pragma once

#include <vector>

#include "thrum/scene/mistakes.h"
#include "thrum/scene/scene_file.h"

namespace thrum::scene {

/// Appends the mistakes. The SOFA file of a binaural listener is read in a scene with sound.
void check_sound(const SceneDesc& scene, std::vector<Mistake>& mistakes);

}  // namespace thrum::scene
