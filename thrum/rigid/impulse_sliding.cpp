// SPDX-License-Identifier: MIT
// A flat patch that slides, settled as a whole.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "thrum/rigid/impulse_stepper.h"

namespace thrum::rigid {

namespace {

/// Rounds of normal impulses, twist and friction, and the change at which they end, as a share of the
/// pressure.
constexpr int kRounds = 60;
constexpr double kAccuracy = 1e-9;

}  // namespace

// Normal impulses that give the points their speeds, as in solve_flat_patch, and friction opposite to the
// slip that it leaves, at the centre of the load. The three are found in turn until they agree:
//
//     normal     j.n and the turn across n, so that the patch has the speed and tilt asked for
//     twist      about n, within its bound
//     friction   at c = sum l_i d_i / sum l_i, within mu sum l_i
//
// Taking the points one by one instead, each with its own friction, left the load at the wrong corners: a
// cube that slid to rest turned by 0.05 rad and stopped 7 % short.
ImpulseStepper::FlatPatchResult ImpulseStepper::slide_flat_patch(const ImpulsePair& pair, ImpulsePatch& patch,
                                                                 const Vec3& fit)
{
  SolverBody& A = bodies_[pair.a];
  SolverBody& B = bodies_[pair.b];
  const FlatFrame& flat = patch.flat;
  const Vec3& n = patch.n;
  const Mat3 K = collision_matrix(A, B, flat.place);
  const Mat3 S = A.inverse_inertia + B.inverse_inertia;
  Eigen::Matrix<double, 3, 2> T;
  T << flat.t1, flat.t2;
  Mat3 normal_block;
  normal_block(0, 0) = n.dot(K * n);
  normal_block.block<1, 2>(0, 1) = n.transpose() * flat.L * T;
  normal_block.block<2, 1>(1, 0) = normal_block.block<1, 2>(0, 1).transpose();
  normal_block.block<2, 2>(1, 1) = T.transpose() * S * T;
  const Mat3 normal_inverse = normal_block.inverse();
  const Vec3 wanted_turn = (fit[1] * flat.t1 + fit[2] * flat.t2).cross(n);
  const Vec3 u0 = relative_velocity(A, B, flat.place);
  const Vec3 w0 = B.w - A.w;
  const double twist_mass = n.dot(S * n);
  const double given_twist = n.dot(patch.contact_angular_impulse);
  Vec3 given_friction = Vec3::Zero();
  for (const ImpulsePoint& point : patch.active())
    given_friction += point.contact_impulse - n.dot(point.contact_impulse) * n;

  Vec3 normal = Vec3::Zero();  // j.n and the turn across n
  Vec3 friction = given_friction;
  double twist = given_twist;
  Vec3 j = Vec3::Zero();
  Vec3 tau = Vec3::Zero();
  std::array<double, 4> load{};
  double pressure = 0;
  bool converged = false;
  for (int round = 0; round < kRounds && !converged; ++round) {
    Vec3 u = u0 + K * j + flat.L * tau;
    Vec3 w = w0 + flat.L.transpose() * j + S * tau;
    const Vec2 tilt = T.transpose() * (wanted_turn - w);
    const Vec3 change = normal_inverse * Vec3(fit[0] - n.dot(u), tilt[0], tilt[1]);
    normal += change;
    j += change[0] * n;
    tau += T * change.tail<2>();

    const Vec3 share = flat.inverse_moments * Vec3(normal[0], -normal[2], normal[1]);
    pressure = 0;
    Vec3 centre = Vec3::Zero();
    for (std::size_t i = 0; i < patch.active().size(); ++i) {
      load[i] = n.dot(patch.points[i].contact_impulse) + flat.at[i].dot(share);
      if (!(load[i] >= 0)) return FlatPatchResult::not_possible;
      pressure += load[i];
      centre += load[i] * (patch.points[i].rb - flat.place.rb);
    }
    if (!(pressure > 0)) return FlatPatchResult::not_possible;
    centre /= pressure;

    w = w0 + flat.L.transpose() * j + S * tau;
    const double max_twist = (patch.friction.sliding * flat.arm + patch.friction.spinning) * pressure;
    const double next_twist = std::clamp(twist - n.dot(w) / twist_mass, -max_twist, max_twist);
    tau += (next_twist - twist) * n;
    twist = next_twist;

    u = u0 + K * j + flat.L * tau;
    w = w0 + flat.L.transpose() * j + S * tau;
    ContactPlace place = flat.place;
    place.ra += centre;
    place.rb += centre;
    const Eigen::Matrix2d K_t = T.transpose() * collision_matrix(A, B, place) * T;
    const Vec2 old = T.transpose() * friction;
    const Vec2 slip = T.transpose() * (u + w.cross(centre));
    const Vec3 next = T * friction_in_disc(K_t, K_t * old - slip, patch.friction.sliding * pressure);
    const Vec3 added = next - friction;
    friction = next;
    j += added;
    tau += centre.cross(added);
    converged = added.norm() + std::abs(change[0]) <= kAccuracy * pressure;
  }
  if (!converged) return FlatPatchResult::not_possible;

  const double moved = (K * j + flat.L * tau).norm() + flat.arm * (flat.L.transpose() * j + S * tau).norm();
  if (moved <= patch.points[0].tolerance) return FlatPatchResult::settled;
  PointImpulse impulse;
  impulse.linear = j;
  impulse.angular = tau;
  impulse.normal = normal[0];
  apply_impulse(A, B, flat.place, impulse);
  record_change(pair);
  patch.contact_angular_impulse += (twist - given_twist) * n;
  patch.friction_total += friction - given_friction;
  for (std::size_t i = 0; i < patch.active().size(); ++i) {
    ImpulsePoint& point = patch.points[i];
    point.impulse += load[i] - n.dot(point.contact_impulse);
    point.contact_impulse = load[i] * n + (load[i] / pressure) * friction;
  }
  return FlatPatchResult::done;
}

}  // namespace thrum::rigid
