// SPDX-License-Identifier: MIT
// What a run writes down before its first step, and what it depends on.
#pragma once

#include "thrum/scene/build_world.h"
#include "thrum/scene/run_scene.h"
#include "thrum/sim/world_recorder.h"

namespace thrum::scene {

/// How the bodies look, and in notes where the scene comes from and where it is looked at from. `built` must
/// outlive the result.
[[nodiscard]] sim::WorldRecorderDesc recorder_desc(const SceneDesc& scene, const BuiltScene& built,
                                                   const RunDesc& desc);

/// By which the files of a run are told from those of another: of all that it depends on, so that the same
/// scene with the same settings has the same. It is the note "run" of a recording with sound.
[[nodiscard]] base::Hash128 run_identity(const SceneDesc& scene, const RunDesc& desc);

/// Of all that a run depends on: the texts of the scene and the bytes of its meshes and modes.
[[nodiscard]] base::Hash128 dependency_hash(const SceneDesc& scene);

}  // namespace thrum::scene
