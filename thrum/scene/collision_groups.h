// SPDX-License-Identifier: MIT
// Groups of bodies by name. In a scene
//
//   "bodies": [{"name": "rock", "group": "debris", "collides_with": ["ground", "robot"]}, ...]
//
// In the library a group is a bit (BodyDesc::collision_group, collides_with). Names become bits in the order
// of their first appearance: first "default", in which all bodies are that name no group, then the scene's
// list "groups", then the groups that bodies name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "thrum/scene/scene_file.h"

namespace thrum::scene {

inline constexpr std::size_t kMaxGroups = 32;  ///< bits of BodyDesc::collision_group
inline constexpr const char* kDefaultGroup = "default";

/// All groups that bodies can be in, by their bits.
[[nodiscard]] std::vector<std::string> group_names(const SceneDesc& scene);

/// The bits of those of `names` that are in `groups`.
[[nodiscard]] std::uint32_t group_bits(const std::vector<std::string>& groups,
                                       std::span<const NameRef> names);

}  // namespace thrum::scene
