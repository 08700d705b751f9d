// SPDX-License-Identifier: MIT
#include "thrum/rigid/joint_motor.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace thrum::rigid {

namespace {

/// Of the force of a motor, for braking.
constexpr double kBrakingShare = 0.5;

}  // namespace

double braking_deceleration(const model::Joint& joint, const Vec3& axis, const Vec3& ra, const Vec3& rb,
                            const SolverBody& A, const SolverBody& B)
{
  const auto inverse = [&](const SolverBody& body, const Vec3& r) {
    if (body.inverse_mass == 0) return 0.0;
    if (joint.kind != model::JointKind::hinge) return body.inverse_mass;
    const double about_centre = 1 / axis.dot(body.inverse_inertia * axis);
    return 1 / (about_centre + axis.cross(r).squaredNorm() / body.inverse_mass);
  };
  return kBrakingShare * joint.motor.max_force * (inverse(A, ra) + inverse(B, rb));
}

double motor_speed(const model::JointMotor& motor, model::JointKind kind, double value, double deceleration,
                   double h)
{
  if (!motor.has_target) return motor.speed;
  double way = motor.target - value;
  // The shorter way round.
  if (kind == model::JointKind::hinge) way = std::remainder(way, 2 * std::numbers::pi);
  const double limit = std::min(std::abs(motor.speed), std::sqrt(2 * deceleration * std::abs(way)));
  return std::clamp(way / h, -limit, limit);
}

}  // namespace thrum::rigid
