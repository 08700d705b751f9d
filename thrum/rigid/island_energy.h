// SPDX-License-Identifier: MIT
// What must not put energy in: starting from the impulses of the substep before, bounces, and the solve where
// bodies spin fast.
//
// With d the change of velocity that some impulses of an island bring, the kinetic energy for a share s of
// them is
//
//     K(s) = K(0) + s v.M d + s^2 d.M d / 2,                                                           (1)
//
// least at s* = -(v.M d) / (d.M d) and above K(0) for s > 2 s*.
//
// Starting impulses. Those of an impact are far larger than what the next substep needs. Given again, and
// taken back by one sweep only in part, they threw piles apart: one step gained up to 1 % of the energy with
// which the pile was dropped. Where an island would gain, K(1) > K(0), the bodies that gain by themselves are
// found first, and the rows of each keep its s*, at least 0. That is enough where one body was hit. An island
// that gains even so keeps its own s* of what is left. An island at rest has s* = 1: the impulses cancel what
// gravity gave. Shares of whole islands alone were tried: a ring that fell onto a heap of 500 took a third of
// its support from all of it for one substep.
//
// Bounces. They come after the move, and may bring the kinetic energy no higher than it was before the
// substep plus the work of gravity and applied forces along the move. The largest s in [0, 1] for which (1)
// allows that is the greater root of K(s) = K_allowed. Impulses of Newton's law at several contacts at once,
// or with friction, can need it. Kicks of a distant response come with the bounces and bring the energy that
// was granted to them.
//
// The solve of a substep. Contacts and joints at rest can only take energy, but sweeps that have not
// converged can add some, and rows of a body that turned far since they were built (kStaleRowTurn) push where
// it no longer is. In islands with such a body the impulses of a solve that gains keep the share s*, from
// the velocities after gravity and applied forces. Against a kinematic body what counts is the motion
// relative to it: with u the speed of its side of a row and j the impulse, j u joins v.M d in (1).
//
// A motor with the speed 0 is a brake: it takes energy as friction does, and its island is limited as well.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "thrum/model/scene.h"
#include "thrum/rigid/islands.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

class IslandEnergy {
 public:
  /// Finds the islands of a step, after `bodies` were loaded. `same_contacts`: they are those of the step
  /// before; `any_requested`: some point has a requested speed.
  void prepare(const model::SceneModel& model, const model::SceneState& state, bool same_contacts,
               bool any_requested);
  /// The inertia tensors of the bodies of these islands as they stand now; `prepare` does it for all.
  void find_inertia(const model::SceneModel& model, const model::SceneState& state,
                    const IslandFlags& islands);
  /// Notes the velocities before the impulses in question.
  void record_velocities(SolverBodies& bodies);
  /// Compares with the velocities now. True when an island gained. In these, bodies that gained get their own
  /// share, all others 1.
  [[nodiscard]] bool find_body_shares(SolverBodies& bodies);
  /// Takes the velocities back to those that were noted.
  void restore_velocities(SolverBodies& bodies) const;
  /// Leaves each island its share of the impulses. False: all of them keep 1.
  [[nodiscard]] bool limit_warm_start(SolverBodies& bodies);
  /// Notes the energy that a substep begins with, before forces act.
  void begin_substep(SolverBodies& bodies);
  /// After the move, `record_velocities` and the bounces: leaves each island its share of them. False: all of
  /// them keep 1.
  [[nodiscard]] bool limit_bounces(SolverBodies& bodies);
  /// Finds the islands with a body that has turned so far in this slice [s], or spins so fast, that its rows
  /// are stale. False: there is none.
  [[nodiscard]] bool find_spinning_islands(SolverBodies& bodies, double slice);
  /// Likewise those whose solve is to be limited: rows of joints are made anew in each substep [s], and what
  /// they add to the energy of a body that turns by little is the error of a symplectic step, which swings.
  [[nodiscard]] bool find_limited_islands(SolverBodies& bodies, double slice, double substep);
  [[nodiscard]] const IslandFlags& spinning_islands() const { return spinning_; }
  /// After `record_velocities` and a solve: leaves the islands found last that gained their share of it.
  /// `work` is j u of each island, as above [J]. False: all of them keep 1.
  [[nodiscard]] bool limit_solve(SolverBodies& bodies, std::span<const double> work);
  /// After `record_velocities` and a solve: finds the islands that gained more than the `work` of forces
  /// that may bring energy [J]: any gain where a body turns far in a substep, otherwise kMaxSolveGain. False:
  /// there is none.
  [[nodiscard]] bool find_gaining_islands(SolverBodies& bodies, double substep, std::span<const double> work);
  /// Whether a row between two bodies belongs to an island that was found last.
  [[nodiscard]] bool is_found(model::BodyIndex a, model::BodyIndex b) const;
  /// The share of a row between two bodies: the smaller of theirs.
  [[nodiscard]] double share(model::BodyIndex a, model::BodyIndex b) const;
  /// Island of each body, kNone for bodies that are not dynamic.
  [[nodiscard]] const std::vector<std::int32_t>& islands() const { return island_; }
  [[nodiscard]] std::size_t island_count() const { return island_count_; }

 private:
  struct Motion {
    Vec3 v;
    Vec3 w;
  };
  struct Change {
    double slope = 0;   ///< v.M d [J]
    double square = 0;  ///< d.M d [J]
  };
  struct Energy {
    double slope = 0;    ///< v.M d [J]
    double square = 0;   ///< d.M d [J]
    double allowed = 0;  ///< K_allowed - K(0), for bounces [J]
    double share = 1;

    [[nodiscard]] bool is_gain() const { return 2 * slope + square > 0; }
    [[nodiscard]] double minimizing_share() const;
  };
  [[nodiscard]] Energy change_of(const SolverBody& body, std::size_t i) const;
  [[nodiscard]] double kinetic(const SolverBody& body, std::size_t i) const;
  void sum_changes(SolverBodies& bodies);
  /// Gives each body the share of its island.
  void apply_island_shares(SolverBodies& bodies);

  template <class IsSlow>
  bool find_islands_unless(SolverBodies& bodies, IsSlow&& is_slow);
  void find_islands_of(const model::SceneModel& model, const model::SceneState& state);
  void find_kick_energy(const model::SceneState& state);

  std::vector<std::int32_t> island_;
  std::size_t island_count_ = 0;
  std::vector<bool> touches_driver_;  ///< by island: a kinematic body touches it
  std::vector<bool> driven_;          ///< by island: something outside may put energy in
  std::vector<bool> has_motor_;       ///< by island: a motor or a spring may
  std::vector<bool> has_joint_;       ///< by island
  IslandFlags spinning_;              ///< found last
  std::vector<double> kick_energy_;   ///< by island: what the kicks of this step may bring [J]
  std::vector<Mat3> inertia_;         ///< world axes [kg m^2]
  std::vector<Motion> before_;
  std::vector<Change> changes_;       ///< by body
  std::vector<Energy> energy_;        ///< by island
  std::vector<double> share_;         ///< by body
  std::vector<double> start_energy_;  ///< by body: kinetic energy before the substep [J]
  std::vector<Motion> moved_;         ///< by body: moved and turned before the substep [m, rad]
};

}  // namespace thrum::rigid
