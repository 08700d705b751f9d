// SPDX-License-Identifier: MIT
#include "thrum/distance/uniform_distance_field.h"

#include <algorithm>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/distance/trilinear.h"

namespace thrum::distance {

UniformDistanceField::UniformDistanceField(const MeshDistance& mesh, const DistanceFieldDesc& desc)
    : frame_(grid_around(mesh.bvh().bounds(), desc, 1)),
      stride_x_(static_cast<std::ptrdiff_t>(frame_.cells[1] + 1) * (frame_.cells[2] + 1)),
      stride_y_(frame_.cells[2] + 1)
{
  samples_.reserve(at(stride_x_) * at(frame_.cells[0] + 1));
  Index hint = -1;
  for (int i = 0; i <= frame_.cells[0]; ++i) {
    for (int j = 0; j <= frame_.cells[1]; ++j) {
      for (int k = 0; k <= frame_.cells[2]; ++k) {
        const SignedPoint point = mesh.signed_distance(frame_.node(i, j, k), hint);
        hint = point.surface.triangle;
        samples_.push_back(static_cast<float>(point.distance));
      }
    }
  }
}

void UniformDistanceField::sample(std::span<const Vec3> points, std::span<FieldSample> samples) const
{
  THRUM_ASSERT(points.size() == samples.size());
  const double inverse = 1 / frame_.spacing;
  const auto s = static_cast<float>(inverse);
  const base::simd::Float4 scale = {s, s, s, 1};
  const Box3 box = bounds();
  const Vec3 limit(frame_.cells[0] - 1, frame_.cells[1] - 1, frame_.cells[2] - 1);
  for (std::size_t n = 0; n < points.size(); ++n) {
    const Vec3 nearest = points[n].cwiseMax(box.min()).cwiseMin(box.max());
    const Vec3 x = (nearest - frame_.origin) * inverse;
    // The last cell includes its far face, so that every point of the box has a cell.
    const int i = static_cast<int>(std::min(x[0], limit[0])), j = static_cast<int>(std::min(x[1], limit[1])),
              k = static_cast<int>(std::min(x[2], limit[2]));
    samples[n] = interpolate(samples_.data() + i * stride_x_ + j * stride_y_ + k, stride_x_, stride_y_,
                             static_cast<float>(x[0] - i), static_cast<float>(x[1] - j),
                             static_cast<float>(x[2] - k), scale);
    if (nearest != points[n]) samples[n] = extend_outside(samples[n], points[n] - nearest);
  }
}

FieldSample UniformDistanceField::sample(const Vec3& p) const
{
  FieldSample result;
  sample(std::span(&p, 1), std::span(&result, 1));
  return result;
}

}  // namespace thrum::distance
