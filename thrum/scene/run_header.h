// SPDX-License-Identifier: MIT
// What a run writes down before its first step, and what it depends on.
#pragma once

#include "thrum/scene/build_world.h"
#include "thrum/scene/run_scene.h"

namespace thrum::scene {

/// Bodies, meshes, strings and springs, and in notes where the scene comes from and where it is looked at
/// from.
[[nodiscard]] sim::RecordingHeader recording_header(const SceneDesc& scene, const BuiltScene& built,
                                                    const RunDesc& desc);

/// Of all that a run depends on: the texts of the scene and the bytes of its meshes and modes.
[[nodiscard]] base::Hash128 dependency_hash(const SceneDesc& scene);

}  // namespace thrum::scene
