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

struct BodyProperties {
  std::string name;
  Motion motion = Motion::dynamic;
  ShapeIndex shape = kNone;
  Pose X_bs;  ///< shape axes to body axes: minus the centre of mass of the shape
  SurfaceIndex surface = 0;
  double density = 1000.0;   ///< from which mass and inertia follow when the body becomes dynamic [kg/m^3]
  bool has_inertia = false;  ///< mass, inertia and centre of mass are known
  double mass = 0.0;         ///< [kg]; 0 for a body that was never dynamic: from the density
  Mat3 inertia = Mat3::Identity();  ///< about the centre of mass, in body axes [kg m^2]
  double gravity_scale = 1.0;
  double linear_damping = 0.0;        ///< rate at which the velocity decays [1/s]
  double angular_damping = 0.0;       ///< rate at which the spin decays [1/s]
  std::uint32_t collision_group = 1;  ///< bits of what it is
  std::uint32_t collides_with = std::numeric_limits<std::uint32_t>::max();  ///< bits of what it touches
  bool may_sleep = true;
  bool vibrates = false;        ///< has modes that the stepper moves: also what does not move can touch it
  bool sensor = false;          ///< contacts are found and reported and never solved
  std::uint64_t user_data = 0;  ///< not read by the library
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

/// Of a dynamic body [J].
[[nodiscard]] inline double kinetic_energy(const BodyProperties& desc, const BodyState& body)
{
  const Vec3 w = body.X_wb.direction_to_local(body.angular_velocity);
  return 0.5 * (desc.mass * body.velocity.squaredNorm() + w.dot(desc.inertia * w));
}

/// Changes the velocities of a dynamic body by an impulse [N s] and an angular impulse about its centre of
/// mass [N m s].
inline void apply_impulse(const BodyProperties& desc, BodyState& body, const Vec3& impulse,
                          const Vec3& angular_impulse)
{
  const Mat3 R = body.X_wb.rotation.toRotationMatrix();
  body.velocity += impulse / desc.mass;
  body.angular_velocity += R * desc.inertia.inverse() * R.transpose() * angular_impulse;
}

}  // namespace thrum::model
