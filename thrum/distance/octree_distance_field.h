// SPDX-License-Identifier: MIT
// Signed distance on an octree whose cells are only as small as the distance needs; sampled by descending
// from the root. A cell is divided while it may touch the band and its trilinear interpolant misses the exact
// distance at one of the 19 new corners by more than the tolerance [Frisken, Perry, Rockwood, Jones 2000,
// Adaptively sampled distance fields]. Across faces between cells of different size the value may jump by as
// much as the tolerance (near the surface).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/distance/distance_field.h"

namespace thrum::distance {

class OctreeDistanceField {
 public:
  /// Error allowed near the surface, in finest cells.
  static constexpr double kTolerance = 0.1;

  /// The finest cells are those of the description. Throws Error as grid_around() does.
  explicit OctreeDistanceField(const MeshDistance& mesh, const DistanceFieldDesc& desc = {});

  [[nodiscard]] double value(const Vec3& p) const { return sample(p).value; }
  [[nodiscard]] FieldSample sample(const Vec3& p) const;
  /// samples[i] at points[i]; both must have the same length.
  void sample(std::span<const Vec3> points, std::span<FieldSample> samples) const;

  [[nodiscard]] Box3 bounds() const { return {origin_, origin_ + Vec3::Constant(side_)}; }
  [[nodiscard]] std::size_t memory_bytes() const { return sizeof(*this) + nodes_.size() * sizeof(Node); }
  [[nodiscard]] std::size_t cell_count() const { return nodes_.size(); }

 private:
  struct Builder;
  /// A cell with the samples at its corners, corner 4 x + 2 y + z.
  struct Node {
    std::array<float, 8> corner;
    std::int32_t first_child;  ///< children 4 x + 2 y + z follow each other; -1: none
  };
  Vec3 origin_ = Vec3::Zero();  ///< lowest corner [m]
  double side_ = 0;             ///< of the root cell [m]
  std::vector<Node> nodes_;
};

}  // namespace thrum::distance
