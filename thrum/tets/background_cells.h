// SPDX-License-Identifier: MIT
// The tetrahedra that cover a body: those of a body-centred cubic lattice, bisected where that is needed.
//
// A tetrahedron is bisected at the middle of its longest edge, together with all that share this edge; where
// one of them has a longer edge, that one is bisected first [Rivara 1984, 1997]. The mesh so remains one in
// which faces match. The tetrahedra of the lattice have two long edges opposite to each other; what comes out
// of them is of four shapes: itself and the three of Maubach's cycle, so that none becomes narrow.
//
// Coordinates are whole numbers, so that lengths are compared exactly.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::tets {

class BackgroundCells {
 public:
  /// Whole-number coordinates of a vertex; half a lattice cube is kUnit.
  using Site = std::array<std::int64_t, 3>;
  static constexpr std::int64_t kUnit = std::int64_t{1} << 16;

  struct Cell {
    std::array<Index, 4> vertices{};
    /// The two halves, or -1. The first has corner split[0] of this one and the middle in place of split[1].
    std::array<Index, 2> children = {-1, -1};
    std::array<std::uint8_t, 2> split{};

    [[nodiscard]] bool is_leaf() const { return children[0] < 0; }
  };

  [[nodiscard]] Index add_vertex(const Site& site);
  [[nodiscard]] Index add_cell(const std::array<Index, 4>& vertices);

  [[nodiscard]] const std::vector<Site>& sites() const { return sites_; }
  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  [[nodiscard]] const Cell& cell(Index c) const { return cells_[static_cast<std::size_t>(c)]; }

  /// Bisects each cell as often as `levels` says, and what else must be for faces to match. `levels` has an
  /// entry for every cell; only those of leaves count. Parents keep their numbers, halves get new ones.
  void refine(std::vector<std::uint8_t> levels);

  /// The leaf below a cell that contains the point with these barycentric coordinates in the cell.
  [[nodiscard]] Index leaf_at(Index cell, Vec4 point) const;

  /// All leaves below a cell.
  void leaves_below(Index cell, std::vector<Index>& leaves) const;

 private:
  using Edge = std::array<Index, 2>;  // ascending
  [[nodiscard]] Edge longest_edge(Index cell) const;
  [[nodiscard]] std::int64_t squared_length(const Edge& edge) const;
  void add_to_edges(Index cell);
  void bisect(const Edge& edge, std::vector<std::uint8_t>& levels);

  std::vector<Site> sites_;
  std::vector<Cell> cells_;
  std::unordered_map<std::uint64_t, std::vector<Index>> around_;  // leaves at each edge, while refining
};

}  // namespace thrum::tets
