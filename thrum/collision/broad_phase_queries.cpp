// SPDX-License-Identifier: MIT
// Walks through the grid of the broad phase: a box on its way, and cells around a point.
//
// A loose box of level k reaches at most half a cell out of the cell of its centre. So a box of half edges h
// on its way can meet the boxes of a cell only while its centre is inside that cell grown by e / 2 + h, e
// being the edge of the cell. A sweep goes through slices of cells along the axis of the largest motion:
//
//        | 0 | 1 | 2 | 3 |        the slices in order; of each those cells that the centre can
//     o----------------------->   reach while it is inside the grown slice
//
// A search around a point goes through rings of cells instead: ring j has the cells j away in the maximum
// norm, whose boxes are at least (j - 1) e + m - e / 2 away, m being the distance of the point from the faces
// of its own cell.
//
// All levels are walked at once, always the one whose next slice or ring is nearest, and the walk ends when
// that one is beyond the reach of the query. A level whose bodies are fewer than the cells to look up is
// searched body by body.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/collision/broad_phase.h"
#include "thrum/collision/broad_phase_cells.h"

namespace thrum::collision {

namespace {

/// Rounding of positions relative to the largest coordinate of the query.
constexpr double kSlack = 1e-12;
constexpr double kNever = std::numeric_limits<double>::infinity();
/// Cells farther apart than this along an axis may share a key.
constexpr double kMaxCellSpan = std::int64_t{1} << (kCellBits - 1);

struct Interval {
  double enters;
  double leaves;
  [[nodiscard]] bool empty() const { return enters > leaves; }
};

struct Candidate {
  double at;
  model::BodyIndex body;
  friend bool operator<(const Candidate& x, const Candidate& y)
  {
    return x.at != y.at ? x.at < y.at : x.body < y.body;
  }
};

}  // namespace

struct BroadPhase::SweptBox {
  Vec3 centre;
  Vec3 half;
  Vec3 motion;
  Vec3 inverse_motion;

  SweptBox(const Box3& box, const Vec3& way)
      : centre(box.center()), half(0.5 * box.sizes()), motion(way), inverse_motion(way.cwiseInverse())
  {
    const double size =
        std::max(centre.cwiseAbs().maxCoeff(), (centre + motion).cwiseAbs().maxCoeff()) + half.maxCoeff();
    half += Vec3::Constant(kSlack * size);
  }

  /// The part of the motion, from 0 to 1, on which the moving box meets `box`.
  [[nodiscard]] Interval meets(const Box3& box) const
  {
    Interval part{0, 1};
    for (Eigen::Index k = 0; k < 3; ++k) {
      const double low = box.min()[k] - half[k] - centre[k];
      const double high = box.max()[k] + half[k] - centre[k];
      if (motion[k] == 0) {
        if (low > 0 || high < 0) return {1, 0};
        continue;
      }
      const double a = low * inverse_motion[k];
      const double b = high * inverse_motion[k];
      part.enters = std::max(part.enters, std::min(a, b));
      part.leaves = std::min(part.leaves, std::max(a, b));
    }
    return part;
  }
};

/// A sweep through one level. No defaults: many of them lie on the stack, few are used.
struct BroadPhase::SliceWalk {
  const Grid* grid;
  int level;
  Eigen::Index axis;  ///< of the largest motion
  double edge;
  double inverse_edge;
  Interval part;  ///< of the motion inside the bounds of the level
  std::int64_t slice;
  std::int64_t last;
  std::int64_t step;  ///< 1 or -1
  double enters;      ///< fraction of the motion at which the grown slice begins

  [[nodiscard]] double growth(const SweptBox& swept, Eigen::Index k) const
  {
    return 0.5 * edge + swept.half[k];
  }
  /// The part of the motion inside the grown slice.
  [[nodiscard]] Interval inside(const SweptBox& swept) const
  {
    const double speed = swept.motion[axis];
    if (speed == 0) return part;
    const double g = growth(swept, axis);
    const double low = (static_cast<double>(slice) * edge - g - swept.centre[axis]) / speed;
    const double high = (static_cast<double>(slice + 1) * edge + g - swept.centre[axis]) / speed;
    return {std::max(part.enters, std::min(low, high)), std::min(part.leaves, std::max(low, high))};
  }
};

/// A search through one level.
struct BroadPhase::RingWalk {
  const Grid* grid;
  int level;
  double edge;
  double to_face;                      ///< from the point to the nearest face of its cell [m]
  std::array<std::int64_t, 3> centre;  ///< cell of the point
  std::array<std::int64_t, 3> low;     ///< cells that may hold bodies
  std::array<std::int64_t, 3> high;
  std::int64_t ring;
  std::int64_t last;
  double cells;  ///< looked up so far

  [[nodiscard]] double bound() const
  {
    if (ring > last) return kNever;
    return std::max(0.0, (static_cast<double>(ring) - 1.5) * edge + to_face);
  }
  /// Cells up to ring j.
  [[nodiscard]] double cells_within(std::int64_t j) const
  {
    double count = 1;
    for (std::size_t k = 0; k < 3; ++k) {
      count *= static_cast<double>(
          std::max<std::int64_t>(0, std::min(high[k], centre[k] + j) - std::max(low[k], centre[k] - j) + 1));
    }
    return count;
  }
};

// False when the level is better searched body by body.
bool BroadPhase::start_walk(const Grid& grid, int level, const SweptBox& swept, SliceWalk& walk) const
{
  walk.grid = &grid;
  walk.level = level;
  walk.edge = cell_edge(level);
  walk.inverse_edge = 1 / walk.edge;
  swept.motion.cwiseAbs().maxCoeff(&walk.axis);
  const double speed = swept.motion[walk.axis];
  const double g = walk.growth(swept, walk.axis);
  const double from = swept.centre[walk.axis] + walk.part.enters * speed;
  const double to = swept.centre[walk.axis] + walk.part.leaves * speed;
  walk.step = speed >= 0 ? 1 : -1;
  const double side = static_cast<double>(walk.step);
  walk.slice = cell_coordinate(from - side * g, walk.inverse_edge);
  walk.last = cell_coordinate(to + side * g, walk.inverse_edge);
  double cells = static_cast<double>(std::abs(walk.last - walk.slice)) + 1;
  if (cells > kMaxCellSpan) return false;
  walk.enters = walk.inside(swept).enters;
  const double time =
      speed == 0 ? 0 : std::min(walk.part.leaves - walk.part.enters, (walk.edge + 2 * g) / std::abs(speed));
  for (Eigen::Index k = 0; k < 3; ++k) {
    if (k == walk.axis) continue;
    const double span =
        (std::abs(swept.motion[k]) * time + 2 * walk.growth(swept, k)) * walk.inverse_edge + 1;
    if (span > kMaxCellSpan) return false;
    cells *= span;
  }
  return cells <= static_cast<double>(grid.levels[at(level)].bodies.size());
}

void BroadPhase::sweep_members(const Level& level, const SweptBox& swept, const QueryVisit& visit,
                               double& reach) const
{
  std::vector<Candidate> candidates;
  for (const model::BodyIndex body : level.bodies) {
    const Interval part = swept.meets(proxies_[at(body)].loose);
    if (!part.empty() && part.enters <= reach) candidates.push_back({part.enters, body});
  }
  std::sort(candidates.begin(), candidates.end());
  for (const Candidate& candidate : candidates) {
    if (candidate.at > reach) return;
    reach = visit(candidate.body, reach);
  }
}

void BroadPhase::sweep_slice(const SliceWalk& walk, const SweptBox& swept, const QueryVisit& visit,
                             double& reach) const
{
  const Interval inside = walk.inside(swept);
  if (inside.empty()) return;
  std::array<std::int64_t, 3> low{};
  std::array<std::int64_t, 3> high{};
  for (Eigen::Index k = 0; k < 3; ++k) {
    const auto i = at(k);
    if (k == walk.axis) {
      low[i] = high[i] = walk.slice;
      continue;
    }
    const double a = swept.centre[k] + inside.enters * swept.motion[k];
    const double b = swept.centre[k] + inside.leaves * swept.motion[k];
    const double g = walk.growth(swept, k);
    low[i] = cell_coordinate(std::min(a, b) - g, walk.inverse_edge);
    high[i] = cell_coordinate(std::max(a, b) + g, walk.inverse_edge);
  }
  for (std::int64_t x = low[0]; x <= high[0]; ++x) {
    for (std::int64_t y = low[1]; y <= high[1]; ++y) {
      for (std::int64_t z = low[2]; z <= high[2]; ++z) {
        const Cell& cell = walk.grid->cells[slot_of(*walk.grid, pack(walk.level, x, y, z))];
        for (std::int32_t body = cell.first; body >= 0; body = proxies_[at(body)].next) {
          const Interval part = swept.meets(proxies_[at(body)].loose);
          if (!part.empty() && part.enters <= reach) reach = visit(body, reach);
        }
      }
    }
  }
}

void BroadPhase::sweep(const Box3& box, const Vec3& motion, const QueryVisit& visit) const
{
  double reach = 1;
  for (const model::BodyIndex body : unbounded_) {
    if (proxies_[at(body)].placed) reach = visit(body, reach);
  }
  const SweptBox swept(box, motion);
  std::array<SliceWalk, 2 * at(kLevels)> walks;
  std::size_t count = 0;
  for (const Grid& grid : grids_) {
    for (std::uint64_t left = grid.populated; left != 0; left &= left - 1) {
      const int level = std::countr_zero(left);
      const Level& members = grid.levels[at(level)];
      const Interval part = swept.meets(members.bounds);
      if (part.empty() || part.enters > reach) continue;
      SliceWalk& walk = walks[count];
      walk.part = part;
      if (start_walk(grid, level, swept, walk)) {
        ++count;
      } else {
        sweep_members(members, swept, visit, reach);
      }
    }
  }
  while (count > 0) {
    std::size_t next = 0;
    for (std::size_t i = 1; i < count; ++i) {
      if (walks[i].enters < walks[next].enters) next = i;
    }
    SliceWalk& walk = walks[next];
    if (walk.enters > reach) return;
    sweep_slice(walk, swept, visit, reach);
    if (walk.slice == walk.last) {
      walk = walks[--count];
    } else {
      walk.slice += walk.step;
      walk.enters = walk.inside(swept).enters;
    }
  }
}

void BroadPhase::search_members(const Level& level, const Vec3& p, const QueryVisit& visit,
                                double& reach) const
{
  std::vector<Candidate> candidates;
  for (const model::BodyIndex body : level.bodies) {
    const double distance = proxies_[at(body)].loose.exteriorDistance(p);
    if (distance <= reach) candidates.push_back({distance, body});
  }
  std::sort(candidates.begin(), candidates.end());
  for (const Candidate& candidate : candidates) {
    if (candidate.at > reach) return;
    reach = visit(candidate.body, reach);
  }
}

void BroadPhase::search_ring(const RingWalk& walk, const Vec3& p, const QueryVisit& visit,
                             double& reach) const
{
  const auto low = [&](std::size_t k) {
    return std::max(walk.low[k], walk.centre[k] - walk.ring);
  };
  const auto high = [&](std::size_t k) {
    return std::min(walk.high[k], walk.centre[k] + walk.ring);
  };
  const auto look_up = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Cell& cell = walk.grid->cells[slot_of(*walk.grid, pack(walk.level, x, y, z))];
    for (std::int32_t body = cell.first; body >= 0; body = proxies_[at(body)].next) {
      const double distance = proxies_[at(body)].loose.exteriorDistance(p);
      if (distance <= reach) reach = visit(body, reach);
    }
  };
  for (std::int64_t x = low(0); x <= high(0); ++x) {
    const bool x_side = std::abs(x - walk.centre[0]) == walk.ring;
    for (std::int64_t y = low(1); y <= high(1); ++y) {
      if (x_side || std::abs(y - walk.centre[1]) == walk.ring) {
        for (std::int64_t z = low(2); z <= high(2); ++z) look_up(x, y, z);
        continue;
      }
      const std::int64_t below = walk.centre[2] - walk.ring;
      const std::int64_t above = walk.centre[2] + walk.ring;
      if (below >= walk.low[2] && below <= walk.high[2]) look_up(x, y, below);
      if (above >= walk.low[2] && above <= walk.high[2]) look_up(x, y, above);
    }
  }
}

void BroadPhase::search_near(const Vec3& p, double max_distance, const QueryVisit& visit) const
{
  double reach = max_distance;
  for (const model::BodyIndex body : unbounded_) {
    if (proxies_[at(body)].placed) reach = visit(body, reach);
  }
  std::array<RingWalk, 2 * at(kLevels)> walks;
  std::size_t count = 0;
  for (const Grid& grid : grids_) {
    for (std::uint64_t left = grid.populated; left != 0; left &= left - 1) {
      RingWalk& walk = walks[count];
      walk.grid = &grid;
      walk.level = std::countr_zero(left);
      const Level& members = grid.levels[at(walk.level)];
      if (members.bounds.exteriorDistance(p) > reach) continue;
      walk.edge = cell_edge(walk.level);
      walk.to_face = walk.edge;
      walk.ring = walk.last = 0;
      walk.cells = 0;
      const double inverse_edge = 1 / walk.edge;
      for (std::size_t k = 0; k < 3; ++k) {
        const auto axis = static_cast<Eigen::Index>(k);
        const std::int64_t c = walk.centre[k] = cell_coordinate(p[axis], inverse_edge);
        walk.low[k] = cell_coordinate(members.bounds.min()[axis], inverse_edge);
        walk.high[k] = cell_coordinate(members.bounds.max()[axis], inverse_edge);
        const double inside = p[axis] - static_cast<double>(c) * walk.edge;
        walk.to_face = std::max(0.0, std::min({walk.to_face, inside, walk.edge - inside}));
        walk.ring = std::max({walk.ring, walk.low[k] - c, c - walk.high[k]});
        walk.last = std::max({walk.last, c - walk.low[k], walk.high[k] - c});
      }
      ++count;
    }
  }
  while (count > 0) {
    std::size_t next = 0;
    for (std::size_t i = 1; i < count; ++i) {
      if (walks[i].bound() < walks[next].bound()) next = i;
    }
    RingWalk& walk = walks[next];
    if (walk.bound() > reach) return;
    const Level& members = walk.grid->levels[at(walk.level)];
    walk.cells = walk.cells_within(walk.ring);
    if (walk.cells > static_cast<double>(members.bodies.size())) {
      search_members(members, p, visit, reach);
      walk = walks[--count];
      continue;
    }
    search_ring(walk, p, visit, reach);
    if (++walk.ring > walk.last) walk = walks[--count];
  }
}

}  // namespace thrum::collision
