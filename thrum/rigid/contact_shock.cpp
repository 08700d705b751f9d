// SPDX-License-Identifier: MIT
// Shock propagation over the rows of contacts: level by level of support, with the bodies below held.
#include <algorithm>
#include <cstddef>

#include "thrum/base/index.h"
#include "thrum/rigid/contact_rows.h"

namespace thrum::rigid {

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
  find_level_groups(bodies);
}

// Patches of a level that share a body which moves there change each other's speeds; others do not, since
// what is below them is held.
void ContactRows::find_level_groups(SolverBodies& bodies)
{
  group_.resize(count_);
  last_patch_.assign(bodies.all().size(), kNoPatch);
  const auto root_of = [&](std::int32_t i) {
    while (group_[at(i)] != i) i = group_[at(i)] = group_[at(group_[at(i)])];
    return i;
  };
  for (std::size_t level = 0; level + 1 < level_begin_.size(); ++level) {
    const auto begin = static_cast<std::int32_t>(level_begin_[level]);
    const auto end = static_cast<std::int32_t>(level_begin_[level + 1]);
    for (std::int32_t i = begin; i < end; ++i) {
      group_[at(i)] = i;
      const SolverPatch& p = patches_[at(i)];
      const HeldPatch* h = held(at(i));
      for (const std::int32_t body : {p.a, p.b}) {
        if (!(bodies[body].inverse_mass > 0) || (h != nullptr && h->hold_a == (body == p.a))) continue;
        std::int32_t& last = last_patch_[at(body)];
        if (last >= begin) {
          const std::int32_t here = root_of(i);
          const std::int32_t there = root_of(last);
          group_[at(std::max(here, there))] = std::min(here, there);
        }
        last = i;
      }
    }
    for (std::int32_t i = begin; i < end; ++i) group_[at(i)] = root_of(i);
  }
}

// Masses with a body held are found when they are first needed: most patches of a heap at rest never need
// them.
void ContactRows::prepare_masses(HeldPatch& h, const SolverPatch& p, SolverBodies& bodies)
{
  if (h.masses == nullptr) h.masses = &masses_.held(p, h.hold_a, bodies[p.a], bodies[p.b]);
}

RowReal ContactRows::shock_patch(std::size_t i, SolverBodies& bodies, const SweepValues& s)
{
  SolverPatch& p = patches_[i];
  SolverBody& A = bodies[p.a];
  SolverBody& B = bodies[p.b];
  HeldPatch* h = held(i);
  if (h == nullptr) {
    return solve_patch(p, *p.masses, records_[i], p.lambda, records_[i].rolling_impulse, A, B, s);
  }
  prepare_masses(*h, p, bodies);
  if (!h->used) {
    h->lambda = p.lambda;
    h->rolling_impulse = records_[i].rolling_impulse;
    h->used = true;
  }
  return solve_patch(p, *h->masses, records_[i], h->lambda, h->rolling_impulse, A, B, s);
}

// The groups of a level, from patch `begin` to `end`, in whose island there is something to do.
bool ContactRows::start_level(std::size_t begin, std::size_t end, RowReal limit, const IslandFlags& islands)
{
  shocked_.clear();
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t k = island_[i];
    if (islands[k] == 0 || is_shocked_[k] != 0 || (disturbed_[k] == 0 && speed_changes_[i] <= limit))
      continue;
    is_shocked_[k] = 1;
    shocked_.push_back(k);
  }
  if (shocked_.empty()) return false;
  for (std::size_t i = begin; i < end; ++i) {
    is_active_[i] = is_shocked_[island_[i]];
    group_changes_[i] = 0;
  }
  for (const std::size_t k : shocked_) disturbed_[k] = is_shocked_[k] = 0;
  return true;
}

// Leaves the groups that have settled. False when there is no other.
bool ContactRows::keep_changed_groups(std::size_t begin, std::size_t end, RowReal limit)
{
  bool any = false;
  for (std::size_t i = begin; i < end; ++i) {
    if (at(group_[i]) != i || is_active_[i] == 0) continue;
    is_active_[i] = group_changes_[i] > limit ? 1 : 0;
    group_changes_[i] = 0;
    if (is_active_[i] == 0) continue;
    disturbed_[island_[i]] = 1;
    any = true;
  }
  return any;
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
  const auto limit = static_cast<RowReal>(settled);
  is_shocked_.assign(islands.size(), 0);
  disturbed_.assign(islands.size(), 0);
  is_active_.resize(count_);
  group_changes_.resize(count_);
  for (std::size_t level = 0; level + 1 < level_begin_.size(); ++level) {
    const std::size_t begin = level_begin_[level];
    const std::size_t end = level_begin_[level + 1];
    bool any = start_level(begin, end, limit, islands);
    // A level is gone over several times before the next one: a brick lies on two others.
    for (int round = 0; round < iterations && any; ++round) {
      for (std::size_t n = begin; n < end; ++n) {
        const std::size_t i = round % 2 == 0 ? n : begin + end - 1 - n;
        const std::size_t group = at(group_[i]);
        if (is_active_[group] == 0) continue;
        prefetch_after(i, round % 2 != 0, bodies);
        group_changes_[group] = std::max(group_changes_[group], shock_patch(i, bodies, s));
      }
      any = keep_changed_groups(begin, end, limit);
    }
  }
}

}  // namespace thrum::rigid
