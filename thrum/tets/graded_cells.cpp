// SPDX-License-Identifier: MIT
#include "thrum/tets/graded_cells.h"

#include <algorithm>

#include "thrum/base/index.h"

namespace thrum::tets {

namespace {

constexpr int kSide = BccLattice::kBlockCells;

// Calls visit(cell, index) for each stored cell, first those of slot 0.
template <class Visit>
void for_each_cell(const BccLattice& lattice, int step, Visit&& visit)
{
  for (std::size_t slot = 0; slot < lattice.slot_count(); ++slot) {
    const auto first = lattice.first_cell(slot);
    for (int k = 0; k < kSide; k += step) {
      for (int j = 0; j < kSide; j += step) {
        for (int i = 0; i < kSide; i += step) {
          const std::size_t local = at((k * kSide + j) * kSide + i);
          visit(std::array<int, 3>{first[0] + i, first[1] + j, first[2] + k},
                slot * kSide * kSide * kSide + local);
        }
      }
    }
  }
}

// All cells of the box from `low` to `high` (both included) satisfy the condition.
template <class Condition>
bool all_cells(const std::array<int, 3>& low, const std::array<int, 3>& high, int step, Condition&& condition)
{
  for (int k = low[2]; k <= high[2]; k += step) {
    for (int j = low[1]; j <= high[1]; j += step) {
      for (int i = low[0]; i <= high[0]; i += step) {
        if (!condition(std::array<int, 3>{i, j, k})) return false;
      }
    }
  }
  return true;
}

}  // namespace

GradedCells::GradedCells(const BccLattice& lattice, int levels) : lattice_(lattice)
{
  level_.assign(lattice.site_count() / 2, 0);
  mark_deep_cells();
  for (int level = 1; level <= std::min(levels, kMaxLevels); ++level) merge(level);
}

void GradedCells::mark_deep_cells()
{
  // Cells with all sites inside, then those that have only such neighbours: there no tetrahedron is cut or
  // warped.
  std::vector<char> inside(level_.size(), 0);
  for_each_cell(lattice_, 1, [&](const std::array<int, 3>& cell, std::size_t index) {
    const LatticeSite centre{2 * cell[0] + 1, 2 * cell[1] + 1, 2 * cell[2] + 1};
    bool all = lattice_.sign(lattice_.address(centre)) < 0;
    for (int c = 0; c < 8 && all; ++c) {
      const LatticeSite corner{centre.x + (c & 1 ? 1 : -1), centre.y + (c & 2 ? 1 : -1),
                               centre.z + (c & 4 ? 1 : -1)};
      all = lattice_.sign(lattice_.address(corner)) < 0;
    }
    inside[index] = all ? 1 : 0;
  });
  deep_.assign(level_.size(), 0);
  for_each_cell(lattice_, 1, [&](const std::array<int, 3>& cell, std::size_t index) {
    const auto is_inside = [&](const std::array<int, 3>& c) {
      const SiteAddress address = lattice_.address({2 * c[0], 2 * c[1], 2 * c[2]});
      return address != kNoSite && inside[at(address / 2)] != 0;
    };
    deep_[index] = inside[index] != 0 && all_cells({cell[0] - 1, cell[1] - 1, cell[2] - 1},
                                                   {cell[0] + 1, cell[1] + 1, cell[2] + 1}, 1, is_inside)
                       ? 1
                       : 0;
  });
}

// Eight leaves of the level below become one where every leaf that would touch it is at least of that level.
// Leaves around may become larger in the same pass, never smaller, so the order does not matter.
void GradedCells::merge(int to_level)
{
  const int size = 1 << to_level;
  std::vector<std::array<int, 3>> merged;
  for_each_cell(lattice_, size, [&](const std::array<int, 3>& first, std::size_t) {
    const std::array<int, 3> last = {first[0] + size - 1, first[1] + size - 1, first[2] + size - 1};
    const bool deep = all_cells(first, last, 1, [&](const std::array<int, 3>& c) {
      return deep_[at(lattice_.address({2 * c[0], 2 * c[1], 2 * c[2]}) / 2)] != 0;
    });
    if (!deep) return;
    // The cells around it: below level n - 1 they come in aligned groups, so every cell is checked.
    const bool balanced =
        all_cells({first[0] - 1, first[1] - 1, first[2] - 1}, {last[0] + 1, last[1] + 1, last[2] + 1}, 1,
                  [&](const std::array<int, 3>& c) { return level(c) >= to_level - 1; });
    if (balanced) merged.push_back(first);
  });
  for (const auto& first : merged) {
    (void)all_cells(first, {first[0] + size - 1, first[1] + size - 1, first[2] + size - 1}, 1,
                    [&](const auto& c) {
                      level_[at(lattice_.address({2 * c[0], 2 * c[1], 2 * c[2]}) / 2)] =
                          static_cast<std::uint8_t>(to_level);
                      return true;
                    });
  }
}

bool GradedCells::splits_edge(const LatticeSite& middle, int of_level) const
{
  const std::array<int, 3> cell = {middle.x / 2, middle.y / 2, middle.z / 2};
  return !all_cells({cell[0] - 1, cell[1] - 1, cell[2] - 1}, cell, 1,
                    [&](const std::array<int, 3>& c) { return level(c) >= of_level; });
}

}  // namespace thrum::tets
