// SPDX-License-Identifier: MIT
// Contact patches as rows of [Coevoet20, eq. 2-3], laid out for sweeping.
//
// A patch has up to four normal rows, which share a normal, and three friction rows at its centre: two
// tangents and the turn about the normal. The normal rows are solved together: their 4 x 4 block of A = J
// M^-1 J^T is kept, so that a visit reads the two bodies once, sweeps inside the block, and writes the bodies
// once.
//
//   lane      0        1        2        3
//   rows   r_b x n  r_b x n  r_b x n  r_b x n       one array for x, y and z
//
// Where we leave the paper: friction acts on the patch as a whole rather than at each point. Four points of a
// flat face give 7 rows instead of 12, none of them redundant in the tangential directions, and the split
// among the points, which Coulomb's law does not determine, is made afterwards in proportion to the normal
// impulses.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/model/scene.h"
#include "thrum/rigid/constraint_settings.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

using Lanes = Eigen::Array4d;

struct SolverPatch {
  std::int32_t a = 0;  ///< body
  std::int32_t b = 0;
  std::int32_t source = 0;  ///< patch of the scene
  std::uint8_t count = 0;
  bool may_bounce = false;  ///< some point is new, approaching, and restitution is not 0
  double yield_a = 1;       ///< 0: body a is held still during shock propagation
  double yield_b = 1;

  // Normal rows.
  Vec3 n;
  std::array<Lanes, 3> ra_n;  ///< r_a x n, by axis [m]
  std::array<Lanes, 3> rb_n;
  Eigen::Array44d A;  ///< block of J M^-1 J^T [1/kg]
  Lanes inverse_A;    ///< 1 / (A_ii + cfm), 0 for lanes without a point [kg]
  Lanes cfm;          ///< [1/kg]
  /// Inverse of the block of all seven rows, (normals, t1, t2, twist), slightly regularised; the eighth is
  /// unused.
  Eigen::Matrix<double, 8, 8> inverse_block;
  Lanes gap;     ///< at the start of the step [m]
  Lanes target;  ///< least separation speed wanted: restitution, distant response [m/s]
  Lanes lambda;  ///< impulse of this sub-step [N s]
  Lanes push;    ///< impulse that pushes overlap out, of this sub-step [N s]
  Lanes total;   ///< summed over the sub-steps [N s]

  // Friction rows.
  Vec3 t1;
  Vec3 t2;
  Vec3 ra;  ///< centre of the patch from the centre of mass of a [m]
  Vec3 rb;
  Mat3 friction_mass;  ///< inverse of the block of A for (t1, t2, twist)
  Vec3 friction;       ///< impulses along t1, t2 and about n, of this sub-step [N s, N s, N m s]
  Vec3 friction_total;
  double mu = 0;
  Lanes
      twist_arm;  ///< mu times the distance of each point from the centre, plus the spinning coefficient [m]
  double rolling = 0;                   ///< coefficient [m]
  Mat3 rolling_mass;                    ///< inverse of the sum of the two inverse inertias [kg m^2]
  Vec3 rolling_impulse = Vec3::Zero();  ///< [N m s]

  // Restitution.
  Lanes start_speed;  ///< along n at the start of the step, for the record [m/s]
  double restitution = 0;
  Lanes bounce_candidate;  ///< 1 where restitution is still to come
  Lanes approach_speed;    ///< along n at the start of the sub-step, negative when approaching [m/s]
  Lanes approach_gap;      ///< at the start of the sub-step [m]
  double approach_acceleration = 0;  ///< along n, of gravity and applied forces [m/s^2]

  EIGEN_MAKE_ALIGNED_OPERATOR_NEW
};

/// The contacts of a step.
class ContactRows {
 public:
  /// Reads the patches in the order given. `surfaces` has one entry per scene patch.
  void build(const model::SceneState& state, std::span<const std::int32_t> order,
             std::span<const model::Surface> surfaces, const ConstraintSettings& settings,
             SolverBodies& bodies);

  /// Applies the impulses of the last sub-step, from which this one starts.
  void warm_start(SolverBodies& bodies);
  /// Notes the approach speeds that restitution needs, before the velocities are advanced.
  void note_approach(SolverBodies& bodies);
  /// One sweep. `backward` goes from the last patch to the first.
  void sweep(SolverBodies& bodies, const ConstraintSettings& settings, double h, bool backward);
  /// Finds the velocities that push overlap out. They move the bodies but are not kept.
  void push_out(SolverBodies& bodies, const ConstraintSettings& settings, double length_scale, double h);
  /// Asks for restitution where a new contact was pushed. True when there is any.
  bool start_bounces();
  /// Ends a sub-step: adds to the sums, and forgets impulses of impacts so that they are not given twice.
  void finish_sub_step();
  /// Tells bodies that a contact pushes them.
  void mark_touched(SolverBodies& bodies) const;
  /// Prepares shock propagation: the same rows with the body nearer to the ground held. Patches must be in
  /// the order of their levels.
  void hold_lower_bodies(SolverBodies& bodies, const ConstraintSettings& settings,
                         std::span<const std::int32_t> level_of_body, double step);
  /// One sweep from the lowest level to the highest in which the held bodies do not yield.
  void shock_sweep(SolverBodies& bodies, const ConstraintSettings& settings, double h);
  /// Writes impulses back into the scene's patches.
  void store(model::SceneState& state) const;

  [[nodiscard]] std::span<SolverPatch> patches() { return patches_; }
  [[nodiscard]] std::span<const SolverPatch> patches() const { return patches_; }

 private:
  using PatchVector = std::vector<SolverPatch, Eigen::aligned_allocator<SolverPatch>>;
  static constexpr std::int32_t kNotHeld = -1;
  /// The rows of a patch in shock propagation: its own, or those with the lower body held.
  [[nodiscard]] SolverPatch& solved(std::size_t i)
  {
    return held_[i] == kNotHeld ? patches_[i] : shock_patches_[static_cast<std::size_t>(held_[i])];
  }

  PatchVector patches_;
  PatchVector shock_patches_;             ///< of patches whose lower body is held
  std::vector<std::int32_t> held_;        ///< place in shock_patches_ of each patch, or kNotHeld
  std::vector<std::size_t> level_begin_;  ///< first patch of each level, and their number at the end
};

}  // namespace thrum::rigid
