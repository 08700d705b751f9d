// SPDX-License-Identifier: MIT
#include "thrum/distance/octree_distance_field.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "thrum/base/error.h"
#include "thrum/distance/trilinear.h"

namespace thrum::distance {

struct OctreeDistanceField::Builder {
  OctreeDistanceField& field;
  const MeshDistance& mesh;
  double spacing;  // of the finest cells [m]
  double band;     // [m]
  int depth = 0;   // the root is 2^depth finest cells wide
  // by lattice position; only used for lookup, never iterated
  std::unordered_map<std::uint64_t, float> known = {};
  Index hint = -1;

  // Exact distance at a point of the finest lattice, computed once.
  float at(int x, int y, int z)
  {
    const std::uint64_t key = (static_cast<std::uint64_t>(x) << 42) | (static_cast<std::uint64_t>(y) << 21) |
                              static_cast<std::uint64_t>(z);
    const auto [it, fresh] = known.try_emplace(key, 0.0f);
    if (fresh) {
      const SignedPoint point = mesh.signed_distance(field.origin_ + spacing * Vec3(x, y, z), hint);
      hint = point.surface.triangle;
      it->second = static_cast<float>(point.distance);
    }
    return it->second;
  }

  std::array<float, 8> corners(int x, int y, int z, int size)
  {
    std::array<float, 8> result{};
    for (int c = 0; c < 8; ++c) {
      result[static_cast<std::size_t>(c)] =
          at(x + (c & 4 ? size : 0), y + (c & 2 ? size : 0), z + (c & 1 ? size : 0));
    }
    return result;
  }

  // Whether dividing the cell would improve the field.
  bool needs_division(const std::array<float, 8>& corner, int x, int y, int z, int size)
  {
    const int half = size / 2;
    const double reach = std::sqrt(3.0) / 2 * size * spacing;
    if (std::abs(at(x + half, y + half, z + half)) > band + reach) return false;
    for (int n = 0; n < 27; ++n) {
      const int i = n / 9, j = n / 3 % 3, k = n % 3;
      if (i != 1 && j != 1 && k != 1) continue;
      const FieldSample interpolated =
          interpolate(corner.data(), 4, 2, 0.5f * static_cast<float>(i), 0.5f * static_cast<float>(j),
                      0.5f * static_cast<float>(k), base::simd::all(1));
      if (std::abs(interpolated.value - at(x + i * half, y + j * half, z + k * half)) > kTolerance * spacing)
        return true;
    }
    return false;
  }

  void divide(std::size_t node, int x, int y, int z, int size)
  {
    // A very coarse cell can look flat by chance: the first levels are always divided.
    constexpr int kMinDepth = 3;
    const bool coarse = size > (1 << std::max(depth - kMinDepth, 0));
    if (size == 1 || !(coarse || needs_division(field.nodes_[node].corner, x, y, z, size))) return;
    const int half = size / 2;
    const std::size_t first = field.nodes_.size();
    field.nodes_[node].first_child = static_cast<std::int32_t>(first);
    field.nodes_.resize(first + 8);
    for (int c = 0; c < 8; ++c) {
      const int cx = x + (c & 4 ? half : 0), cy = y + (c & 2 ? half : 0), cz = z + (c & 1 ? half : 0);
      field.nodes_[first + static_cast<std::size_t>(c)] = {corners(cx, cy, cz, half), -1};
    }
    for (int c = 0; c < 8; ++c) {
      divide(first + static_cast<std::size_t>(c), x + (c & 4 ? half : 0), y + (c & 2 ? half : 0),
             z + (c & 1 ? half : 0), half);
    }
  }
};

OctreeDistanceField::OctreeDistanceField(const MeshDistance& mesh, const DistanceFieldDesc& desc)
{
  const GridFrame frame = grid_around(mesh.bvh().bounds(), desc, 1);
  Builder builder{*this, mesh, frame.spacing, desc.band * frame.spacing};
  const int longest = *std::max_element(frame.cells.begin(), frame.cells.end());
  while ((1 << builder.depth) < longest) ++builder.depth;
  const int size = 1 << builder.depth;
  side_ = size * frame.spacing;
  origin_ = frame.bounds().center() - Vec3::Constant(side_ / 2);
  nodes_.push_back({builder.corners(0, 0, 0, size), -1});
  builder.divide(0, 0, 0, 0, size);
  nodes_.shrink_to_fit();
}

FieldSample OctreeDistanceField::sample(const Vec3& p) const
{
  const Box3 box = bounds();
  const Vec3 nearest = p.cwiseMax(box.min()).cwiseMin(box.max());
  Vec3 x = (nearest - origin_) / side_;
  double inverse = 1 / side_;
  const Node* node = nodes_.data();
  while (node->first_child >= 0) {
    // Twice the position in the cell: the integer part selects the child, the fraction is the position in it.
    x *= 2;
    inverse *= 2;
    const int cx = x[0] >= 1, cy = x[1] >= 1, cz = x[2] >= 1;
    x -= Vec3(cx, cy, cz);
    node = nodes_.data() + node->first_child + (4 * cx + 2 * cy + cz);
  }
  const auto s = static_cast<float>(inverse);
  const FieldSample result =
      interpolate(node->corner.data(), 4, 2, static_cast<float>(x[0]), static_cast<float>(x[1]),
                  static_cast<float>(x[2]), base::simd::Float4{s, s, s, 1});
  return nearest == p ? result : extend_outside(result, p - nearest);
}

void OctreeDistanceField::sample(std::span<const Vec3> points, std::span<FieldSample> samples) const
{
  THRUM_ASSERT(points.size() == samples.size());
  for (std::size_t n = 0; n < points.size(); ++n) samples[n] = sample(points[n]);
}

}  // namespace thrum::distance
