// SPDX-License-Identifier: MIT
// Signed distance on a full grid: the simplest form and fast to sample; its memory grows with the volume.
#pragma once

#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/distance/distance_field.h"

namespace thrum::distance {

class UniformDistanceField {
 public:
  /// Exact distance at every node. Throws Error as grid_around() does.
  explicit UniformDistanceField(const MeshDistance& mesh, const DistanceFieldDesc& desc = {});

  [[nodiscard]] double value(const Vec3& p) const { return sample(p).value; }
  [[nodiscard]] FieldSample sample(const Vec3& p) const;
  /// samples[i] at points[i]; both must have the same length.
  void sample(std::span<const Vec3> points, std::span<FieldSample> samples) const;

  [[nodiscard]] const GridFrame& frame() const { return frame_; }
  [[nodiscard]] Box3 bounds() const { return frame_.bounds(); }
  [[nodiscard]] std::size_t memory_bytes() const { return sizeof(*this) + samples_.size() * sizeof(float); }

 private:
  GridFrame frame_;
  std::ptrdiff_t stride_x_ = 0, stride_y_ = 0;
  std::vector<float> samples_;  ///< z fastest [m]
};

}  // namespace thrum::distance
