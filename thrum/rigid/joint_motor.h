// SPDX-License-Identifier: MIT
// How fast the motor of a joint drives it, and from which distance it brakes.
#pragma once

#include "thrum/model/joint.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

/// The deceleration that a motor can count on when it brakes for its target [rad/s^2 or m/s^2]: with half of
/// its force, the other half being left for gravity and other loads, and the whole inertia of the two bodies
/// about the hinge, or along the slider. `ra` and `rb`: the joint from the centres of mass.
[[nodiscard]] double braking_deceleration(const model::Joint& joint, const Vec3& axis, const Vec3& ra,
                                          const Vec3& rb, const SolverBody& A, const SolverBody& B);

/// The speed at which a motor drives the coordinate `value` in a substep of length h. To a target it goes at
/// most sqrt(2 a s), from which it can stop within the way s that is left.
[[nodiscard]] double motor_speed(const model::JointMotor& motor, model::JointKind kind, double value,
                                 double deceleration, double h);

}  // namespace thrum::rigid
