// SPDX-License-Identifier: MIT
// Signed distance on a sparse grid: fine blocks near the surface, a coarse far field elsewhere. Negative
// inside.
//
//   const MeshDistance mesh(bowl);
//   const SignedDistanceField field(mesh, {.resolution = 128});
//   const FieldSample s = field.sample(p);                     // s.value [m], s.gradient
//   field.sample(points, samples);                             // many at once
//   if (field.range(box).lower > margin) ...                   // nothing in the box is near: skip it
//
//   +-----+-----+-----+-----+     A block is 8 x 8 x 8 cells and has 9 x 9 x 9 samples: its own nodes and one
//   |     |/////|/////|     |     more plane on each far side, so that a cell never needs a second block. A
//   |     |/////|/////|     |     dense table of 32-bit numbers maps a cell to its block. Blocks that are not
//   +-----+-----+-----+-----+     within the band around the surface are not stored; there the samples at
//   |     |/////|     |     |     the block corners, eight cells apart, are interpolated.
//   |     |/////|     |     |
//   +-----+-----+-----+-----+
//
// Samples are exact distances, rounded to float. Where the field is fine the interpolant is within half a
// cell of the exact distance for a surface that the grid resolves, and within spacing^2 / (4 r) where the
// surface is smooth with radius of curvature r. In the far field it is within half a block, and its sign is
// correct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/distance/distance_field.h"

namespace thrum::distance {

class SignedDistanceField {
 public:
  static constexpr int kBlockCells = 8;
  static constexpr int kBlockNodes = kBlockCells + 1;
  static constexpr int kBlockSamples = kBlockNodes * kBlockNodes * kBlockNodes;
  static constexpr std::int32_t kFar = -1;  ///< in the block table: not stored

  /// Throws Error when the description is invalid; see grid_around().
  explicit SignedDistanceField(const MeshDistance& mesh, const DistanceFieldDesc& desc = {});

  [[nodiscard]] double value(const Vec3& p) const { return sample(p).value; }
  [[nodiscard]] FieldSample sample(const Vec3& p) const;
  /// samples[i] at points[i]; both must have the same length.
  void sample(std::span<const Vec3> points, std::span<FieldSample> samples) const;

  /// Bounds that hold for the exact distance and for the interpolant at every point of the box.
  [[nodiscard]] DistanceRange range(const Box3& box) const;

  /// True where p lies in a fine block.
  [[nodiscard]] bool is_fine(const Vec3& p) const;

  [[nodiscard]] const GridFrame& frame() const { return frame_; }
  [[nodiscard]] Box3 bounds() const { return frame_.bounds(); }
  [[nodiscard]] double spacing() const { return frame_.spacing; }
  /// Blocks along each axis; range_of_block() of each, x slowest.
  [[nodiscard]] const std::array<int, 3>& blocks() const { return blocks_; }
  [[nodiscard]] DistanceRange range_of_block(int i, int j, int k) const
  {
    const std::size_t b = block_index(i, j, k);
    return {low_[b], high_[b]};
  }
  [[nodiscard]] std::size_t fine_block_count() const { return samples_.size() / kBlockSamples; }
  [[nodiscard]] std::size_t memory_bytes() const;

  /// The whole field as bytes, for a cache on disk.
  [[nodiscard]] std::vector<std::byte> to_bytes() const;
  /// Reads it back. Throws Error when the bytes are not a whole, consistent field of this version.
  [[nodiscard]] static SignedDistanceField from_bytes(std::span<const std::byte> bytes);

 private:
  struct Builder;
  SignedDistanceField() = default;
  void set_frame(const GridFrame& frame);
  [[nodiscard]] std::size_t block_index(int i, int j, int k) const
  {
    return (static_cast<std::size_t>(i) * static_cast<std::size_t>(blocks_[1]) +
            static_cast<std::size_t>(j)) *
               static_cast<std::size_t>(blocks_[2]) +
           static_cast<std::size_t>(k);
  }
  [[nodiscard]] FieldSample sample_general(const Vec3& p) const;

  GridFrame frame_;
  std::array<int, 3> blocks_ = {0, 0, 0};
  double inverse_spacing_ = 1;
  std::vector<std::int32_t> table_;  ///< by block: number of the fine block, or kFar
  std::vector<float> low_, high_;    ///< by block: bounds of the distance there [m]
  std::vector<float> corners_;       ///< far field: samples at the block corners [m]
  std::vector<float> samples_;       ///< fine blocks, kBlockSamples each, z fastest [m]
};

/// The closest point of the surface.
struct SurfaceNormal {
  Vec3 point = Vec3::Zero();   ///< closest point of the triangles [m]
  Vec3 normal = Vec3::Zero();  ///< outward unit normal there
  double distance = 0;         ///< exact, negative inside [m]
  Index triangle = -1;
};

/// The true normal for sharp edges: the field bounds the search radius, the triangles give the normal.
/// [Guendelman03, sec. 2] follows a ray along the gradient to the surface; a closest point query bounded by
/// the field's value costs the same and cannot miss.
[[nodiscard]] SurfaceNormal closest_surface_normal(const SignedDistanceField& field, const MeshDistance& mesh,
                                                   const Vec3& p, Index hint = -1);

}  // namespace thrum::distance
