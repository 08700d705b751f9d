// SPDX-License-Identifier: MIT
// All contacts of a list of pairs, and which of them continue contacts of the step before.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "thrum/collision/broad_phase.h"
#include "thrum/collision/pair_table.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/model/scene.h"

namespace thrum::collision {

struct NarrowPhaseDesc {
  double step = 1.0 / 60;   ///< bodies may move for this long before contacts are found again [s]
  double margin = 0.005;    ///< gap up to which resting bodies count as touching, as a share of the smaller
                            ///< one's least extent
  double max_margin = 0.5;  ///< likewise for fast bodies, whose margin grows with speed * step
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
};

/// Working memory of the functions below, kept from step to step by its owner: a list for each chunk of pairs
/// and a PairScratch for each thread that works on one. Results do not depend on it.
class NarrowPhaseScratch {
 public:
  NarrowPhaseScratch();
  ~NarrowPhaseScratch();
  NarrowPhaseScratch(NarrowPhaseScratch&&) noexcept;
  NarrowPhaseScratch& operator=(NarrowPhaseScratch&&) noexcept;

  struct Memory;
  [[nodiscard]] Memory& memory() { return *memory_; }

 private:
  std::unique_ptr<Memory> memory_;
};

/// Whether the two may touch at all: groups, motion, sleep.
[[nodiscard]] bool should_collide(const model::SceneModel& model, const BodyPair& pair);

/// Patches of all pairs, ordered by bodies. Patches of pairs of sleeping bodies are kept.
void find_contacts(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, NarrowPhaseScratch& scratch,
                   std::vector<model::ContactPatch>& patches);

/// Gives points of `current` that continue points of `old` their impulses and marks them as not new. Both are
/// ordered by bodies. Points are matched by parts and features, then by place.
void match_contacts(std::span<const model::ContactPatch> old, double match_distance,
                    NarrowPhaseScratch& scratch, std::span<model::ContactPatch> current);

/// Multiplies the impulses from which the next solve starts.
void scale_warm_impulses(std::span<model::ContactPatch> patches, double factor);

}  // namespace thrum::collision
