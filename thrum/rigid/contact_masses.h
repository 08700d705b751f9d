// SPDX-License-Identifier: MIT
// How the rows of patches yield, kept while their contacts are kept.
//
// The inverse of the block of a patch takes as long as three visits. It is made for the rows as they were
// when the contacts were found, and stays while they are kept (model::PairReference): the bodies have then
// moved by less than 1e-4 of their size, so the rows differ by as little. The residual of a visit is always
// that of the rows of now, so that only the speed of convergence depends on it, which the regularisation of
// the block by 1e-3 limits first.
//
// What is kept follows from the saved state alone: after restore() it is made again, from the reference
// positions of the points and the reference poses of the bodies, with the same bits. Contacts of sleepers
// are kept without a reference too. Masses made without one are dropped with their step, so that bodies
// that wake get those of the poses in which they wake.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "thrum/model/scene.h"
#include "thrum/rigid/contact_patch.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

class ContactMasses {
 public:
  /// `kept_from`, `surfaces` and `same_contacts` are those of the StepFrame. The lists and the scene must
  /// outlive the step.
  void begin_step(const model::SceneModel& model, const model::SceneState& state,
                  std::span<const std::int32_t> kept_from, std::span<const model::Surface> surfaces,
                  bool same_contacts, double cfm);
  // Masses of different patches may be asked for by several threads at a time, once there is memory for
  // them.
  /// Memory for the masses of a patch of the scene, no body held; or one held.
  void reserve(std::int32_t source);
  void reserve_held(std::int32_t source);
  /// Of a patch whose rows are set and have not moved in this step, no body held.
  [[nodiscard]] const PatchMasses& free(const SolverPatch& p, const SolverBody& A, const SolverBody& B);
  /// With body a held, or b.
  [[nodiscard]] const PatchMasses& held(const SolverPatch& p, bool hold_a, const SolverBody& A,
                                        const SolverBody& B);
  /// Of a patch whose bodies have turned far within the step, or slid: not kept beyond it. Those with a body
  /// held have to be asked for again.
  [[nodiscard]] const PatchMasses& remake(const SolverPatch& p, const SolverBody& A, const SolverBody& B);
  /// Patches of the next step do not continue those of the last one.
  void forget();

 private:
  static constexpr std::int32_t kEmpty = -1;
  /// What the masses of a patch depend on beside the rows.
  struct Key {
    double inverse_mass_a = 0;  ///< [1/kg]
    double inverse_mass_b = 0;
    bool slides = false;  ///< there is friction
    bool spins = false;   ///< there is spinning friction
    [[nodiscard]] bool is_remade() const { return inverse_mass_a < 0; }
    bool operator==(const Key&) const = default;
  };
  struct Kept {
    std::int32_t free = kEmpty;  ///< slot
    std::int32_t held = kEmpty;  ///< slot
    bool has_free = false;       ///< the slot is filled
    bool has_held = false;       ///< likewise
    bool hold_a = false;
    bool has_reference = false;  ///< of the pair, when the masses were made
    Key key;
  };
  [[nodiscard]] PatchMasses& masses(std::int32_t slot);
  std::int32_t take_slot();
  void release(const Kept& kept);
  void drop_without_reference();
  [[nodiscard]] bool is_kept(std::size_t patch) const;
  [[nodiscard]] const model::PairReference* reference_of(const SolverPatch& p) const;
  void make(const SolverPatch& p, const SolverBody& A, const SolverBody& B, bool hold_a, bool hold_b,
            bool may_have_moved, PatchMasses& m) const;

  const model::SceneModel* model_ = nullptr;
  const model::SceneState* state_ = nullptr;
  std::span<const std::int32_t> kept_from_;
  std::span<const model::Surface> surfaces_;
  double cfm_ = 0;
  std::vector<Kept> kept_;  ///< by patch of the scene
  std::vector<Kept> kept_before_;
  std::vector<std::unique_ptr<PatchMasses[]>> pages_;
  std::vector<std::int32_t> empty_slots_;
  std::int32_t slot_count_ = 0;
};

}  // namespace thrum::rigid
