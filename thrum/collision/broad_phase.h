// SPDX-License-Identifier: MIT
// Pairs of bodies whose boxes overlap, in time proportional to the number of bodies that moved.
//
// Each body has a box a little larger than needed ("loose"), and only when it leaves that box does anything
// happen. Loose boxes are kept in a hashed grid: level k has cells of edge 2^k, a box lives at the finest
// level whose cells are not smaller than the box, in the cell of its centre. So a box reaches at most half a
// cell outside its own cell, and all boxes of level k that overlap a given box are found in the cells within
// half a cell of it.
//
//   level 0   . . . . . . . .      small bodies
//   level 3   |       |       |    a table, a wall
//
// Unbounded shapes are kept in a list and meet everything.
//
// Fixed bodies live in a grid of their own and are never compared with each other. The pairs found do not
// depend on the history of the loose boxes as far as contact goes: a pair whose true boxes overlap is always
// among them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/model/ids.h"

namespace thrum::collision {

struct BodyPair {
  model::BodyIndex a = model::kNone;  ///< always less than b
  model::BodyIndex b = model::kNone;
  friend auto operator<=>(const BodyPair&, const BodyPair&) = default;
};

struct BroadPhaseDesc {
  double looseness = 0.1;  ///< growth of the loose box on each side, as a fraction of its largest edge
  std::size_t max_pairs_per_body = 64;  ///< on average; beyond it find_pairs() throws Error
  std::size_t min_pair_limit = 200000;  ///< so many pairs are always accepted
};

class BroadPhase {
 public:
  explicit BroadPhase(const BroadPhaseDesc& desc = {}) : desc_(desc) {}

  /// Declares body `id`, numbered upwards from 0 without holes.
  void add(model::BodyIndex id, bool fixed, bool unbounded);
  /// Gives the box of a body for this step. An empty box takes the body out until it has a box again.
  void update(model::BodyIndex id, const Box3& box);
  /// Takes a body out for good; its number stays in use until clear().
  void remove(model::BodyIndex id);
  /// Changes whether a body is fixed; it meets others accordingly from the next find_pairs() on.
  void set_fixed(model::BodyIndex id, bool fixed);
  /// Pairs of overlapping loose boxes, sorted, at least one of each not fixed. Throws Error when there are
  /// absurdly many.
  [[nodiscard]] std::span<const BodyPair> find_pairs();
  /// Bodies whose loose box overlaps `box`, in ascending order. Unbounded bodies are always among them.
  void overlapping(const Box3& box, std::vector<model::BodyIndex>& found) const;
  /// Called with a body and the reach of the query; returns the reach from then on, which must not be
  /// greater.
  using QueryVisit = std::function<double(model::BodyIndex body, double reach)>;
  /// Bodies whose loose box meets `box` on its way along `motion` [m]: unbounded ones first, then front to
  /// back, cell by cell. The reach is a fraction of the motion, 1 at first; bodies met only beyond it are
  /// left out.
  void sweep(const Box3& box, const Vec3& motion, const QueryVisit& visit) const;
  /// Bodies whose loose box is within `max_distance` [m] of `p`: unbounded ones first, then by rings of cells
  /// around p. The reach is a distance, `max_distance` at first; bodies beyond it are left out. A body may be
  /// visited twice.
  void search_near(const Vec3& p, double max_distance, const QueryVisit& visit) const;
  [[nodiscard]] std::size_t body_count() const { return proxies_.size(); }
  void clear();

 private:
  static constexpr std::int64_t kNoCell = -1;
  /// Four of them fill a line of the cache.
  struct Cell {
    std::int64_t key = kNoCell;  ///< packed level and cell
    std::int32_t first = -1;
  };
  struct Level {
    std::vector<model::BodyIndex> bodies;  ///< in no order
    Box3 bounds;                           ///< holds their loose boxes; shrinks only when the level empties
  };
  /// One hashed grid with levels. Buckets by open addressing; bodies of a cell form a list.
  struct Grid {
    std::vector<Cell> cells;
    std::size_t used = 0;
    std::array<Level, 64> levels;
    std::uint64_t populated = 0;  ///< bit k: level k has bodies
  };
  struct Proxy {
    Box3 loose;
    std::int64_t key = 0;
    std::int32_t next = -1;
    std::int32_t previous = -1;
    std::int32_t member = -1;  ///< position in Level::bodies
    std::uint8_t level = 0;
    bool placed = false;
    bool fixed = false;
    bool unbounded = false;
    bool moved = false;
  };

  [[nodiscard]] static std::size_t slot_of(const Grid& grid, std::int64_t key);
  void place(model::BodyIndex id);
  void mark_moved(model::BodyIndex id);
  void remove_from_grid(model::BodyIndex id);
  static void grow(Grid& grid);
  template <class Visit>
  void visit_grid(const Grid& grid, const Box3& box, Visit&& visit) const;
  struct SweptBox;
  struct SliceWalk;
  struct RingWalk;
  [[nodiscard]] bool start_walk(const Grid& grid, int level, const SweptBox& swept, SliceWalk& walk) const;
  void sweep_members(const Level& level, const SweptBox& swept, const QueryVisit& visit, double& reach) const;
  void sweep_slice(const SliceWalk& walk, const SweptBox& swept, const QueryVisit& visit,
                   double& reach) const;
  void search_members(const Level& level, const Vec3& p, const QueryVisit& visit, double& reach) const;
  void search_ring(const RingWalk& walk, const Vec3& p, const QueryVisit& visit, double& reach) const;
  void collect_pairs_of(model::BodyIndex id);
  void check_pair_count(std::size_t count) const;
  void sort_new_pairs();

  BroadPhaseDesc desc_;
  std::vector<Proxy> proxies_;
  std::array<Grid, 2> grids_;  ///< moving, fixed
  std::vector<model::BodyIndex> unbounded_;
  std::vector<model::BodyIndex> moved_;
  std::vector<BodyPair> pairs_;
  std::vector<BodyPair> new_pairs_;
  std::vector<BodyPair> merged_;
  std::vector<std::pair<std::int64_t, model::BodyIndex>> by_cell_;
  std::vector<std::size_t> begin_;  ///< of the pairs of each body, while they are sorted
};

}  // namespace thrum::collision
