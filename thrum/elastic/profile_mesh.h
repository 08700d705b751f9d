// SPDX-License-Identifier: MIT
// Quadratic triangles that fill an outline in a plane.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::elastic {

struct ProfileMesh {
  std::vector<Vec2> nodes;  ///< corners first, then middles of edges
  std::size_t corner_count = 0;
  /// Corners counter-clockwise, then the middles of the edges 01 12 20.
  std::vector<std::array<Index, 6>> triangles;
  /// Edges of the outline: two ends and the middle.
  std::vector<std::array<Index, 3>> boundary;
};

/// Ears are cut off the outline (counter-clockwise, without crossings), then edges longer than `longest` are
/// halved, and edges are flipped to be Delaunay. None when the outline crosses itself.
[[nodiscard]] std::optional<ProfileMesh> profile_mesh(const std::vector<Vec2>& outline, double longest);

}  // namespace thrum::elastic
