// SPDX-License-Identifier: MIT
#include "thrum/tets/background_cells.h"

#include <algorithm>

#include "thrum/base/index.h"

namespace thrum::tets {

namespace {

std::uint64_t key_of(const std::array<Index, 2>& edge)
{
  return (static_cast<std::uint64_t>(edge[0]) << 32) | static_cast<std::uint64_t>(edge[1]);
}

}  // namespace

Index BackgroundCells::add_vertex(const Site& site)
{
  sites_.push_back(site);
  return count_of(sites_) - 1;
}

Index BackgroundCells::add_cell(const std::array<Index, 4>& vertices)
{
  cells_.push_back({.vertices = vertices});
  return count_of(cells_) - 1;
}

std::int64_t BackgroundCells::squared_length(const Edge& edge) const
{
  std::int64_t sum = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t d = sites_[at(edge[0])][a] - sites_[at(edge[1])][a];
    sum += d * d;
  }
  return sum;
}

// Of edges of equal length the one with the higher numbers: an order of all edges that all cells agree on.
BackgroundCells::Edge BackgroundCells::longest_edge(Index cell) const
{
  const auto& v = cells_[at(cell)].vertices;
  Edge longest{};
  std::int64_t most = -1;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = i + 1; j < 4; ++j) {
      const Edge edge = {std::min(v[i], v[j]), std::max(v[i], v[j])};
      const std::int64_t length = squared_length(edge);
      if (length < most || (length == most && edge < longest)) continue;
      most = length;
      longest = edge;
    }
  return longest;
}

void BackgroundCells::add_to_edges(Index cell)
{
  const auto& v = cells_[at(cell)].vertices;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = i + 1; j < 4; ++j)
      around_[key_of({std::min(v[i], v[j]), std::max(v[i], v[j])})].push_back(cell);
}

void BackgroundCells::bisect(const Edge& edge, std::vector<std::uint8_t>& levels)
{
  Site middle;
  for (std::size_t a = 0; a < 3; ++a) middle[a] = (sites_[at(edge[0])][a] + sites_[at(edge[1])][a]) / 2;
  const Index m = add_vertex(middle);
  const std::vector<Index> halved = around_[key_of(edge)];
  for (const Index c : halved) {
    const std::array<Index, 4> v = cells_[at(c)].vertices;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = i + 1; j < 4; ++j) {
        auto& list = around_[key_of({std::min(v[i], v[j]), std::max(v[i], v[j])})];
        list.erase(std::find(list.begin(), list.end(), c));
      }
    std::array<std::uint8_t, 2> split{};
    for (std::uint8_t k = 0; k < 4; ++k)
      for (std::size_t end = 0; end < 2; ++end)
        if (v[k] == edge[end]) split[end] = k;
    for (std::size_t half = 0; half < 2; ++half) {
      std::array<Index, 4> corners = v;
      corners[split[1 - half]] = m;
      const Index child = add_cell(corners);
      cells_[at(c)].children[half] = child;
      levels.push_back(levels[at(c)] > 0 ? static_cast<std::uint8_t>(levels[at(c)] - 1) : std::uint8_t{0});
      add_to_edges(child);
    }
    cells_[at(c)].split = split;
  }
  around_.erase(key_of(edge));
}

void BackgroundCells::refine(std::vector<std::uint8_t> levels)
{
  around_.clear();
  for (Index c = 0; c < count_of(cells_); ++c)
    if (cells_[at(c)].is_leaf()) add_to_edges(c);
  for (Index first = 0; first < count_of(cells_); ++first) {  // halves come later
    while (cells_[at(first)].is_leaf() && levels[at(first)] > 0) {
      // Along ever longer edges to one that is the longest of all cells around it.
      Edge edge = longest_edge(first);
      for (bool found = false; !found;) {
        found = true;
        for (const Index c : around_[key_of(edge)]) {
          const Edge longer = longest_edge(c);
          if (longer == edge) continue;
          edge = longer;
          found = false;
          break;
        }
      }
      bisect(edge, levels);
    }
  }
  around_.clear();
}

Index BackgroundCells::leaf_at(Index cell, Vec4 point) const
{
  while (!cells_[at(cell)].is_leaf()) {
    const Cell& c = cells_[at(cell)];
    const int kept = point[c.split[0]] >= point[c.split[1]] ? 0 : 1;
    const std::uint8_t keeps = c.split[at(kept)];
    const std::uint8_t moves = c.split[at(1 - kept)];
    // p = a A + b B, middle M = (A + B)/2: for a >= b it is (a - b) A + 2 b M.
    point[keeps] -= point[moves];
    point[moves] *= 2;
    cell = c.children[at(kept)];
  }
  return cell;
}

void BackgroundCells::leaves_below(Index cell, std::vector<Index>& leaves) const
{
  const Cell& c = cells_[at(cell)];
  if (c.is_leaf()) {
    leaves.push_back(cell);
    return;
  }
  for (const Index child : c.children) leaves_below(child, leaves);
}

}  // namespace thrum::tets
