// SPDX-License-Identifier: MIT
// Many bodies from one entry: the ways in which a scene file repeats a body.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "thrum/scene/scene_file.h"

namespace thrum::scene {

inline constexpr double kMaxBodies = 1e6;  ///< in one scene; more is a mistake in a count

/// Number of bodies that an entry stands for; may be far beyond kMaxBodies.
[[nodiscard]] double instance_count(const BodyEntry& body);

/// The name of each body: that of the entry, with a number when it is repeated.
[[nodiscard]] std::vector<std::string> instance_names(const BodyEntry& body);

/// Where the shape's axes of each body begin, in the world. `stream` distinguishes the entries of a scene, so
/// that two scatters of one scene differ.
[[nodiscard]] std::vector<Pose> instance_poses(const BodyEntry& body, std::uint64_t seed,
                                               std::uint64_t stream);

/// How many positions of its scatters are nearer to another than min_spacing, because none was free after so
/// many draws.
[[nodiscard]] int crowded_instances(const BodyEntry& body, std::uint64_t seed, std::uint64_t stream);

/// The time during which a body is in the scene [s].
struct Presence {
  double from = 0;
  double until = std::numeric_limits<double>::infinity();
};
/// Of the body with that number among those of the entry.
[[nodiscard]] Presence instance_presence(const BodyEntry& body, std::size_t number);

/// Factors by which the lengths of each are changed; empty where the body does not ask for it.
[[nodiscard]] std::vector<Vec3> instance_scales(const BodyEntry& body, std::uint64_t seed,
                                                std::uint64_t stream);

}  // namespace thrum::scene
