// SPDX-License-Identifier: MIT
// The coordinate of a joint and its rate, from the two joint frames and the bodies that carry them.
#pragma once

#include "thrum/model/body.h"
#include "thrum/model/joint.h"

namespace thrum::rigid {

/// Hinge: angle of x of frame b about z of frame a, in (-pi, pi] [rad]. Slider: displacement along z of frame
/// a [m]. Distance and spring: distance of the origins [m]. Fixed and ball: 0.
[[nodiscard]] double joint_coordinate(model::JointKind kind, const Pose& X_wja, const Pose& X_wjb);

/// Rate of the coordinate [rad/s] or [m/s]. The frames move with the velocities of a and b; the world is a
/// body at rest.
[[nodiscard]] double joint_rate(model::JointKind kind, const Pose& X_wja, const Pose& X_wjb,
                                const model::BodyState& a, const model::BodyState& b);

}  // namespace thrum::rigid
