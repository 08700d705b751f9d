// SPDX-License-Identifier: MIT
// Cells of the hashed grid of the broad phase. Private to broad_phase*.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "thrum/base/vec.h"

namespace thrum::collision {

inline constexpr int kMinExponent = -32;  // level 0 has cells of 2^-32 m
inline constexpr int kLevels = 64;        // up to cells of 2^31 m
inline constexpr int kCellBits = 19;      // per coordinate; farther cells share a key, which only costs time
inline constexpr int kColumnBits = 2;
inline constexpr std::uint64_t kColumnMask = (1U << kColumnBits) - 1;
inline constexpr double kMaxCellCoordinate = 1e15;  // keeps the conversion to integers defined [cells]

[[nodiscard]] inline int level_of(const Box3& box)
{
  const double edge = box.sizes().maxCoeff();
  if (!(edge > 0)) return 0;
  int exponent = 0;
  std::frexp(edge, &exponent);  // edge <= 2^exponent
  return std::clamp(exponent - kMinExponent, 0, kLevels - 1);
}

[[nodiscard]] inline double cell_edge(int level)
{
  return std::ldexp(1.0, level + kMinExponent);
}

// The edge is a power of two, so that its inverse is exact.
[[nodiscard]] inline std::int64_t cell_coordinate(double x, double inverse_edge)
{
  return static_cast<std::int64_t>(
      std::clamp(std::floor(x * inverse_edge), -kMaxCellCoordinate, kMaxCellCoordinate));
}

[[nodiscard]] inline std::int64_t pack(int level, std::int64_t x, std::int64_t y, std::int64_t z)
{
  constexpr std::int64_t mask = (std::int64_t{1} << kCellBits) - 1;
  return (std::int64_t{level} << (3 * kCellBits)) | ((x & mask) << (2 * kCellBits)) |
         ((y & mask) << kCellBits) | (z & mask);
}

// Four cells above each other lie side by side: a search looks through cells in columns.
[[nodiscard]] inline std::size_t hash_key(std::int64_t key)
{
  auto h = static_cast<std::uint64_t>(key) >> kColumnBits;
  h ^= h >> 31;
  h *= 0x9e3779b97f4a7c15ULL;
  h ^= h >> 29;
  return static_cast<std::size_t>(h << kColumnBits | (static_cast<std::uint64_t>(key) & kColumnMask));
}

}  // namespace thrum::collision
