// SPDX-License-Identifier: MIT
// A body: its fixed description and its changing state. The body's axes have their origin at the centre of
// mass.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "thrum/base/vec.h"
#include "thrum/model/ids.h"

namespace thrum::model {

enum class Motion : std::uint8_t {
  dynamic,    ///< moved by forces and contacts
  kinematic,  ///< moves with the velocity it is given; contacts do not change it
  fixed       ///< never moves
};

struct BodyDesc {
  std::string name;
  Motion motion = Motion::dynamic;
  ShapeIndex shape = kNone;
  Pose X_bs;  ///< shape axes to body axes: minus the centre of mass of the shape
  SurfaceIndex surface = 0;
  double mass = 1.0;                ///< [kg], used when dynamic
  Mat3 inertia = Mat3::Identity();  ///< about the centre of mass, in body axes [kg m^2]
  double gravity_scale = 1.0;
  double linear_damping = 0.0;        ///< rate at which the velocity decays [1/s]
  double angular_damping = 0.0;       ///< rate at which the spin decays [1/s]
  std::uint32_t collision_group = 1;  ///< bits of what it is
  std::uint32_t collides_with = std::numeric_limits<std::uint32_t>::max();  ///< bits of what it touches
  bool may_sleep = true;
};

struct BodyState {
  Pose X_wb;                             ///< body axes to world; the position is the centre of mass
  Vec3 velocity = Vec3::Zero();          ///< of the centre of mass [m/s]
  Vec3 angular_velocity = Vec3::Zero();  ///< in world axes [rad/s]
  Vec3 force = Vec3::Zero();             ///< held over the next step, then cleared [N]
  Vec3 torque = Vec3::Zero();  ///< about the centre of mass, held over the next step, then cleared [N m]
  double still_time = 0.0;     ///< for how long it has hardly moved [s]
  bool asleep = false;
};

/// Velocity of the body's material point at world position `p` [m/s].
[[nodiscard]] inline Vec3 velocity_at(const BodyState& body, const Vec3& p)
{
  return body.velocity + body.angular_velocity.cross(p - body.X_wb.position);
}

}  // namespace thrum::model
