// SPDX-License-Identifier: MIT
// Recognises a surface that was made by rotating a profile about an axis: glasses, bells, bottles, rings.
#pragma once

#include <optional>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::elastic {

struct RevolvedProfile {
  Mat3 axes = Mat3::Identity();  ///< columns: two across the axis, then the axis, in the axes of the surface
  Vec3 origin = Vec3::Zero();    ///< on the axis [m]
  /// The outline in (distance from the axis, height), counter-clockwise [m]. It is closed by a straight line
  /// from the last point to the first, which lies on the axis where the outline ends there.
  std::vector<Vec2> outline;
  double volume = 0;  ///< of the round body, that of the surface [m^3]
  /// Share of the volume of the circles through the vertices that facets cut off. The outline is scaled so
  /// that the volume is that of the surface.
  double facet_deficit = 0;
};

/// None when the surface is not made of rings of equally spaced vertices about one axis, joined one by one to
/// a single outline. The surface is closed.
[[nodiscard]] std::optional<RevolvedProfile> revolved_profile(const mesh::TriangleMesh& surface);

}  // namespace thrum::elastic
