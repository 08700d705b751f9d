// SPDX-License-Identifier: MIT
#include "thrum/collision/broad_phase.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/collision/broad_phase_cells.h"

namespace thrum::collision {

namespace {

constexpr std::size_t kInitialCells = 256;  // power of two
constexpr std::size_t kSmallBatch = 512;    // up to so many are looked up and sorted as they come

}  // namespace

void BroadPhase::add(model::BodyIndex id, bool fixed, bool unbounded)
{
  THRUM_ASSERT(at(id) == proxies_.size());
  Proxy proxy;
  proxy.fixed = fixed;
  proxy.unbounded = unbounded;
  proxies_.push_back(proxy);
  if (unbounded) unbounded_.push_back(id);
}

void BroadPhase::clear()
{
  const BroadPhaseDesc desc = desc_;
  *this = BroadPhase(desc);
}

void BroadPhase::update(model::BodyIndex id, const Box3& box)
{
  Proxy& proxy = proxies_[at(id)];
  if (proxy.unbounded) {
    if (!proxy.placed) {
      proxy.placed = proxy.moved = true;
      moved_.push_back(id);
    }
    return;
  }
  if (box.isEmpty()) {
    if (!proxy.placed) return;
    remove_from_grid(id);
    proxy.loose.setEmpty();
  } else {
    if (proxy.placed && proxy.loose.contains(box)) return;
    if (proxy.placed) remove_from_grid(id);
    const Vec3 growth = Vec3::Constant(desc_.looseness * box.sizes().maxCoeff());
    proxy.loose = Box3(box.min() - growth, box.max() + growth);
    place(id);
  }
  mark_moved(id);
}

void BroadPhase::mark_moved(model::BodyIndex id)
{
  Proxy& proxy = proxies_[at(id)];
  if (proxy.moved) return;
  proxy.moved = true;
  moved_.push_back(id);
}

void BroadPhase::remove(model::BodyIndex id)
{
  Proxy& proxy = proxies_[at(id)];
  if (proxy.unbounded) {
    std::erase(unbounded_, id);
    proxy.placed = false;
    proxy.unbounded = false;
  } else if (proxy.placed) {
    remove_from_grid(id);
  }
  proxy.loose.setEmpty();
  mark_moved(id);
}

void BroadPhase::set_fixed(model::BodyIndex id, bool fixed)
{
  Proxy& proxy = proxies_[at(id)];
  if (proxy.fixed == fixed) return;
  const bool in_grid = proxy.placed && !proxy.unbounded;
  if (in_grid) remove_from_grid(id);
  proxy.fixed = fixed;
  if (in_grid) place(id);
  mark_moved(id);
}

// The slot that holds `key`, or the empty one where it belongs.
std::size_t BroadPhase::slot_of(const Grid& grid, std::int64_t key)
{
  const std::size_t mask = grid.cells.size() - 1;
  std::size_t slot = hash_key(key) & mask;
  while (grid.cells[slot].key != kNoCell && grid.cells[slot].key != key) slot = (slot + 1) & mask;
  return slot;
}

// Doubles the table, or just sweeps out cells that became empty.
void BroadPhase::grow(Grid& grid)
{
  std::size_t live = 0;
  for (const Cell& cell : grid.cells) live += cell.first >= 0;
  std::size_t size = kInitialCells;
  while (size < 4 * live) size *= 2;
  std::vector<Cell> old(size);
  old.swap(grid.cells);
  grid.used = live;
  for (const Cell& cell : old) {
    if (cell.first >= 0) grid.cells[slot_of(grid, cell.key)] = cell;
  }
}

void BroadPhase::place(model::BodyIndex id)
{
  Proxy& proxy = proxies_[at(id)];
  Grid& grid = grids_[proxy.fixed ? 1 : 0];
  if (2 * (grid.used + 1) > grid.cells.size()) grow(grid);
  const int level = level_of(proxy.loose);
  const double inverse_edge = 1 / cell_edge(level);
  const Vec3 centre = proxy.loose.center();
  proxy.level = static_cast<std::uint8_t>(level);
  proxy.key = pack(level, cell_coordinate(centre.x(), inverse_edge),
                   cell_coordinate(centre.y(), inverse_edge), cell_coordinate(centre.z(), inverse_edge));
  Cell& cell = grid.cells[slot_of(grid, proxy.key)];
  if (cell.key == kNoCell) {
    cell = {proxy.key, -1};
    ++grid.used;
  }
  proxy.previous = -1;
  proxy.next = cell.first;
  if (cell.first >= 0) proxies_[at(cell.first)].previous = id;
  cell.first = id;
  Level& members = grid.levels[at(level)];
  if (members.bodies.empty()) members.bounds.setEmpty();
  proxy.member = static_cast<std::int32_t>(members.bodies.size());
  members.bodies.push_back(id);
  members.bounds.extend(proxy.loose);
  grid.populated |= std::uint64_t{1} << level;
  proxy.placed = true;
}

void BroadPhase::remove_from_grid(model::BodyIndex id)
{
  Proxy& proxy = proxies_[at(id)];
  Grid& grid = grids_[proxy.fixed ? 1 : 0];
  if (proxy.next >= 0) proxies_[at(proxy.next)].previous = proxy.previous;
  if (proxy.previous >= 0) {
    proxies_[at(proxy.previous)].next = proxy.next;
  } else {
    grid.cells[slot_of(grid, proxy.key)].first = proxy.next;
  }
  Level& members = grid.levels[proxy.level];
  const model::BodyIndex last = members.bodies.back();
  members.bodies[at(proxy.member)] = last;
  proxies_[at(last)].member = proxy.member;
  members.bodies.pop_back();
  if (members.bodies.empty()) grid.populated &= ~(std::uint64_t{1} << proxy.level);
  proxy.placed = false;
}

// Calls visit(id) for each body of the grid whose loose box overlaps `box`.
template <class Visit>
void BroadPhase::visit_grid(const Grid& grid, const Box3& box, Visit&& visit) const
{
  for (std::uint64_t left = grid.populated; left != 0; left &= left - 1) {
    const int level = std::countr_zero(left);
    const Level& members = grid.levels[at(level)];
    if (!members.bounds.intersects(box)) continue;
    const double edge = cell_edge(level);
    const double inverse_edge = 1 / edge;
    std::array<std::int64_t, 3> low{};
    std::array<std::int64_t, 3> high{};
    double cells = 1;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto axis = static_cast<Eigen::Index>(k);
      low[k] = cell_coordinate(box.min()[axis] - 0.5 * edge, inverse_edge);
      high[k] = cell_coordinate(box.max()[axis] + 0.5 * edge, inverse_edge);
      cells *= static_cast<double>(high[k] - low[k] + 1);
    }
    // Where a box covers more cells than there are bodies at this level, the bodies are tested one by one.
    if (cells > static_cast<double>(members.bodies.size())) {
      for (const model::BodyIndex other : members.bodies) {
        if (proxies_[at(other)].loose.intersects(box)) visit(other);
      }
      continue;
    }
    for (std::int64_t x = low[0]; x <= high[0]; ++x) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t z = low[2]; z <= high[2]; ++z) {
          const Cell& cell = grid.cells[slot_of(grid, pack(level, x, y, z))];
          for (std::int32_t other = cell.first; other >= 0; other = proxies_[at(other)].next) {
            if (proxies_[at(other)].loose.intersects(box)) visit(other);
          }
        }
      }
    }
  }
}

void BroadPhase::overlapping(const Box3& box, std::vector<model::BodyIndex>& found) const
{
  found.clear();
  const auto collect = [&](model::BodyIndex id) {
    found.push_back(id);
  };
  for (const Grid& grid : grids_) visit_grid(grid, box, collect);
  for (const model::BodyIndex id : unbounded_) collect(id);
  std::sort(found.begin(), found.end());
}

void BroadPhase::collect_pairs_of(model::BodyIndex id)
{
  const Proxy& self = proxies_[at(id)];
  const auto collect = [&](model::BodyIndex other) {
    const Proxy& proxy = proxies_[at(other)];
    if (other == id || (self.fixed && proxy.fixed)) return;
    if (proxy.moved && other < id) return;  // the other one finds it
    new_pairs_.push_back({std::min(id, other), std::max(id, other)});
  };
  if (!self.placed) return;
  if (self.unbounded) {
    for (std::size_t other = 0; other < proxies_.size(); ++other) {
      const Proxy& proxy = proxies_[other];
      if (proxy.placed && !proxy.unbounded) collect(static_cast<model::BodyIndex>(other));
    }
    return;
  }
  visit_grid(grids_[0], self.loose, collect);
  if (!self.fixed) visit_grid(grids_[1], self.loose, collect);
  for (const model::BodyIndex other : unbounded_) {
    if (proxies_[at(other)].placed) collect(other);
  }
}

void BroadPhase::check_pair_count(std::size_t count) const
{
  const std::size_t limit = desc_.min_pair_limit + desc_.max_pairs_per_body * proxies_.size();
  if (count <= limit) return;
  throw Error(fmt::format(
      "More than {} pairs of {} bodies overlap each other's bounding boxes. Bodies seem to have been put "
      "into one place; spread them, or raise BroadPhaseDesc::max_pairs_per_body.",
      limit, proxies_.size()));
}

// By counting the pairs of each first body, then within each: linear in the pairs, as bodies have few.
void BroadPhase::sort_new_pairs()
{
  if (new_pairs_.size() <= kSmallBatch) {
    std::sort(new_pairs_.begin(), new_pairs_.end());
    return;
  }
  begin_.assign(proxies_.size() + 1, 0);
  for (const BodyPair& pair : new_pairs_) ++begin_[at(pair.a) + 1];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  merged_.resize(new_pairs_.size());
  for (const BodyPair& pair : new_pairs_) merged_[begin_[at(pair.a)]++] = pair;
  // Each beginning has moved to the end of its body's pairs.
  std::size_t first = 0;
  for (std::size_t i = 0; i < proxies_.size(); ++i) {
    std::sort(merged_.begin() + static_cast<std::ptrdiff_t>(first),
              merged_.begin() + static_cast<std::ptrdiff_t>(begin_[i]));
    first = begin_[i];
  }
  merged_.swap(new_pairs_);
}

std::span<const BodyPair> BroadPhase::find_pairs()
{
  if (moved_.empty()) return pairs_;
  new_pairs_.clear();
  // In the order of their cells, neighbours are looked up while what they share is still in the cache: with
  // all of 100,000 bodies moving this halves the time.
  if (moved_.size() > kSmallBatch) {
    by_cell_.clear();
    for (const model::BodyIndex id : moved_) by_cell_.push_back({proxies_[at(id)].key, id});
    std::sort(by_cell_.begin(), by_cell_.end());
    std::transform(by_cell_.begin(), by_cell_.end(), moved_.begin(),
                   [](const auto& entry) { return entry.second; });
  }
  for (const model::BodyIndex id : moved_) {
    collect_pairs_of(id);
    check_pair_count(new_pairs_.size());
  }
  sort_new_pairs();
  // Pairs of bodies that both stayed in their loose boxes stay; all others were found again above.
  std::erase_if(
      pairs_, [&](const BodyPair& pair) { return proxies_[at(pair.a)].moved || proxies_[at(pair.b)].moved; });
  merged_.resize(pairs_.size() + new_pairs_.size());
  std::merge(pairs_.begin(), pairs_.end(), new_pairs_.begin(), new_pairs_.end(), merged_.begin());
  merged_.swap(pairs_);
  check_pair_count(pairs_.size());
  for (const model::BodyIndex id : moved_) proxies_[at(id)].moved = false;
  moved_.clear();
  return pairs_;
}

}  // namespace thrum::collision
