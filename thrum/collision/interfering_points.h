// SPDX-License-Identifier: MIT
// Points of two bodies inside each other, as [Guendelman03, section 3] finds them: every vertex of one inside
// the other, by the other's signed distance, and the lowest points of edges whose ends are both outside.
//
// Where we leave the paper: vertices in the middle of a flat face, and edges that do not bend outward, are
// not looked at (surface_elements.h); the corners of the face speak for them.
#pragma once

#include <memory>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/collision/prepared_shape.h"

namespace thrum::collision {

struct InterferingPoint {
  Vec3 position = Vec3::Zero();  ///< of the vertex or the point of an edge, in world axes [m]
  Vec3 normal = Vec3::UnitZ();   ///< from a to b, in world axes
  double depth = 0;              ///< positive [m]
};

/// Whether the two kinds of shape have vertices and distances. Spheres, capsules and compounds have not.
[[nodiscard]] bool has_interfering_points(const PreparedShape& a, const PreparedShape& b);

class InterferingPointFinder {
 public:
  InterferingPointFinder();
  ~InterferingPointFinder();
  InterferingPointFinder(InterferingPointFinder&&) noexcept;
  InterferingPointFinder& operator=(InterferingPointFinder&&) noexcept;

  /// The points of two shapes for which has_interfering_points(). The result stays until the next call.
  const std::vector<InterferingPoint>& find(const PreparedShape& a, const Pose& X_wa, const PreparedShape& b,
                                            const Pose& X_wb);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace thrum::collision
