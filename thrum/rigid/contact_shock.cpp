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

void ContactRows::find_shocked_islands(std::size_t begin, std::size_t end, RowReal limit,
                                       const IslandFlags& islands)
{
  shocked_.clear();
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t k = island_[i];
    if (islands[k] == 0 || is_shocked_[k] != 0 || (disturbed_[k] == 0 && speed_changes_[i] <= limit))
      continue;
    is_shocked_[k] = 1;
    shocked_.push_back(k);
  }
  for (const std::size_t k : shocked_) disturbed_[k] = 0;
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
  island_changes_.resize(islands.size());
  for (std::size_t level = 0; level + 1 < level_begin_.size(); ++level) {
    const std::size_t begin = level_begin_[level];
    const std::size_t end = level_begin_[level + 1];
    find_shocked_islands(begin, end, limit, islands);
    // A level is gone over several times before the next one: a brick lies on two others.
    for (int round = 0; round < iterations && !shocked_.empty(); ++round) {
      for (const std::size_t k : shocked_) island_changes_[k] = 0;
      for (std::size_t n = begin; n < end; ++n) {
        const std::size_t i = round % 2 == 0 ? n : begin + end - 1 - n;
        if (is_shocked_[island_[i]] == 0) continue;
        RowReal& change = island_changes_[island_[i]];
        change = std::max(change, shock_patch(i, bodies, s));
      }
      std::erase_if(shocked_, [&](std::size_t k) {
        const bool changed = island_changes_[k] > limit;
        if (changed) disturbed_[k] = 1;
        if (!changed) is_shocked_[k] = 0;
        return !changed;
      });
    }
    for (const std::size_t k : shocked_) is_shocked_[k] = 0;
  }
}

}  // namespace thrum::rigid
