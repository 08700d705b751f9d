// SPDX-License-Identifier: MIT
#include "thrum/sim/joint_checks.h"

#include <fmt/format.h>

#include <cmath>

#include "thrum/base/error.h"

namespace thrum::sim {

namespace {

bool has_axis(model::JointKind kind)
{
  return kind == model::JointKind::hinge || kind == model::JointKind::slider;
}

}  // namespace

void check_joint_motor(model::JointKind kind, const model::JointMotor& motor)
{
  for (const auto& [value, what] : {std::pair(motor.speed, "speed"), std::pair(motor.target, "target")}) {
    if (!std::isfinite(value))
      throw Error(fmt::format("The {} of a motor is {}; it must be a finite number.", what, value));
  }
  if (!(motor.max_force >= 0))
    throw Error(fmt::format("The max force of a motor is {}; it must be at least 0.", motor.max_force));
  if (motor.enabled && !has_axis(kind)) throw Error("Only hinges and sliders have motors.");
}

void check_joint_limits(model::JointKind kind, const model::JointLimits& limits)
{
  if (!(limits.lower <= limits.upper)) {
    throw Error(
        fmt::format("The limits of a joint are {} to {}; the lower one must not exceed the upper one.",
                    limits.lower, limits.upper));
  }
  if (!has_axis(kind) && kind != model::JointKind::distance)
    throw Error("Only hinges, sliders and distance joints have limits.");
}

void check_joint_size(double value, const char* what)
{
  if (!(value >= 0) || !std::isfinite(value))
    throw Error(fmt::format("The {} of a joint is {}; it must be at least 0.", what, value));
}

}  // namespace thrum::sim
