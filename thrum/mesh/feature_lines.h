// SPDX-License-Identifier: MIT
// Segments of a surface's sharp edges, with a search for the one near a point.
#pragma once

#include <array>
#include <unordered_map>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::mesh {

class FeatureLines {
 public:
  /// Segments are searched within about `reach` [m] of a point.
  explicit FeatureLines(double reach) : cell_(reach) {}

  void add(const Vec3& a, const Vec3& b);

  /// The point nearest to p on a segment that runs along `direction` (unit, either way), or p itself when
  /// none is near.
  [[nodiscard]] Vec3 nearest(const Vec3& p, const Vec3& direction) const;

 private:
  using Cell = std::array<std::int64_t, 3>;
  struct CellHash {
    std::size_t operator()(const Cell& c) const;
  };
  [[nodiscard]] Cell cell_of(const Vec3& p) const;

  double cell_;
  std::vector<std::array<Vec3, 2>> segments_;
  std::unordered_map<Cell, std::vector<Index>, CellHash> in_cell_;
};

}  // namespace thrum::mesh
