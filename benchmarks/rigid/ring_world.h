// SPDX-License-Identifier: MIT
// The scenes of rings in thrum, as true meshes.
#pragma once

#include <cstddef>

#include "benchmarks/rigid/ring_scenes.h"
#include "thrum/sim/world.h"

namespace thrum::bench {

/// The scene as a world, and the number of its first ring.
struct RingWorld {
  sim::World world;
  std::size_t first = 0;
};

[[nodiscard]] RingWorld make_ring_world(const RingScene& scene, const sim::WorldDesc& desc);
/// Without sleeping and reports.
[[nodiscard]] sim::WorldDesc ring_world_desc();
/// The depth of the deepest contact [m].
[[nodiscard]] double max_penetration(const sim::World& world);

}  // namespace thrum::bench
