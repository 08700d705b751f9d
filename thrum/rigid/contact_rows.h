// SPDX-License-Identifier: MIT
// The contacts of a step and the sweeps over them. See contact_patch.h for the rows of one patch, and
// patch_schedule.h for how several threads sweep over them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/model/scene.h"
#include "thrum/rigid/constraint_settings.h"
#include "thrum/rigid/contact_masses.h"
#include "thrum/rigid/contact_patch.h"
#include "thrum/rigid/impact_events.h"
#include "thrum/rigid/islands.h"
#include "thrum/rigid/patch_kernels.h"
#include "thrum/rigid/patch_schedule.h"
#include "thrum/rigid/solver_body.h"
#include "thrum/rigid/stepper.h"

namespace thrum::rigid {

class ContactRows {
 public:
  /// Reads the patches in the order of the frame.
  void build(const StepFrame& frame, const ConstraintSettings& settings, SolverBodies& bodies);
  /// The island of each body, after build(). What ends when nothing changes any more ends island by island:
  /// bodies that nothing connects do not change each other by a bit.
  void set_islands(const std::vector<std::int32_t>& island_of_body, std::size_t island_count);
  /// See Stepper.
  void forget_contacts() { masses_.forget(); }

  /// Effective masses of bodies that have turned far since build().
  void update_masses(SolverBodies& bodies);
  /// Notes the approach speeds that restitution needs, before the velocities are advanced.
  void record_approach_speeds(SolverBodies& bodies);
  /// Some point is new and has restitution.
  [[nodiscard]] bool may_bounce() const { return any_may_bounce_; }
  /// The islands in which some point is.
  [[nodiscard]] const IslandFlags& islands_that_may_bounce() const { return may_bounce_; }
  /// Some point has a requested speed.
  [[nodiscard]] bool has_requests() const { return any_requested_; }
  /// What the rows of these islands want in a substep of length h, from where the bodies are now.
  /// With `keep_approach` points with a gap may go on approaching as they do.
  void set_bias(SolverBodies& bodies, double h, bool keep_approach, const IslandFlags& islands);
  /// Does that, and applies the impulses of the last substep, from which this one starts.
  void warm_start(SolverBodies& bodies, double h);
  /// Multiplies the impulses of each patch by share(a, b) of its bodies.
  template <class Share>
  void scale_impulses(Share&& share)
  {
    for (std::size_t i = 0; i < count_; ++i) {
      const double factor = share(patches_[i].a, patches_[i].b);
      patches_[i].lambda *= static_cast<RowReal>(factor);
      records_[i].rolling_impulse *= factor;
    }
  }
  /// Likewise of what a solve has given, with shock propagation.
  template <class Share>
  void scale_solve(Share&& share)
  {
    scale_impulses(share);
    for (std::size_t i = 0; i < count_; ++i) {
      HeldPatch* h = held(i);
      if (h == nullptr || !h->used) continue;
      const double factor = share(patches_[i].a, patches_[i].b);
      h->lambda *= static_cast<RowReal>(factor);
      h->rolling_impulse *= factor;
    }
  }
  /// Of each island: the impulses on its rows with kinematic bodies times the speed of those along the rows
  /// [J].
  void find_driver_work(SolverBodies& bodies, std::vector<double>& work);
  /// Leaves share(a, b) of what the sweeps since `start_bounces` added.
  template <class Share>
  void scale_bounces(Share&& share)
  {
    for (std::size_t i = 0; i < count_; ++i) {
      if (bouncing_[island_[i]] == 0) continue;
      const double factor = share(patches_[i].a, patches_[i].b);
      if (factor == 1) continue;
      PatchRecord& record = records_[i];
      patches_[i].lambda =
          record.before_bounce + static_cast<RowReal>(factor) * (applied_impulses(i) - record.before_bounce);
      if (HeldPatch* h = held(i)) h->used = false;
    }
  }
  /// One sweep over these islands. `backward` goes from the last patch to the first.
  void sweep(SolverBodies& bodies, const ConstraintSettings& settings, bool backward,
             const IslandFlags& islands);
  /// Finds the bodies of these islands that rest and that a patch changed by more than `settled` [m/s] when
  /// it was last visited. False when there is none.
  [[nodiscard]] bool find_unsettled(SolverBodies& bodies, double step, double settled,
                                    const IslandFlags& islands);
  /// The islands in which the last find_unsettled() or sweep_unsettled() found any.
  [[nodiscard]] const IslandFlags& unsettled_islands() const { return unsettled_; }
  /// One sweep over the patches of these bodies, and of those that they change in turn. False when there
  /// was none.
  [[nodiscard]] bool sweep_unsettled(SolverBodies& bodies, const ConstraintSettings& settings, double settled,
                                     bool backward);
  /// Marks bodies that a contact pushes, and finds the velocities that push overlap out. They move the
  /// bodies but are not kept. False when there is none.
  bool push_out(SolverBodies& bodies, const ConstraintSettings& settings, double length_scale, double h);
  /// Takes over the impulses of impacts within the substep, and the gaps that they leave for it.
  void apply_impacts(std::span<const ImpactEvents::ChangedPatch> changed, SolverBodies& bodies);
  /// Asks for restitution where a new contact was pushed. True when there is any.
  bool start_bounces();
  /// The islands in which it did.
  [[nodiscard]] const IslandFlags& bouncing_islands() const { return bouncing_; }
  /// Ends a substep: adds to the sums, and forgets impulses of impacts so that they are not given twice.
  void finish_substep();
  /// Prepares shock propagation: finds the patches whose body nearer to the ground is to be held. Patches
  /// must be in the order of their levels.
  void hold_lower_bodies(SolverBodies& bodies, std::span<const std::int32_t> level_of_body, double step);
  /// One sweep over these islands from the lowest level to the highest in which the held bodies do not
  /// yield, with at most `iterations` over each level. An island is left out on levels on which the last
  /// sweep changed none of its speeds by more than `settled` [m/s], and into which nothing came from
  /// below; patches of a level that hang together, once none of them changed a speed by more.
  void shock_sweep(SolverBodies& bodies, const ConstraintSettings& settings, int iterations, double settled,
                   const IslandFlags& islands);
  /// Writes impulses back into the scene's patches.
  void store(model::SceneState& state) const;

  [[nodiscard]] std::span<SolverPatch> patches() { return {patches_.data(), count_}; }
  [[nodiscard]] std::span<const SolverPatch> patches() const { return {patches_.data(), count_}; }
  [[nodiscard]] std::span<const PatchRecord> records() const { return {records_.data(), count_}; }

 private:
  static constexpr std::int32_t kNotHeld = -1;
  static constexpr std::int32_t kNoPatch = -1;
  static constexpr std::int32_t kFast = -2;     ///< in last_disturbed_: does not rest
  static constexpr std::int32_t kSettled = -1;  ///< in last_disturbed_: rests
  /// The rows of a patch with the lower body held.
  struct HeldPatch {
    const PatchMasses* masses = nullptr;  ///< kept by ContactMasses; null until they are needed
    Rows lambda;
    Lanes push;
    Vec3 rolling_impulse;
    bool hold_a = false;  ///< otherwise b
    bool used = false;    ///< lambda holds what this substep gave
  };
  /// What a visit in shock propagation needs.
  struct ShockVisit {
    std::int32_t patch = 0;
    std::int32_t group = 0;
    const PatchMasses* masses = nullptr;
    Rows* lambda = nullptr;
    Vec3* rolling_impulse = nullptr;
  };
  [[nodiscard]] HeldPatch* held(std::size_t i)
  {
    return held_[i] == kNotHeld ? nullptr : &held_patches_[at(held_[i])];
  }
  /// The impulses of a patch in this substep: those of shock propagation where it acted.
  [[nodiscard]] const Rows& applied_impulses(std::size_t i)
  {
    const HeldPatch* h = held(i);
    return h != nullptr && h->used ? h->lambda : patches_[i].lambda;
  }
  void build_patch(const model::ContactPatch& contact, const model::SceneState& state,
                   const model::Surface& surface, const ConstraintSettings& settings, SolverBodies& bodies,
                   SolverPatch& p, PatchRecord& record);
  /// Makes the masses of a patch again, as its rows and bodies are now.
  void remake_masses(std::size_t i, SolverBodies& bodies);
  void schedule_patches(const StepFrame& frame, SolverBodies& bodies);
  void order_visits(SolverBodies& bodies);
  /// Of a patch for which there is memory.
  void prepare_masses(HeldPatch& h, const SolverPatch& p, SolverBodies& bodies);
  void start_held(std::size_t i, HeldPatch& h);
  void mark_disturbed(const SolverPatch& p);
  /// One visit in a sweep over all patches.
  void visit(std::size_t i, SolverBodies& bodies, const ConstraintSettings& settings);
  /// Asks for what a visit of patch i needs, where there are many patches, if there is such a patch.
  void prefetch(std::size_t i, SolverBodies& bodies) const
  {
    if (prefetches_ && i < count_) fetch(i, bodies);
  }
  void fetch(std::size_t i, SolverBodies& bodies) const;
  void find_level_groups(SolverBodies& bodies);
  void order_level(std::size_t begin, std::size_t end);
  /// A level of shock propagation: its patches, how often they are swept, and which change of a speed
  /// settles them [m/s].
  struct Level {
    std::size_t begin = 0;
    std::size_t end = 0;
    int rounds = 1;
    RowReal limit = 0;
    bool is_divided = false;  ///< some group has patches of several threads
  };
  [[nodiscard]] bool start_level(const Level& level, const IslandFlags& islands);
  void shock_level(const Level& level, SolverBodies& bodies, const SweepValues& s);
  /// Of these patches of a level, which hold whole groups.
  void shock_groups(const Level& level, std::span<const std::int32_t> patches,
                    std::vector<ShockVisit>& visits, SolverBodies& bodies, const SweepValues& s);
  void shock_divided_level(const Level& level, SolverBodies& bodies, const SweepValues& s);
  void reserve_level(std::size_t level);
  /// Takes what patch i changed in a round over into its group.
  void add_change(std::size_t i);
  /// Whether patch i is the first of a group that has not settled in the round.
  [[nodiscard]] bool keep_if_changed(std::size_t i, RowReal limit);
  /// Of a patch whose masses with a body held have memory: makes them and starts from the rows' own impulses.
  [[nodiscard]] ShockVisit shock_visit(std::size_t i, SolverBodies& bodies);
  /// Solves patch i with its lower body held, if its group is active.
  void shock_patch(std::size_t i, SolverBodies& bodies, const SweepValues& s);

  std::size_t count_ = 0;  ///< of this step; the lists only grow
  std::vector<SolverPatch> patches_;
  /// The two bodies of each patch, together for sweeps that visit few patches.
  std::vector<std::array<std::int32_t, 2>> bodies_of_;
  std::vector<PatchRecord> records_;
  std::vector<HeldPatch> held_patches_;       ///< of patches whose lower body is held
  std::vector<std::int32_t> held_;            ///< place in held_patches_ of each patch, or kNotHeld
  std::vector<std::size_t> level_begin_;      ///< first patch of each level, and their number at the end
  std::vector<RowReal> speed_changes_;        ///< of each patch, when it was last visited [m/s]
  std::vector<std::int32_t> last_disturbed_;  ///< of each body: the sweep that last unsettled it, or kFast
  std::int32_t unsettled_sweep_ = 0;
  std::vector<std::size_t> island_;  ///< of each patch
  IslandFlags may_bounce_, bouncing_, unsettled_;
  std::vector<std::size_t> shocked_;    ///< islands on the level that shock propagation is at
  IslandFlags is_shocked_, disturbed_;  ///< in that list; changed on their last level
  // Patches of a level that hang together by bodies that move there are a group, known by its first patch.
  std::vector<std::int32_t> group_;             ///< of each patch
  std::vector<std::int32_t> last_patch_;        ///< of each body, while groups are looked for
  std::vector<std::uint8_t> is_active_;         ///< by group
  std::vector<std::uint8_t> was_changed_;       ///< by group: in some round
  std::vector<RowReal> shock_changes_;          ///< of each patch, in the last round [m/s]
  std::vector<RowReal> group_changes_;          ///< by group, in the last round [m/s]
  std::vector<std::uint8_t> is_divided_;        ///< by level: some group has patches of several threads
  std::vector<std::uint8_t> level_has_memory_;  ///< by level: for the masses of its held patches
  std::vector<std::vector<ShockVisit>> shock_visits_;  ///< by thread, while it is on a level
  PatchLinks shock_links_;                             ///< between patches of a level
  PatchSchedule schedule_;
  std::vector<ScheduledPatch> scheduled_;
  std::vector<std::array<std::int32_t, 2>> movers_;  ///< of each patch, for VisitOrder
  std::vector<std::int32_t>
      shock_order_;                 ///< by place: patches of each level, those that depend on others last
  std::vector<std::int32_t> rank_;  ///< of each patch: those of its level that must come before it
  std::vector<std::size_t> rank_begin_;        ///< while patches of a level are ordered
  std::vector<std::uint8_t> has_overlap_;      ///< of each patch: at the start of the substep
  std::vector<std::uint8_t> changed_patches_;  ///< of each patch: in the last sweep_unsettled()
  const PatchKernels& kernels_ = patch_kernels();
  ContactMasses masses_;
  double slop_ = 0;           ///< [m]
  RowReal inverse_slop_ = 0;  ///< [1/m]
  bool prefetches_ = false;   ///< there are too many patches for a cache
  bool any_may_bounce_ = false;
  bool any_requested_ = false;
};

}  // namespace thrum::rigid
