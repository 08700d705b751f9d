// SPDX-License-Identifier: MIT
// Starting from the impulses of the sub-step before must not put energy in.
//
// Impulses of an impact are far larger than what the next sub-step needs. Given again, and taken back by one sweep only in
// part, they threw piles apart: one step gained up to 1 % of the energy with which the pile was dropped.
//
// With d the change of velocity that all starting impulses of an island bring, the kinetic energy for a share s of them is
//
//     K(s) = K(0) + s v.M d + s^2 d.M d / 2,                                                           (1)
//
// least at s* = -(v.M d) / (d.M d) and above K(0) for s > 2 s*. An island at rest has s* = 1: the impulses cancel what
// gravity gave. Where K(1) > K(0) the share s*, at least 0, is taken instead of 1. From there on the sweeps lower the
// energy, so no sub-step ends with more than gravity gave it. Shares are taken for whole islands: in a tower each contact
// by itself would seem to give too much.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/model/scene.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

class WarmStartLimit {
 public:
  /// Finds the islands of a step, after `bodies` were loaded.
  void prepare(const model::SceneModel& model, const model::SceneState& state);
  /// Notes the velocities before the starting impulses.
  void note(SolverBodies& bodies);
  /// Compares with the velocities after them and leaves each island its share. False: all of them keep 1.
  [[nodiscard]] bool limit(SolverBodies& bodies);
  /// The share of a row between two bodies.
  [[nodiscard]] double share(model::BodyId a, model::BodyId b) const;
  /// Island of each body, kNone for bodies that are not dynamic.
  [[nodiscard]] const std::vector<std::int32_t>& islands() const { return island_; }

 private:
  struct Velocity {
    Vec3 v;
    Vec3 w;
  };
  struct Energy {
    double slope = 0;   ///< v.M d [J]
    double square = 0;  ///< d.M d [J]
    double share = 1;
  };

  std::vector<std::int32_t> island_;
  std::vector<Mat3> inertia_;  ///< world axes [kg m^2]
  std::vector<Velocity> before_;
  std::vector<Energy> energy_;  ///< by island
};

}  // namespace thrum::rigid
