// SPDX-License-Identifier: MIT
// What a joint may be given, when it is added and later. Each throws Error with the value and what is
// expected.
#pragma once

#include "thrum/model/joint.h"

namespace thrum::sim {

void check_joint_motor(model::JointKind kind, const model::JointMotor& motor);
void check_joint_limits(model::JointKind kind, const model::JointLimits& limits);
/// For a length, a stiffness or a damping, as `what` says.
void check_joint_size(double value, const char* what);

}  // namespace thrum::sim
