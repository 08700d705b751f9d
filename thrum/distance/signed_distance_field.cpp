// SPDX-License-Identifier: MIT
#include "thrum/distance/signed_distance_field.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/distance/trilinear.h"

namespace thrum::distance {

namespace {

constexpr int kShift = 3;
constexpr unsigned kMask = SignedDistanceField::kBlockCells - 1;
static_assert(1 << kShift == SignedDistanceField::kBlockCells);
constexpr unsigned kStrideX = SignedDistanceField::kBlockNodes * SignedDistanceField::kBlockNodes;
constexpr unsigned kStrideY = SignedDistanceField::kBlockNodes;

using base::simd::Double2;
using base::simd::Float4;
using base::simd::Int4;

Float4 scale_of(double inverse_spacing)
{
  const auto s = static_cast<float>(inverse_spacing);
  return Float4{s, s, s, 1};
}

/// What finding the fine cell of a point needs, in registers. Positions are counted from one cell before the
/// grid: truncation then puts every position outside into a cell whose number minus one is out of range as an
/// unsigned number.
struct CellFinder {
  Double2 origin_xy;
  double origin_z;
  double inverse;
  std::array<unsigned, 3> cells;
  unsigned blocks_y, blocks_z;
  const std::int32_t* table;
  const float* fine;

  [[nodiscard]] static CellFinder of(const GridFrame& frame, double inverse_spacing,
                                     const std::array<int, 3>& blocks, const std::int32_t* table,
                                     const float* fine)
  {
    return {Double2{frame.origin.x() - frame.spacing, frame.origin.y() - frame.spacing},
            frame.origin.z() - frame.spacing,
            inverse_spacing,
            {static_cast<unsigned>(frame.cells[0]), static_cast<unsigned>(frame.cells[1]),
             static_cast<unsigned>(frame.cells[2])},
            static_cast<unsigned>(blocks[1]),
            static_cast<unsigned>(blocks[2]),
            table,
            fine};
  }

  /// The first sample of the cell, and the place in it [0, 1]. Null where the field is not fine.
  [[nodiscard]] const float* find(const Vec3& p, Float4& fraction) const
  {
    const Double2 xy = (Double2{p.x(), p.y()} - origin_xy) * base::simd::both(inverse);
    const double z = (p.z() - origin_z) * inverse;
    const Float4 place = {static_cast<float>(xy[0]), static_cast<float>(xy[1]), static_cast<float>(z), 0};
    const Int4 whole = __builtin_convertvector(place, Int4);
    fraction = place - __builtin_convertvector(whole, Float4);
    const unsigned i = static_cast<unsigned>(whole[0]) - 1, j = static_cast<unsigned>(whole[1]) - 1,
                   k = static_cast<unsigned>(whole[2]) - 1;
    const std::int32_t block =
        i < cells[0] && j < cells[1] && k < cells[2]
            ? table[((i >> kShift) * blocks_y + (j >> kShift)) * blocks_z + (k >> kShift)]
            : SignedDistanceField::kFar;
    if (block < 0) return nullptr;
    return fine + (at(block) * SignedDistanceField::kBlockSamples + (i & kMask) * kStrideX +
                   (j & kMask) * kStrideY + (k & kMask));
  }
};

}  // namespace

void SignedDistanceField::set_frame(const GridFrame& frame)
{
  frame_ = frame;
  inverse_spacing_ = 1 / frame.spacing;
  for (std::size_t d = 0; d < 3; ++d) blocks_[d] = frame.cells[d] / kBlockCells;
}

void SignedDistanceField::sample(std::span<const Vec3> points, std::span<FieldSample> samples) const
{
  THRUM_ASSERT(points.size() == samples.size());
  const CellFinder finder = CellFinder::of(frame_, inverse_spacing_, blocks_, table_.data(), samples_.data());
  const Float4 scale = scale_of(inverse_spacing_);

  // In short batches: first the addresses of the cells, then their values. The memory is requested early and
  // all at once, which matters when the points are in random order.
  constexpr std::size_t kRun = 16;
  const float* corners[kRun];
  Float4 fractions[kRun];
  for (std::size_t start = 0; start < points.size(); start += kRun) {
    const std::size_t count = std::min(kRun, points.size() - start);
    for (std::size_t n = 0; n < count; ++n) {
      corners[n] = finder.find(points[start + n], fractions[n]);
      if (corners[n] == nullptr) continue;
      __builtin_prefetch(corners[n]);
      __builtin_prefetch(corners[n] + kStrideX + kStrideY);
    }
    for (std::size_t n = 0; n < count; ++n) {
      samples[start + n] = corners[n] == nullptr
                               ? sample_general(points[start + n])
                               : interpolate(corners[n], kStrideX, kStrideY, fractions[n][0], fractions[n][1],
                                             fractions[n][2], scale);
    }
  }
}

// Not as a batch of one: from its list a sample would be read in one piece that was written in two, and wait
// until it had reached the cache. That was nine tenths of the time.
FieldSample SignedDistanceField::sample(const Vec3& p) const
{
  const CellFinder finder = CellFinder::of(frame_, inverse_spacing_, blocks_, table_.data(), samples_.data());
  Float4 fraction;
  const float* corner = finder.find(p, fraction);
  if (corner == nullptr) return sample_general(p);
  return interpolate(corner, kStrideX, kStrideY, fraction[0], fraction[1], fraction[2],
                     scale_of(inverse_spacing_));
}

// Outside the grid, on its far faces, and in the far field.
FieldSample SignedDistanceField::sample_general(const Vec3& p) const
{
  const Box3 box = bounds();
  const Vec3 nearest = p.cwiseMax(box.min()).cwiseMin(box.max());
  std::array<int, 3> cell{};
  std::array<float, 3> f{};
  std::array<int, 3> block{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double x = (nearest[static_cast<int>(d)] - frame_.origin[static_cast<int>(d)]) * inverse_spacing_;
    cell[d] = std::clamp(static_cast<int>(x), 0, frame_.cells[d] - 1);
    f[d] = static_cast<float>(std::clamp(x - cell[d], 0.0, 1.0));
    block[d] = cell[d] >> kShift;
  }
  FieldSample result;
  const std::int32_t slot = table_[block_index(block[0], block[1], block[2])];
  if (slot >= 0) {
    const float* corner = samples_.data() + static_cast<std::ptrdiff_t>(slot) * kBlockSamples +
                          (cell[0] % kBlockCells) * kStrideX + (cell[1] % kBlockCells) * kStrideY +
                          cell[2] % kBlockCells;
    result = interpolate(corner, kStrideX, kStrideY, f[0], f[1], f[2], scale_of(inverse_spacing_));
  } else {
    for (std::size_t d = 0; d < 3; ++d)
      f[d] = (static_cast<float>(cell[d] % kBlockCells) + f[d]) / kBlockCells;
    const std::ptrdiff_t stride_y = blocks_[2] + 1;
    const std::ptrdiff_t stride_x = stride_y * (blocks_[1] + 1);
    const float* corner = corners_.data() + block[0] * stride_x + block[1] * stride_y + block[2];
    result =
        interpolate(corner, stride_x, stride_y, f[0], f[1], f[2], scale_of(inverse_spacing_ / kBlockCells));
  }
  return nearest == p ? result : extend_outside(result, p - nearest);
}

bool SignedDistanceField::is_fine(const Vec3& p) const
{
  if (!bounds().contains(p)) return false;
  std::array<int, 3> block{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double x = (p[static_cast<int>(d)] - frame_.origin[static_cast<int>(d)]) * inverse_spacing_;
    block[d] = std::clamp(static_cast<int>(x), 0, frame_.cells[d] - 1) >> kShift;
  }
  return table_[block_index(block[0], block[1], block[2])] >= 0;
}

DistanceRange SignedDistanceField::range(const Box3& box) const
{
  DistanceRange result{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  if (box.isEmpty()) return result;
  const Box3 grid = bounds();
  std::array<int, 3> first{}, last{};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto at = [&](double x) {
      const double cell = (x - frame_.origin[static_cast<int>(d)]) * inverse_spacing_ / kBlockCells;
      return static_cast<int>(std::clamp(std::floor(cell), 0.0, static_cast<double>(blocks_[d] - 1)));
    };
    first[d] = at(box.min()[static_cast<int>(d)]);
    last[d] = at(box.max()[static_cast<int>(d)]);
  }
  for (int i = first[0]; i <= last[0]; ++i) {
    for (int j = first[1]; j <= last[1]; ++j) {
      for (std::size_t b = block_index(i, j, first[2]); b <= block_index(i, j, last[2]); ++b) {
        result.lower = std::min(result.lower, static_cast<double>(low_[b]));
        result.upper = std::max(result.upper, static_cast<double>(high_[b]));
      }
    }
  }
  // No surface lies outside the grid, so the sign there is that of its corner, and the magnitude grows by at
  // most the distance from the grid and is at least that distance.
  const double beyond = (grid.min() - box.min()).cwiseMax(box.max() - grid.max()).cwiseMax(0.0).norm();
  const double gap = (box.min() - grid.max()).cwiseMax(grid.min() - box.max()).cwiseMax(0.0).norm();
  if (corners_.front() >= 0) {
    result.upper += beyond;
    if (gap > 0) result.lower = std::max(result.lower, gap);
  } else {
    result.lower -= beyond;
    if (gap > 0) result.upper = std::min(result.upper, -gap);
  }
  return result;
}

std::size_t SignedDistanceField::memory_bytes() const
{
  return sizeof(*this) + table_.size() * sizeof(std::int32_t) +
         (low_.size() + high_.size() + corners_.size() + samples_.size()) * sizeof(float);
}

SurfaceNormal closest_surface_normal(const SignedDistanceField& field, const MeshDistance& mesh,
                                     const Vec3& p, Index hint)
{
  // Half the diagonal of a cell bounds the error of the interpolant near the surface; if the error is larger,
  // as it may be far away, search again without a limit.
  const double reach = std::abs(field.value(p)) + std::sqrt(3.0) / 2 * field.spacing();
  SignedPoint found = mesh.signed_distance(p, hint, reach);
  if (!found.surface.found()) found = mesh.signed_distance(p, hint);
  return {found.surface.point, mesh.surface_normal(p, found), found.distance, found.surface.triangle};
}

}  // namespace thrum::distance
