// SPDX-License-Identifier: MIT
// The exact signed distance to a triangle mesh: the closest point, and on which side of the surface the query
// lies. Distance fields are sampled from it and tested against it.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "thrum/distance/pseudonormals.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/winding_number.h"

namespace thrum::distance {

/// How inside and outside are distinguished.
enum class SignMethod {
  automatic,  ///< pseudonormal when every edge is closed and consistently oriented, winding number otherwise
  pseudonormal,    ///< exact for closed meshes that do not intersect themselves, and cheap
  winding_number,  ///< for open and defective meshes, and where closed parts overlap; about ten times as slow
};

struct SignedPoint {
  double distance = 0;  ///< negative inside [m]
  mesh::ClosestPoint surface;
};

class MeshDistance {
 public:
  /// Throws Error when the mesh has no triangle, or an index or a coordinate is invalid.
  explicit MeshDistance(mesh::TriangleMesh mesh, SignMethod sign = SignMethod::automatic);

  /// Signed distance to the closest point; `hint` and `max_distance` as in Bvh::closest_point. When nothing
  /// is within max_distance, surface.found() is false and the distance is plus infinity.
  [[nodiscard]] SignedPoint signed_distance(
      const Vec3& p, Index hint = -1, double max_distance = std::numeric_limits<double>::infinity()) const;

  /// The same when the closest triangle is known.
  [[nodiscard]] SignedPoint signed_distance_to(const Vec3& p, Index closest_triangle) const;

  /// The true outward normal at the closest point, sharp edges included: the direction from the closest point
  /// to p, turned outwards, or the pseudonormal when p lies on the surface itself (within 1e-9 of the mesh
  /// size).
  [[nodiscard]] Vec3 surface_normal(const Vec3& p, const SignedPoint& point) const;

  /// Sets new vertex positions (as many as before), as of a surface that bends. Throws Error when the count
  /// differs, a coordinate is not finite or the sign is found by winding numbers.
  void refit(std::span<const Vec3> vertices);

  [[nodiscard]] const mesh::Bvh& bvh() const { return *bvh_; }
  [[nodiscard]] const Pseudonormals& normals() const { return normals_; }
  /// The method in use: pseudonormal or winding_number.
  [[nodiscard]] SignMethod sign_method() const
  {
    return winding_ ? SignMethod::winding_number : SignMethod::pseudonormal;
  }

 private:
  [[nodiscard]] SignedPoint with_sign(const Vec3& p, const mesh::ClosestPoint& surface) const;

  std::unique_ptr<mesh::Bvh> bvh_;  // on the heap: the winding number keeps its address when this is moved
  Pseudonormals normals_;
  std::optional<mesh::WindingNumber> winding_;
};

}  // namespace thrum::distance
