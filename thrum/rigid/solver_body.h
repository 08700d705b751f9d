// SPDX-License-Identifier: MIT
// Bodies as the solver sees them: velocities, how far they moved in this step, and how they yield to an
// impulse.
#pragma once

#include <span>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/model/scene.h"

namespace thrum::rigid {

/// What sweeps read and write comes first and fills two cache lines. Velocities are read and written together
/// with the number that follows them, four doubles at a time (patch_lanes_avx2.inc).
struct alignas(64) SolverBody {
  Vec3 v = Vec3::Zero();                ///< of the centre of mass [m/s]
  double inverse_mass = 0;              ///< 0 for bodies that do not yield [1/kg]
  Vec3 w = Vec3::Zero();                ///< angular, world axes [rad/s]
  Mat3 inverse_inertia = Mat3::Zero();  ///< world axes, see update_world_inertia [1/(kg m^2)]
  Vec3 dx = Vec3::Zero();               ///< moved since the start of the step [m]
  Vec3 dth = Vec3::Zero();              ///< turned since the start of the step, to first order [rad]
  Vec3 push_v = Vec3::Zero();  ///< that pushes overlap out in this substep; moves the body, is not kept [m/s]
  Vec3 push_w = Vec3::Zero();  ///< likewise [rad/s]
  Vec3 acceleration = Vec3::Zero();          ///< from gravity and applied forces [m/s^2]
  Vec3 angular_acceleration = Vec3::Zero();  ///< from applied torques [rad/s^2]
  bool damped = false;                       ///< has linear or angular damping
  bool has_contact = false;                  ///< a contact pushed it in this substep
  bool moves = false;                        ///< not fixed and awake
};

/// Rows built before a body turned by more than this are stale [rad]. Steps are cut so that bodies turn by
/// less, unless they spin too fast for that.
inline constexpr double kStaleRowTurn = 0.5;

/// What turns a body besides torque: its own spin, where it is not a ball.
struct SpinMidpoint {
  Vec3 w_after = Vec3::Zero();       ///< angular velocity at the end of the substep, world axes [rad/s]
  Vec3 w_mid = Vec3::Zero();         ///< the mean [rad/s]
  Quat rotation = Quat::Identity();  ///< of the body at the end
};

/// Free rotation of a body for a time h by the implicit midpoint rule, which keeps its kinetic energy and its
/// angular momentum to rounding (see the source). Fast spin is taken in parts.
[[nodiscard]] SpinMidpoint advance_spin(const Mat3& inertia_b, const Quat& q, const Vec3& w, double h);

/// Turns `q` by the rotation vector h w.
[[nodiscard]] Quat advance_rotation(const Quat& q, const Vec3& w, double h);

/// In world axes, of a body with the inertia `inertia_b` in its own axes [1/(kg m^2)].
[[nodiscard]] Mat3 world_inverse_inertia(const Mat3& inertia_b, const Quat& q);

/// Whether the body is no faster than gravity makes it in two steps of length `step` [s], and its rows do not
/// get stale in one. Only what rests can be leant on in shock propagation: held, a top would spin up what
/// touches it and lose nothing.
[[nodiscard]] bool is_resting(const SolverBody& body, double step);

/// Slows a body that `push` [m/s] lifts for a time h: its kinetic energy falls by m a.dx. One at rest has
/// no energy to lose and gets back the height that it lost by sinking in.
void remove_lift_energy(SolverBody& body, const Vec3& push, double h);

/// The bodies of a scene during one step.
class SolverBodies {
 public:
  /// Reads the state. `h` is the whole step.
  void load(const model::SceneModel& model, const model::SceneState& state);
  /// v += h f / m, w += h I^-1 tau.
  void advance_velocities(const model::SceneModel& model, double h);
  /// What pushing overlap out lifts a body against its acceleration is taken from its motion, as if it had
  /// climbed there.
  void remove_push_out_energy(double h);
  /// Moves the bodies of the state with the velocities found, and lets them turn freely.
  void advance_positions(const model::SceneModel& model, model::SceneState& state, double h);
  /// Brings the inertia of bodies that turned far up to date: with a stale one, what impulses do to the
  /// energy is not what the solver takes it for. Returns whether a body has turned so far since the start of
  /// the step that rows built then do not know what it answers.
  bool update_world_inertia(const model::SceneModel& model, const model::SceneState& state);
  /// Writes velocities back.
  void store(model::SceneState& state) const;

  [[nodiscard]] std::span<SolverBody> all() { return bodies_; }
  [[nodiscard]] SolverBody& operator[](model::BodyIndex id) { return bodies_[at(id)]; }
#ifndef NDEBUG
  /// Of the centre of mass, now [m].
  [[nodiscard]] Vec3 position(model::BodyIndex id) const
  {
    const std::size_t i = at(id);
    return start_[i] + bodies_[i].dx;
  }
#endif
  /// A body that never moves, for joints with the world.
  [[nodiscard]] model::BodyIndex world() const
  {
    return static_cast<model::BodyIndex>(bodies_.size()) - 1;
  }

 private:
  std::vector<SolverBody> bodies_;  ///< by BodyIndex, and the world at the end
#ifndef NDEBUG
  std::vector<Vec3> start_;  ///< centres of mass at the start of the step [m]
#endif
  std::vector<Vec3>
      inertia_rotation_;  ///< dth of each body when its inertia was last brought up to date [rad]
};

}  // namespace thrum::rigid
