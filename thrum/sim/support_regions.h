// SPDX-License-Identifier: MIT
// Where a body stands: the parts of its surface that rest on other bodies, as supports for its modes.
//
//   const model::SceneState before = world.save();
//   step_to_rest(world, std::span(&table, 1), {});  // a body may be placed a little above the floor
//   const std::vector<Box3> feet = find_support_regions(world, table, mesh);  // in the axes of its shape
//   world.restore(before);
//
// Only what carries the body counts: surface that faces down and touches something. What lies on it, or leans
// against it, does not hold it.
#pragma once

#include <span>
#include <vector>

#include "thrum/mesh/triangle_mesh.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

struct SupportRegionDesc {
  double contact_distance =
      2e-3;  ///< farthest from another body that counts as touching, as a share of the body's size
  double sample_spacing = 0.01;  ///< distance of the points that are looked at, likewise
  double margin = 5e-3;          ///< by which the places are widened on every side, likewise
  double min_margin = 0;         ///< and at least by this [m]
};

/// Boxes in the axes of the body's shape, one for each connected part, rounded outwards to a tenth of the
/// margin so that a trembling contact gives the same box. `mesh` is the surface of the shape in its own axes.
/// Empty when the body stands on nothing, and where there is no gravity.
[[nodiscard]] std::vector<Box3> find_support_regions(const World& world, model::BodyId id,
                                                     const mesh::TriangleMesh& mesh,
                                                     const SupportRegionDesc& desc = {});

struct RestDesc {
  double step = 1.0 / 60;   ///< [s]
  double still_time = 0.1;  ///< that the bodies must be still, as WorldDesc::sleep says what still is [s]
  double max_time = 5;      ///< [s]
};

/// Steps until all of the bodies are still at once; false when that took too long. Bodies that nothing moves
/// are still.
[[nodiscard]] bool step_to_rest(World& world, std::span<const model::BodyId> ids, const RestDesc& desc = {});

}  // namespace thrum::sim
