// SPDX-License-Identifier: MIT
// A contact patch as rows of [Coevoet20, eq. 2-3], laid out for sweeping.
//
// A patch has up to four normal rows, which share a normal, and three friction rows at its centre: two
// tangents and the turn about the normal. They lie side by side in eight lanes, so that a visit reads the two
// bodies once, works on all rows together, and writes the bodies once.
//
//   lane       0       1       2       3       4       5       6       7
//   row     n at p0 n at p1 n at p2 n at p3   t1      t2    twist      -
//   linear     n       n       n       n      t1      t2      0        0      an array each for x, y, z
//   arm      r x n   r x n   r x n   r x n  r x t1  r x t2    n        0      likewise, for each body
//
// Lanes without a point are zero throughout and answer to nothing.
//
// Rows are single precision: a sweep is a correction of the velocities, which are double, by a residual
// computed from them; the next sweep sees what rounding left over. That halves the memory a sweep has to pass
// through. What is given to one body is taken from the other to the last bit of a double.
//
// Where we leave the paper: friction acts on the patch as a whole rather than at each point. Four points of a
// flat face give 7 rows instead of 12, none of them redundant in the tangential directions, and the split
// among the points, which Coulomb's law does not determine, is made afterwards in proportion to the normal
// impulses.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>

#include "thrum/model/contact.h"
#include "thrum/model/surface.h"
#include "thrum/rigid/constraint_settings.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

using RowReal = float;
using Lanes = Eigen::Array<RowReal, 4, 1>;
using Rows = Eigen::Array<RowReal, 8, 1>;

inline constexpr Eigen::Index kFirstTangent = 4;
inline constexpr Eigen::Index kSecondTangent = 5;
inline constexpr Eigen::Index kTwist = 6;

/// How the rows of a patch yield, for bodies that both do or of which one is held. What every visit reads
/// comes first and fills four cache lines.
struct alignas(64) PatchMasses {
  /// Columns of the inverse of the block of all seven rows, slightly regularised.
  std::array<Rows, 7> inverse;
  Lanes cfm;              ///< [1/kg]
  bool movable_a = true;  ///< false: body a does not move, or is held in shock propagation
  bool movable_b = true;
  // For a patch that slides, or of which points part.
  alignas(64) std::array<Lanes, 4> A;        ///< columns of the block of the normal rows [1/kg]
  std::array<Lanes, 3> friction_to_normal;   ///< speeds along the normals that t1, t2 and twist give
  Lanes inverse_A;                           ///< 1 / (A_ii + cfm), 0 for lanes without a point [kg]
  Eigen::Matrix<RowReal, 2, 2> friction;     ///< block of (t1, t2) [1/kg]
  Eigen::Array<RowReal, 3, 1> friction_row;  ///< diagonal of the block of (t1, t2, twist)
  Eigen::Matrix<RowReal, 2, 1> twist_slips;  ///< speeds along t1 and t2 that a unit of twist gives
};

/// What every visit reads comes first and fills six and a half cache lines, no row across two of them.
struct alignas(64) SolverPatch {
  std::int32_t a = 0;  ///< body
  std::int32_t b = 0;
  std::int32_t source = 0;  ///< patch of the scene
  std::uint8_t count = 0;
  bool may_bounce = false;  ///< some point is new and restitution is not 0, or a distant impact kicks it
  bool rolls = false;       ///< there is rolling friction
  RowReal mu = 0;
  /// Square of the slide beyond which `masses` are not those of the rows any more [m^2].
  RowReal max_slide_square = 0;
  const PatchMasses* masses = nullptr;  ///< kept by ContactMasses

  std::array<Rows, 3> linear;
  std::array<Rows, 3> arm_a;  ///< [m]
  std::array<Rows, 3> arm_b;
  Rows bias;             ///< the rows want J v = -bias in this substep [m/s]
  Rows lambda;           ///< impulses of this substep [N s, the twist N m s]
  Lanes twist_arm;       ///< mu times the distance of each point from the centre, plus the spinning
                         ///< coefficient [m]
  Lanes friction_reach;  ///< 1, 1 and the largest distance of a point from the centre [m], 0: makes all rows
                         ///< speeds

  /// How far b has moved against a since the step began, as far as the arms follow it [m].
  Eigen::Matrix<RowReal, 3, 1> slide;
  Lanes gap;      ///< at the start of the step [m]
  Lanes gap_now;  ///< at the start of the substep [m]
  Lanes target;   ///< least separation speed wanted: restitution, distant response [m/s]
  Lanes push;     ///< impulse that pushes overlap out, of this substep [N s]
  Rows total;     ///< impulses summed over the substeps
};

/// What a patch needs less often.
struct PatchRecord {
  Vec3 n;
  Vec3 t1;
  Vec3 t2;
  Vec3 ra;  ///< centre of the patch from the centre of mass of a [m]
  Vec3 rb;
  double rolling = 0;                   ///< coefficient [m]
  Mat3 rolling_mass = Mat3::Zero();     ///< inverse of the sum of the two inverse inertias [kg m^2]
  Vec3 rolling_impulse = Vec3::Zero();  ///< [N m s]

  // Restitution.
  double restitution = 0;
  Lanes start_speed;                 ///< along n at the start of the step, for the record [m/s]
  Lanes bounce_candidate;            ///< 1 where restitution is still to come
  Lanes requested_speed;             ///< speed of parting that a distant impact asks for, still to come [m/s]
  Lanes approach_speed;              ///< along n at the start of the substep, negative when approaching [m/s]
  Lanes approach_gap;                ///< at the start of the substep [m]
  Rows before_bounce;                ///< impulses of this substep before its bounces
  double approach_acceleration = 0;  ///< along n, of gravity and applied forces [m/s^2]
};

/// What is the same for all visits of a sweep.
struct SweepValues {
  int inner = 2;   ///< sweeps over the normal rows of a patch
  int rounds = 1;  ///< friction and normal rows in turn
  FrictionCone cone = FrictionCone::cone;
};

struct PushValues {
  double rate = 0;   ///< erp / h [1/s]
  double speed = 0;  ///< at most [m/s]
  double slop = 0;   ///< overlap left alone [m]
  int inner = 2;
};

/// J x for relative displacements or velocities: of the centres `linear`, and turns of a and b.
[[nodiscard]] inline Rows along_rows(const SolverPatch& p, const Vec3& linear, const Vec3& turn_a,
                                     const Vec3& turn_b)
{
  const auto real = [](double x) {
    return static_cast<RowReal>(x);
  };
  Rows sum = p.linear[0] * real(linear.x()) + p.linear[1] * real(linear.y()) + p.linear[2] * real(linear.z());
  sum += p.arm_b[0] * real(turn_b.x()) + p.arm_b[1] * real(turn_b.y()) + p.arm_b[2] * real(turn_b.z());
  sum -= p.arm_a[0] * real(turn_a.x()) + p.arm_a[1] * real(turn_a.y()) + p.arm_a[2] * real(turn_a.z());
  return sum;
}

struct Impulses {
  Vec3 linear;
  Vec3 on_a;  ///< about the centre of a
  Vec3 on_b;
};

/// What the impulses `change` on the rows add up to.
[[nodiscard]] inline Impulses impulses_of(const SolverPatch& p, const Rows& change)
{
  const auto sum = [&](const std::array<Rows, 3>& rows) {
    return Vec3((rows[0] * change).sum(), (rows[1] * change).sum(), (rows[2] * change).sum());
  };
  return {sum(p.linear), sum(p.arm_a), sum(p.arm_b)};
}

/// Which contacts rows are made of: as they are, or as they were found.
struct ContactMembers {
  Vec3 model::ContactPoint::*position = &model::ContactPoint::position;
  double model::ContactPoint::*depth = &model::ContactPoint::depth;
};
inline constexpr ContactMembers kContactsAsFound = {&model::ContactPoint::reference_position,
                                                    &model::ContactPoint::reference_depth};

/// Sets the rows of a patch whose bodies A and B have their centres of mass at `xa` and `xb`, and what of `p`
/// and `record` depends on them.
void set_rows(const model::ContactPatch& contact, const ContactMembers& members, const SolverBody& A,
              const Vec3& xa, const SolverBody& B, const Vec3& xb, const model::Surface& surface,
              SolverPatch& p, PatchRecord& record);

/// Fills `m` from the rows of `p`. What is held does not yield.
void set_masses(const SolverPatch& p, const SolverBody& A, const SolverBody& B, bool hold_a, bool hold_b,
                double cfm, PatchMasses& m);

/// Gives the bodies a turning impulse of rolling friction [N m s].
void apply_rolling(const PatchMasses& m, SolverBody& A, SolverBody& B, const Vec3& impulse);

/// The normal rows for the velocities that push overlap out, gamma phi / h in eq. (2).
void solve_push(const SolverPatch& p, const PatchMasses& m, Lanes& push, SolverBody& A, SolverBody& B,
                const PushValues& s);

}  // namespace thrum::rigid
