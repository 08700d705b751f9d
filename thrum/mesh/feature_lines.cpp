// SPDX-License-Identifier: MIT
#include "thrum/mesh/feature_lines.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"

namespace thrum::mesh {

namespace {

constexpr double kMinAlignment =
    0.7;  // cosine of the maximum angle between a segment and the given direction

}  // namespace

std::size_t FeatureLines::CellHash::operator()(const Cell& c) const
{
  constexpr std::uint64_t kMixX = 0x9E3779B97F4A7C15u;
  constexpr std::uint64_t kMixY = 0xC2B2AE3D27D4EB4Fu;
  constexpr std::uint64_t kMixZ = 0x165667B19E3779F9u;
  return static_cast<std::size_t>(static_cast<std::uint64_t>(c[0]) * kMixX ^
                                  static_cast<std::uint64_t>(c[1]) * kMixY ^
                                  static_cast<std::uint64_t>(c[2]) * kMixZ);
}

FeatureLines::Cell FeatureLines::cell_of(const Vec3& p) const
{
  return {static_cast<std::int64_t>(std::floor(p.x() / cell_)),
          static_cast<std::int64_t>(std::floor(p.y() / cell_)),
          static_cast<std::int64_t>(std::floor(p.z() / cell_))};
}

void FeatureLines::add(const Vec3& a, const Vec3& b)
{
  const auto number = count_of(segments_);
  segments_.push_back({a, b});
  // Points half a cell apart visit every cell that the segment passes or one next to it.
  const int steps = static_cast<int>(std::ceil(2 * (b - a).norm() / cell_)) + 1;
  Cell last{};
  for (int i = 0; i <= steps; ++i) {
    const Cell cell = cell_of(a + (b - a) * (static_cast<double>(i) / steps));
    if (i > 0 && cell == last) continue;
    in_cell_[cell].push_back(number);
    last = cell;
  }
}

Vec3 FeatureLines::nearest(const Vec3& p, const Vec3& direction) const
{
  const Cell middle = cell_of(p);
  double min_distance = std::numeric_limits<double>::infinity();
  Vec3 best = p;
  for (std::int64_t i = -1; i <= 1; ++i) {
    for (std::int64_t j = -1; j <= 1; ++j) {
      for (std::int64_t k = -1; k <= 1; ++k) {
        const auto cell = in_cell_.find({middle[0] + i, middle[1] + j, middle[2] + k});
        if (cell == in_cell_.end()) continue;
        for (const Index s : cell->second) {
          const auto& [a, b] = segments_[at(s)];
          const Vec3 along = b - a;
          if (std::abs(along.dot(direction)) < kMinAlignment * along.norm()) continue;
          const double t = std::clamp((p - a).dot(along) / along.squaredNorm(), 0.0, 1.0);
          const Vec3 q = a + t * along;
          const double distance = (p - q).squaredNorm();
          if (distance < min_distance) {
            min_distance = distance;
            best = q;
          }
        }
      }
    }
  }
  return best;
}

}  // namespace thrum::mesh
