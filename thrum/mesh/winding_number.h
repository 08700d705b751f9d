// SPDX-License-Identifier: MIT
// The generalised winding number of a triangle mesh [Jacobson, Kavan, Sorkine-Hornung 2013]: the signed solid
// angle of all triangles over 4 pi. One inside and zero outside a closed mesh; smooth in between across the
// holes of an open one, so that "more than a half" separates inside from outside for open and defective
// meshes.
//
// Groups of triangles that are far away are replaced by their dipole and its first moment, after Barill,
// Dickson, Schmidt, Levin and Jacobson 2018, Fast winding numbers for soups and clouds.
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/bvh.h"

namespace thrum::mesh {

class WindingNumber {
 public:
  /// Groups farther than this many of their radii are expanded; the error of the result is then below about
  /// 0.01.
  static constexpr double kDefaultOpening = 2.0;

  /// Keeps a reference to `bvh`, which must outlive it and must not be refitted.
  explicit WindingNumber(const Bvh& bvh);

  /// The winding number about p. A larger `opening` is slower and closer to exact.
  [[nodiscard]] double at(const Vec3& p, double opening = kDefaultOpening) const;

  [[nodiscard]] bool inside(const Vec3& p) const { return at(p) > 0.5; }

 private:
  // The far-field expansion of a subtree.
  struct Expansion {
    Vec3 centre = Vec3::Zero();  ///< area-weighted [m]
    double radius = 0;           ///< of a ball about the centre that holds the triangles [m]
    Vec3 dipole = Vec3::Zero();  ///< sum of area vectors [m^2]
    Mat3 moment = Mat3::Zero();  ///< sum of area vector x (centroid - centre)^T [m^3]
  };
  const Bvh* bvh_;
  std::vector<Expansion> far_;  ///< by node and lane
};

/// The signed solid angle of the triangle a, b, c seen from the origin, over 4 pi; 0 in its plane.
[[nodiscard]] double triangle_winding(const Vec3& a, const Vec3& b, const Vec3& c);

/// The exact sum over all triangles, for comparison and for a single query.
[[nodiscard]] double exact_winding_number(const TriangleMesh& mesh, const Vec3& p);

}  // namespace thrum::mesh
