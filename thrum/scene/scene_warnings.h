// SPDX-License-Identifier: MIT
// What is allowed in a scene and seldom meant: meshes with holes as moving bodies, sizes in the wrong unit,
// bodies that start inside each other, settings that nothing reads, modes on a lattice that is too coarse.
// Found quickly, without taking a step.
#pragma once

#include <string>
#include <vector>

#include "thrum/scene/build_world.h"

namespace thrum::scene {

/// Full sentences, each with the place in the file: "s.json:3:1: bodies[1] 'cup': ...". Empty when nothing is
/// suspicious.
[[nodiscard]] std::vector<std::string> find_scene_warnings(const SceneDesc& scene, const BuiltScene& built);

/// What the modal analysis says of its own figures, likewise and once for each model: above all the thin
/// parts that its lattice does not resolve, and the spacing that would.
[[nodiscard]] std::vector<std::string> modal_warnings(const SceneDesc& scene, const BuiltScene& built);

}  // namespace thrum::scene
