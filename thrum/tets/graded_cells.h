// SPDX-License-Identifier: MIT
// Which cells of the lattice are merged into larger ones away from the surface.
//
// A leaf of level n is a cube of 2^n cells a side, aligned to its size. Cells whose sites, and those of all
// their neighbours, lie inside may merge; leaves that touch, even at a corner only, differ by at most one
// level.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/tets/bcc_lattice.h"

namespace thrum::tets {

class GradedCells {
 public:
  static constexpr int kMaxLevels = 3;  ///< a leaf is at most one block

  /// Uses the current signs of the lattice, so call it after warping.
  GradedCells(const BccLattice& lattice, int levels);

  /// Level of the leaf that contains a cell; 0 in outside blocks.
  [[nodiscard]] int level(const std::array<int, 3>& cell) const
  {
    const SiteAddress address = lattice_.address({2 * cell[0], 2 * cell[1], 2 * cell[2]});
    return address == kNoSite ? 0 : level_[at(address / 2)];
  }

  /// Whether the middle of an edge of a leaf of this level is a corner of a smaller leaf. `middle` is a
  /// corner site.
  [[nodiscard]] bool splits_edge(const LatticeSite& middle, int of_level) const;

 private:
  void mark_deep_cells();
  void merge(int to_level);

  const BccLattice& lattice_;
  std::vector<std::uint8_t> level_;  // per cell, in the order of their sites
  std::vector<char> deep_;           // per cell
};

}  // namespace thrum::tets
