// SPDX-License-Identifier: MIT
// The body-centred cubic lattice over a box, stored in blocks of 8^3 cells, allocated only inside the shape.
//
// A site has integer coordinates in units of half the spacing: all three even (a cell corner) or all three
// odd (a cell centre). Cell (i, j, k) owns the corner (2i, 2j, 2k) and the centre (2i+1, 2j+1, 2k+1). Each
// site has 14 edges:
//
//     6 long  edges, length h            to sites of its own kind       (+-2, 0, 0) ...
//     8 short edges, length h sqrt(3)/2  to sites of the other kind     (+-1, +-1, +-1)
//
// Blocks give direct addressing without hashing: the block table is dense and small, and blocks outside the
// shape take no memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/distance/distance_function.h"

namespace thrum::tets {

struct LatticeSite {
  int x = 0;
  int y = 0;
  int z = 0;

  friend LatticeSite operator+(const LatticeSite& a, const LatticeSite& b)
  {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend LatticeSite operator-(const LatticeSite& a, const LatticeSite& b)
  {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend bool operator==(const LatticeSite&, const LatticeSite&) = default;
};

/// The address of a site's data, or kNoSite in an outside block or beyond the grid.
using SiteAddress = std::int32_t;
inline constexpr SiteAddress kNoSite = -1;

/// The seven edges that a site owns; the other seven are owned by their far ends. The first three are long.
inline constexpr std::array<LatticeSite, 7> kOwnedEdges = {
    {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}, {1, 1, 1}}};
inline constexpr int kLongEdges = 3;

/// Index into kOwnedEdges of the step from a site to a neighbour, or -1 when the neighbour owns the edge.
[[nodiscard]] constexpr int owned_edge(const LatticeSite& step)
{
  if (step.x == 0 || step.y == 0 || step.z == 0) {
    if (step.x + step.y + step.z < 0) return -1;
    return step.x != 0 ? 0 : (step.y != 0 ? 1 : 2);
  }
  if (step.z < 0) return -1;
  return kLongEdges + (step.x > 0 ? 1 : 0) + (step.y > 0 ? 2 : 0);
}

[[nodiscard]] constexpr bool is_long_edge(const LatticeSite& a, const LatticeSite& b)
{
  return ((a.x ^ b.x) & 1) == 0;
}

class BccLattice {
 public:
  static constexpr int kBlockCells = 8;  ///< along each axis
  static constexpr int kBlockSites = 2 * kBlockCells * kBlockCells * kBlockCells;

  /// Covers `bounds` with a margin of one cell on each side; a lattice plane passes through bounds.min().
  /// Throws Error when the grid would have more blocks than can be addressed.
  BccLattice(const Box3& bounds, double spacing);

  /// Keeps the blocks that are not entirely outside and evaluates the distance at every site within `spacing`
  /// of the surface. Other sites only get a value of the correct sign.
  void sample(const distance::DistanceFunction& distance);

  [[nodiscard]] double spacing() const { return spacing_; }
  [[nodiscard]] Vec3 position(const LatticeSite& s) const
  {
    return origin_ + 0.5 * spacing_ * Vec3(s.x, s.y, s.z);
  }

  [[nodiscard]] SiteAddress address(const LatticeSite& s) const
  {
    const int i = s.x >> 1, j = s.y >> 1, k = s.z >> 1;
    if (i < 0 || j < 0 || k < 0 || i >= cells_[0] || j >= cells_[1] || k >= cells_[2]) return kNoSite;
    const int block = (i >> 3) + blocks_[0] * ((j >> 3) + blocks_[1] * (k >> 3));
    const std::int32_t slot = slot_of_block_[at(block)];
    if (slot < 0) return kNoSite;
    return slot * kBlockSites + ((((k & 7) * kBlockCells + (j & 7)) * kBlockCells + (i & 7)) * 2 + (s.x & 1));
  }
  [[nodiscard]] LatticeSite site(SiteAddress address) const;

  /// Sites lie beyond the grid when a coordinate is outside [0, 2 cells).
  [[nodiscard]] bool contains(const LatticeSite& s) const
  {
    return s.x >= 0 && s.y >= 0 && s.z >= 0 && s.x < 2 * cells_[0] && s.y < 2 * cells_[1] &&
           s.z < 2 * cells_[2];
  }

  [[nodiscard]] std::size_t slot_count() const { return block_of_slot_.size(); }
  [[nodiscard]] std::size_t site_count() const { return values_.size(); }
  /// First cell of a slot's block.
  [[nodiscard]] std::array<int, 3> first_cell(std::size_t slot) const;
  /// Whether the surface may pass through or near the slot's block.
  [[nodiscard]] bool near_surface(std::size_t slot) const { return near_surface_[slot] != 0; }
  [[nodiscard]] const std::array<int, 3>& cells() const { return cells_; }

  [[nodiscard]] double value(SiteAddress address) const
  {
    return address == kNoSite ? spacing_ : values_[at(address)];
  }
  void set_value(SiteAddress address, double value) { values_[at(address)] = value; }
  /// -1 inside, 0 on the surface, +1 outside.
  [[nodiscard]] int sign(SiteAddress address) const
  {
    const double v = value(address);
    return (v > 0) - (v < 0);
  }

  /// Number of evaluations of the distance function.
  [[nodiscard]] std::size_t evaluations() const { return evaluations_; }

 private:
  struct Part {  // a cube of cells inside a block, still undecided
    std::int32_t slot;
    std::uint8_t i, j, k;  // first cell, relative to the block
  };
  [[nodiscard]] Vec3 centre_of_sites(const std::array<int, 3>& cell, int size) const;
  void keep_blocks(const distance::DistanceFunction& distance, std::vector<Part>& parts);
  void refine_parts(const distance::DistanceFunction& distance, int size, std::vector<Part>& parts);
  void evaluate_sites(const distance::DistanceFunction& distance, int size, const std::vector<Part>& parts);
  void check_edge_of_grid() const;
  void fill(const Part& part, int size, double value);
  [[nodiscard]] double reach(int size) const;

  Vec3 origin_ = Vec3::Zero();
  double spacing_ = 0;
  std::array<int, 3> cells_{};
  std::array<int, 3> blocks_{};
  std::vector<std::int32_t> slot_of_block_;  // -1 outside
  std::vector<std::int32_t> block_of_slot_;
  std::vector<char> near_surface_;
  std::vector<double> values_;
  std::size_t evaluations_ = 0;
};

}  // namespace thrum::tets
