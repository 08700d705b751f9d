// SPDX-License-Identifier: MIT
// The surface of a body that bends, for contacts: as it is now instead of as it was made.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "thrum/collision/prepared_shape.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::collision {

struct TriangleSurface;

/// How far the surface of a body is from its shape.
struct Deflection {
  /// By which it may be away from the shape that contacts are found with, now or until they are found again
  /// [m].
  double reach = 0;
  const PreparedShape* deformed = nullptr;  ///< with which contacts are found; none: its own shape
};

class DeformedShape {
 public:
  /// `rest`: the surface when nothing bends it, in shape axes; `shape` the one that the body has.
  DeformedShape(const mesh::TriangleMesh& rest, const PreparedShape& shape);
  ~DeformedShape();
  DeformedShape(const DeformedShape&) = delete;
  DeformedShape& operator=(const DeformedShape&) = delete;

  /// Only then is it known how deep another body is in it.
  [[nodiscard]] bool is_closed() const;
  /// Sets the positions of the vertices, in shape axes [m].
  void deform(std::span<const Vec3> vertices);
  [[nodiscard]] const PreparedShape& prepared() const { return prepared_; }
  /// The point of the surface at rest that is now closest to `position`, in shape axes [m].
  [[nodiscard]] Vec3 at_rest(const Vec3& position) const;

 private:
  mesh::TriangleMesh rest_;
  model::Shape shape_;
  PreparedShape prepared_;
  std::shared_ptr<TriangleSurface> surface_;  ///< that `prepared_` has
};

}  // namespace thrum::collision
