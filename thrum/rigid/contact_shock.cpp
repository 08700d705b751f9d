// SPDX-License-Identifier: MIT
// Shock propagation over the rows of contacts: level by level of support, with the bodies below held.
#include <algorithm>
#include <cstddef>

#include "thrum/base/index.h"
#include "thrum/base/team.h"
#include "thrum/rigid/contact_rows.h"

namespace thrum::rigid {

namespace {

/// Levels with fewer patches than this are visited by one thread.
constexpr std::size_t kMinDividedLevel = 24;
/// What a visit needs is asked for so many visits before it.
constexpr std::size_t kAhead = 2;

}  // namespace

void ContactRows::hold_lower_bodies(SolverBodies& bodies, std::span<const std::int32_t> level_of_body,
                                    double step)
{
  // Only what rests can be leant on: a moving body of infinite mass would give energy away.
  level_begin_.clear();
  std::int32_t level = -1;
  std::size_t held_count = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const SolverPatch& p = patches_[i];
    const std::int32_t la = level_of_body[at(p.a)];
    const std::int32_t lb = level_of_body[at(p.b)];
    if (std::max(la, lb) != level) {
      level = std::max(la, lb);
      level_begin_.push_back(i);
    }
    // Nothing changes for what stands on a fixed body, nor between equals.
    const bool hold_a = la < lb && bodies[p.a].inverse_mass > 0 && is_resting(bodies[p.a], step);
    const bool hold_b = lb < la && bodies[p.b].inverse_mass > 0 && is_resting(bodies[p.b], step);
    if (!hold_a && !hold_b) continue;
    held_[i] = static_cast<std::int32_t>(held_count++);
    if (held_patches_.size() < held_count) held_patches_.emplace_back();
    HeldPatch& h = held_patches_[held_count - 1];
    h.hold_a = hold_a;
    h.masses = nullptr;
    h.used = false;
  }
  level_begin_.push_back(count_);
  level_has_memory_.assign(level_begin_.size(), 0);
  shock_visits_.resize(at(schedule_.threads()));
  find_level_groups(bodies);
}

// Patches of a level that share a body which moves there change each other's speeds; others do not, since
// what is below them is held.
void ContactRows::find_level_groups(SolverBodies& bodies)
{
  group_.resize(count_);
  rank_.resize(count_);
  shock_order_.resize(count_);
  last_patch_.assign(bodies.all().size(), kNoPatch);
  const bool links = schedule_.threads() > 1;
  if (links) shock_links_.reset(count_);
  is_divided_.assign(level_begin_.size(), 0);
  const auto root_of = [&](std::int32_t i) {
    while (group_[at(i)] != i) i = group_[at(i)] = group_[at(group_[at(i)])];
    return i;
  };
  for (std::size_t level = 0; level + 1 < level_begin_.size(); ++level) {
    const auto begin = static_cast<std::int32_t>(level_begin_[level]);
    const auto end = static_cast<std::int32_t>(level_begin_[level + 1]);
    for (std::int32_t i = begin; i < end; ++i) {
      group_[at(i)] = i;
      rank_[at(i)] = 0;
      const HeldPatch* h = held(at(i));
      for (std::size_t slot = 0; slot < 2; ++slot) {
        const std::int32_t body = bodies_of_[at(i)][slot];
        if (!(bodies[body].inverse_mass > 0) || (h != nullptr && h->hold_a == (slot == 0))) continue;
        std::int32_t& last = last_patch_[at(body)];
        if (last >= begin) {
          const std::int32_t here = root_of(i);
          const std::int32_t there = root_of(last);
          group_[at(std::max(here, there))] = std::min(here, there);
          rank_[at(i)] = std::max(rank_[at(i)], rank_[at(last)] + 1);
          if (links && schedule_.thread_of(at(last)) != schedule_.thread_of(at(i))) {
            shock_links_.add(last, bodies_of_[at(last)][0] == body ? 0 : 1, i, slot);
            is_divided_[level] = 1;
          }
        }
        last = i;
      }
    }
    for (std::int32_t i = begin; i < end; ++i) group_[at(i)] = root_of(i);
    order_level(at(begin), at(end));
  }
}

// By rank: visits of equal rank do not depend on each other (see VisitOrder).
void ContactRows::order_level(std::size_t begin, std::size_t end)
{
  rank_begin_.assign(1, 0);
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t after = at(rank_[i]) + 1;
    if (rank_begin_.size() <= after) rank_begin_.resize(after + 1, 0);
    ++rank_begin_[after];
  }
  for (std::size_t rank = 1; rank < rank_begin_.size(); ++rank) rank_begin_[rank] += rank_begin_[rank - 1];
  for (std::size_t i = begin; i < end; ++i)
    shock_order_[begin + rank_begin_[at(rank_[i])]++] = static_cast<std::int32_t>(i);
}

// Masses with a body held are found when they are first needed: most patches of a heap at rest never need
// them.
void ContactRows::prepare_masses(HeldPatch& h, const SolverPatch& p, SolverBodies& bodies)
{
  if (h.masses == nullptr) h.masses = &masses_.held(p, h.hold_a, bodies[p.a], bodies[p.b]);
}

// Shock propagation starts from the rows' own impulses.
void ContactRows::start_held(std::size_t i, HeldPatch& h)
{
  if (h.used) return;
  h.lambda = patches_[i].lambda;
  h.rolling_impulse = records_[i].rolling_impulse;
  h.used = true;
}

ContactRows::ShockVisit ContactRows::shock_visit(std::size_t i, SolverBodies& bodies)
{
  SolverPatch& p = patches_[i];
  const auto patch = static_cast<std::int32_t>(i);
  HeldPatch* h = held(i);
  if (h == nullptr) return {patch, group_[i], p.masses, &p.lambda, &records_[i].rolling_impulse};
  prepare_masses(*h, p, bodies);
  start_held(i, *h);
  return {patch, group_[i], h->masses, &h->lambda, &h->rolling_impulse};
}

void ContactRows::shock_patch(std::size_t i, SolverBodies& bodies, const SweepValues& s)
{
  if (is_active_[at(group_[i])] == 0) return;
  const ShockVisit visit = shock_visit(i, bodies);
  const SolverPatch& p = patches_[i];
  shock_changes_[i] = kernels_.solve(p, *visit.masses, records_[i], *visit.lambda, *visit.rolling_impulse,
                                     bodies[p.a], bodies[p.b], s);
}

// The groups of a level in whose island there is something to do.
bool ContactRows::start_level(const Level& level, const IslandFlags& islands)
{
  shocked_.clear();
  for (std::size_t i = level.begin; i < level.end; ++i) {
    const std::size_t k = island_[i];
    if (islands[k] == 0 || is_shocked_[k] != 0 || (disturbed_[k] == 0 && speed_changes_[i] <= level.limit))
      continue;
    is_shocked_[k] = 1;
    shocked_.push_back(k);
  }
  if (shocked_.empty()) return false;
  for (std::size_t i = level.begin; i < level.end; ++i) {
    is_active_[i] = is_shocked_[island_[i]];
    group_changes_[i] = 0;
    was_changed_[i] = 0;
  }
  for (const std::size_t k : shocked_) disturbed_[k] = is_shocked_[k] = 0;
  return true;
}

void ContactRows::add_change(std::size_t i)
{
  const std::size_t group = at(group_[i]);
  if (is_active_[group] != 0) group_changes_[group] = std::max(group_changes_[group], shock_changes_[i]);
}

// Leaves the groups that have settled.
bool ContactRows::keep_if_changed(std::size_t i, RowReal limit)
{
  if (at(group_[i]) != i || is_active_[i] == 0) return false;
  is_active_[i] = group_changes_[i] > limit ? 1 : 0;
  group_changes_[i] = 0;
  was_changed_[i] |= is_active_[i];
  return is_active_[i] != 0;
}

// Groups do not change each other: all rounds over those of a thread. What each visit needs is looked up once
// for all rounds, and groups that have settled leave the list: looked up for each visit it took four fifths
// as many instructions as the visits of a wall.
void ContactRows::shock_groups(const Level& level, std::span<const std::int32_t> patches,
                               std::vector<ShockVisit>& visits, SolverBodies& bodies, const SweepValues& s)
{
  // Long before they are read: a visit reads in one piece what is copied here in two.
  visits.clear();
  for (const std::int32_t i : patches) {
    if (is_active_[at(group_[at(i)])] != 0) visits.push_back(shock_visit(at(i), bodies));
  }
  for (int round = 0; round < level.rounds && !visits.empty(); ++round) {
    const std::size_t count = visits.size();
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t n = round % 2 == 0 ? k : count - 1 - k;
      const std::size_t ahead = round % 2 == 0 ? n + kAhead : n - kAhead;
      if (ahead < count) prefetch(at(visits[ahead].patch), bodies);
      const ShockVisit& visit = visits[n];
      const SolverPatch& p = patches_[at(visit.patch)];
      const RowReal change = kernels_.solve(p, *visit.masses, records_[at(visit.patch)], *visit.lambda,
                                            *visit.rolling_impulse, bodies[p.a], bodies[p.b], s);
      RowReal& max_change = group_changes_[at(visit.group)];
      max_change = std::max(max_change, change);
    }
    std::erase_if(visits,
                  [&](const ShockVisit& visit) { return !(group_changes_[at(visit.group)] > level.limit); });
    for (const ShockVisit& visit : visits) {
      group_changes_[at(visit.group)] = 0;
      was_changed_[at(visit.group)] = 1;
    }
  }
}

// A level is gone over several times before the next one: a brick lies on two others.
void ContactRows::shock_level(const Level& level, SolverBodies& bodies, const SweepValues& s)
{
  const bool is_shared = level.end - level.begin >= kMinDividedLevel && schedule_.threads() > 1;
  if (is_shared && level.is_divided) return shock_divided_level(level, bodies, s);
  const auto work = [&](int member, int visitor) {
    shock_groups(level, schedule_.of_thread(member, level.begin, level.end), shock_visits_[at(visitor)],
                 bodies, s);
  };
  if (is_shared && base::run_team(schedule_.threads(), [&](int member) {
        work(member, member);
        const std::uint32_t absent = member == 0 ? base::absent_members() : 0;
        for (int other = 1; absent >> other != 0; ++other) {
          if ((absent >> other & 1U) != 0) work(other, member);
        }
      }))
    return;
  shock_groups(level, std::span(shock_order_).subspan(level.begin, level.end - level.begin), shock_visits_[0],
               bodies, s);
}

void ContactRows::shock_divided_level(const Level& level, SolverBodies& bodies, const SweepValues& s)
{
  for (std::size_t i = level.begin; i < level.end; ++i) {
    HeldPatch* h = held(i);
    if (h != nullptr && is_active_[at(group_[i])] != 0) start_held(i, *h);
  }
  bool any = true;
  for (int round = 0; round < level.rounds && any; ++round) {
    schedule_.run(level.begin, level.end, round % 2 != 0, shock_links_,
                  [&](std::size_t i, std::size_t ahead) {
                    if (is_active_[at(group_[i])] == 0) return;
                    if (ahead >= level.begin && ahead < level.end) prefetch(ahead, bodies);
                    shock_patch(i, bodies, s);
                  });
    for (std::size_t i = level.begin; i < level.end; ++i) add_change(i);
    any = false;
    for (std::size_t i = level.begin; i < level.end; ++i) any = keep_if_changed(i, level.limit) || any;
  }
}

// Patches that are visited by several threads have memory for their masses before.
void ContactRows::reserve_level(std::size_t level)
{
  if (level_has_memory_[level] != 0) return;
  level_has_memory_[level] = 1;
  for (std::size_t i = level_begin_[level]; i < level_begin_[level + 1]; ++i) {
    if (held(i) != nullptr) masses_.reserve_held(patches_[i].source);
  }
}

void ContactRows::shock_sweep(SolverBodies& bodies, const ConstraintSettings& settings, int iterations,
                              double settled, const IslandFlags& islands)
{
  const SweepValues s{settings.patch_iterations, 1, settings.friction};
  // A second sweep in the same substep starts from the rows' own impulses again.
  for (std::size_t i = 0; i < count_; ++i) {
    HeldPatch* h = held(i);
    if (h != nullptr && islands[island_[i]] != 0) h->used = false;
  }
  is_shocked_.assign(islands.size(), 0);
  disturbed_.assign(islands.size(), 0);
  is_active_.resize(count_);
  was_changed_.resize(count_);
  shock_changes_.resize(count_);
  group_changes_.resize(count_);
  for (std::size_t k = 0; k + 1 < level_begin_.size(); ++k) {
    const Level level{level_begin_[k], level_begin_[k + 1], iterations, static_cast<RowReal>(settled),
                      is_divided_[k] != 0};
    if (!start_level(level, islands)) continue;
    reserve_level(k);
    shock_level(level, bodies, s);
    for (std::size_t i = level.begin; i < level.end; ++i) {
      if (at(group_[i]) == i && was_changed_[i] != 0) disturbed_[island_[i]] = 1;
    }
  }
}

}  // namespace thrum::rigid
