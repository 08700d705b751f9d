// SPDX-License-Identifier: MIT
#include "thrum/rigid/contact_masses.h"

#include <algorithm>
#include <utility>

#include "thrum/base/index.h"

namespace thrum::rigid {

namespace {

constexpr std::int32_t kPageSize = 256;

// The body as it was when the contacts were found.
SolverBody body_at(const model::BodyProperties& desc, const SolverBody& now, const Quat& rotation)
{
  SolverBody body;
  body.inverse_mass = now.inverse_mass;
  if (body.inverse_mass > 0) body.inverse_inertia = world_inverse_inertia(desc.inertia, rotation);
  return body;
}

}  // namespace

PatchMasses& ContactMasses::masses(std::int32_t slot)
{
  return pages_[at(slot / kPageSize)][at(slot % kPageSize)];
}

std::int32_t ContactMasses::take_slot()
{
  if (!empty_slots_.empty()) {
    const std::int32_t slot = empty_slots_.back();
    empty_slots_.pop_back();
    return slot;
  }
  if (slot_count_ % kPageSize == 0) pages_.push_back(std::make_unique<PatchMasses[]>(kPageSize));
  return slot_count_++;
}

void ContactMasses::release(const Kept& kept)
{
  if (kept.free != kEmpty) empty_slots_.push_back(kept.free);
  if (kept.held != kEmpty) empty_slots_.push_back(kept.held);
}

void ContactMasses::drop_without_reference()
{
  for (Kept& kept : kept_) {
    if (!kept.has_reference) release(std::exchange(kept, Kept{}));
  }
}

void ContactMasses::forget()
{
  kept_.clear();
  empty_slots_.clear();
  pages_.clear();
  slot_count_ = 0;
}

void ContactMasses::begin_step(const model::SceneModel& model, const model::SceneState& state,
                               std::span<const std::int32_t> kept_from,
                               std::span<const model::Surface> surfaces, bool same_contacts, double cfm)
{
  model_ = &model;
  state_ = &state;
  kept_from_ = kept_from;
  surfaces_ = surfaces;
  cfm_ = cfm;
  drop_without_reference();
  if (same_contacts && kept_.size() == state.patches.size()) return;
  kept_before_.swap(kept_);
  kept_.assign(state.patches.size(), Kept{});
  for (std::size_t p = 0; p < kept_.size(); ++p) {
    if (!is_kept(p)) continue;
    const auto before = static_cast<std::size_t>(kept_from[p]);
    if (before < kept_before_.size()) kept_[p] = std::exchange(kept_before_[before], Kept{});
  }
  for (const Kept& kept : kept_before_) release(kept);
}

bool ContactMasses::is_kept(std::size_t patch) const
{
  return patch < kept_from_.size() && kept_from_[patch] != model::kNone;
}

const model::PairReference* ContactMasses::reference_of(const SolverPatch& p) const
{
  const std::vector<model::PairReference>& all = state_->references;
  const auto first =
      std::lower_bound(all.begin(), all.end(), std::pair(p.a, p.b),
                       [](const auto& x, const auto& pair) { return std::pair(x.a, x.b) < pair; });
  return first != all.end() && first->a == p.a && first->b == p.b ? &*first : nullptr;
}

// In the step in which contacts are found, and until bodies move, the rows are those of the reference.
void ContactMasses::make(const SolverPatch& p, const SolverBody& A, const SolverBody& B, bool hold_a,
                         bool hold_b, bool may_have_moved, PatchMasses& m) const
{
  const auto source = static_cast<std::size_t>(p.source);
  const bool differs = may_have_moved || is_kept(source);
  const model::PairReference* reference = differs ? reference_of(p) : nullptr;
  if (reference == nullptr) {
    set_masses(p, A, B, hold_a, hold_b, cfm_, m);
    return;
  }
  SolverPatch rows;
  PatchRecord record;
  set_rows(state_->patches[source], kContactsAsFound, A, reference->X_wa.position, B,
           reference->X_wb.position, surfaces_[source], rows, record);
  set_masses(rows, body_at(model_->bodies[at(p.a)], A, reference->X_wa.rotation),
             body_at(model_->bodies[at(p.b)], B, reference->X_wb.rotation), hold_a, hold_b, cfm_, m);
}

void ContactMasses::reserve(std::int32_t source)
{
  if (kept_[at(source)].free == kEmpty) kept_[at(source)].free = take_slot();
}

void ContactMasses::reserve_held(std::int32_t source)
{
  if (kept_[at(source)].held == kEmpty) kept_[at(source)].held = take_slot();
}

const PatchMasses& ContactMasses::free(const SolverPatch& p, const SolverBody& A, const SolverBody& B)
{
  Kept& kept = kept_[at(p.source)];
  const model::Surface& surface = surfaces_[at(p.source)];
  const Key key{A.inverse_mass, B.inverse_mass, surface.friction > 0, surface.spinning_friction > 0};
  if (kept.has_free && kept.key == key) return masses(kept.free);
  kept.has_free = true;
  kept.has_held = false;
  kept.key = key;
  kept.has_reference = reference_of(p) != nullptr;
  make(p, A, B, false, false, false, masses(kept.free));
  return masses(kept.free);
}

const PatchMasses& ContactMasses::remake(const SolverPatch& p, const SolverBody& A, const SolverBody& B)
{
  Kept& kept = kept_[at(p.source)];
  kept.has_free = kept.has_held = false;
  kept.key = {-1, -1, false, false};  // of no patch: free() makes them again
  set_masses(p, A, B, false, false, cfm_, masses(kept.free));
  return masses(kept.free);
}

const PatchMasses& ContactMasses::held(const SolverPatch& p, bool hold_a, const SolverBody& A,
                                       const SolverBody& B)
{
  Kept& kept = kept_[at(p.source)];
  if (kept.has_held && kept.hold_a == hold_a) return masses(kept.held);
  kept.has_held = true;
  kept.hold_a = hold_a;
  if (kept.key.is_remade()) {
    set_masses(p, A, B, hold_a, !hold_a, cfm_, masses(kept.held));
    return masses(kept.held);
  }
  // Bodies may have moved, by an impact within the first substep too.
  make(p, A, B, hold_a, !hold_a, true, masses(kept.held));
  return masses(kept.held);
}

}  // namespace thrum::rigid
