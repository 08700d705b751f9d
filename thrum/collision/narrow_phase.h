// SPDX-License-Identifier: MIT
// All contacts of a list of pairs: which of them are kept, and which continue contacts of the step before.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "thrum/collision/broad_phase.h"
#include "thrum/collision/deformed_shape.h"
#include "thrum/collision/narrow_phase_settings.h"
#include "thrum/collision/pair_table.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/model/scene.h"

namespace thrum::collision {

/// A pair that moves farther against each other than its speeds at the start of the step say.
struct WidePair {
  BodyPair pair;
  double margin = 0;  ///< least gap to look for contacts in [m]
};

/// What the narrow phase reads. `X_ws[body]` is the pose of the body's shape.
struct NarrowPhaseInput {
  const model::SceneModel& model;
  const model::SceneState& state;
  std::span<const PreparedShape> shapes;     ///< by ShapeIndex
  std::span<const Pose> X_ws;                ///< by BodyIndex
  std::span<const BodyPair> pairs;           ///< sorted
  std::span<const BodyPair> excluded_pairs;  ///< sorted pairs that may not touch, as those held by a joint
  const PairTable& table;
  std::span<const Deflection> deflections = {};  ///< by BodyIndex; empty: no body bends
  std::span<const WidePair> wide_pairs = {};     ///< sorted
  /// Contacts of a pair begin when the two are within NarrowPhaseDesc::margin, not ahead of that.
  bool waits_for_touch = false;
};

/// Working memory of the functions below, kept from step to step by its owner: a list for each chunk of pairs
/// and a PairScratch for each thread that works on one. Results depend on it by begin_step() only.
class NarrowPhaseScratch {
 public:
  NarrowPhaseScratch();
  ~NarrowPhaseScratch();
  NarrowPhaseScratch(NarrowPhaseScratch&&) noexcept;
  NarrowPhaseScratch& operator=(NarrowPhaseScratch&&) noexcept;

  /// The updates that follow are for slices of a step of this length [s]. Where they are shorter, contacts
  /// are kept over larger moves; 0: never.
  void begin_step(double step);

  struct Memory;
  [[nodiscard]] Memory& memory() { return *memory_; }

 private:
  std::unique_ptr<Memory> memory_;
};

/// Whether the two may touch at all: groups, motion, sleep.
[[nodiscard]] bool should_collide(const model::SceneModel& model, const BodyPair& pair);

/// Patches of all pairs, ordered by bodies, found again.
void find_contacts(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, NarrowPhaseScratch& scratch,
                   std::vector<model::ContactPatch>& patches);

/// What changes in a step beside the patches of the state.
struct ContactUpdate {
  std::vector<std::int32_t> kept_from;  ///< by patch: its number before, kNone where it was found again
  bool is_same = false;                 ///< all patches are kept, in their places
  std::vector<model::ContactPatch> sensor_patches;  ///< what overlaps sensors, which is not in the state
  std::uint64_t left_out = 0;  ///< points of pairs that had the largest number of patches already
};

/// Brings patches and references of `state`, which is that of the input, up to date: contacts of pairs that
/// have hardly moved are kept, the others found and matched with those before, at most `match_distance` [m]
/// away.
void update_contacts(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, double match_distance,
                     NarrowPhaseScratch& scratch, model::SceneState& state, ContactUpdate& update);

/// Multiplies the impulses from which the next solve starts.
void scale_warm_impulses(std::span<model::ContactPatch> patches, double factor);

}  // namespace thrum::collision
