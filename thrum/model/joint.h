// SPDX-License-Identifier: MIT
// Joints hold two bodies, or a body and the world, by a frame in each. The hinge and the slider have their
// axis along z of the frame.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "thrum/base/vec.h"
#include "thrum/model/ids.h"

namespace thrum::model {

enum class JointKind : std::uint8_t {
  fixed,     ///< no relative motion
  ball,      ///< origins coincide
  hinge,     ///< turns about z: coordinate = angle [rad]
  slider,    ///< slides along z: coordinate = displacement [m]
  distance,  ///< the origins stay `length` apart; with limits, within [lower, upper]
  spring     ///< a force along the line between the origins: stiffness and damping
};

struct JointLimits {
  double lower = -std::numeric_limits<double>::infinity();  ///< [rad] or [m]
  double upper = std::numeric_limits<double>::infinity();   ///< [rad] or [m]
};

/// Drives the coordinate of a hinge or a slider with a bounded force or torque: at a speed, or to a target.
struct JointMotor {
  bool enabled = false;
  bool has_target = false;  ///< drive to `target`; `speed` is then the max speed on the way
  double speed = 0.0;       ///< [rad/s] or [m/s]
  double max_force = 0.0;   ///< [N m] or [N]
  double target = 0.0;      ///< of the coordinate [rad] or [m]
};

/// What joins two bodies. `BodyRef` is BodyId in what a user describes (JointDesc) and BodyIndex in a scene
/// (Joint).
template <class BodyRef, BodyRef kWorld>
struct JointBetween {
  JointKind kind = JointKind::ball;
  BodyRef a = kWorld;
  BodyRef b = kWorld;  ///< as it is: the world
  Pose X_aj = {};      ///< joint frame in body a
  Pose X_bj = {};      ///< joint frame in body b, or in the world
  bool limited = false;
  JointLimits limits = {};
  JointMotor motor = {};
  double length = 0.0;             ///< distance and spring: rest length [m]
  double stiffness = 0.0;          ///< spring [N/m]
  double damping = 0.0;            ///< spring [N s/m]
  bool collide_connected = false;  ///< whether a and b may touch each other
};

using JointDesc = JointBetween<BodyId, BodyId{}>;
using Joint = JointBetween<BodyIndex, kNone>;

/// Impulses of the last step along the joint's rows, where the next solve starts.
struct JointState {
  std::array<double, 8> warm_impulse{};  ///< of one substep [N s] or [N m s]
  Vec3 impulse = Vec3::Zero();           ///< on b, over the whole step [N s]
  Vec3 angular_impulse = Vec3::Zero();   ///< on b, over the whole step [N m s]
};

}  // namespace thrum::model
