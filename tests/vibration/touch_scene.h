// SPDX-License-Identifier: MIT
// A ringing body and what touches it, made by hand, for tests and benchmarks of thrum/vibration.
#pragma once

#include <vector>

#include "thrum/vibration/touch.h"

namespace thrum::vibration {

/// A fixed ringing body, balls that rest on it, and one that strikes.
struct TouchScene {
  std::vector<RigidPart> bodies{RigidPart{}};
  std::vector<Touch> touches;
  double step = 0.01;

  [[nodiscard]] ResponseInput input() const { return {bodies, touches, step}; }

  /// A ball that touches in one point below its centre.
  std::size_t rest(const Vec3& at, double mass, double restitution = 0.15)
  {
    RigidPart part;
    part.inverse_mass = 1 / mass;
    part.inverse_inertia = Mat3::Identity() / (0.4 * mass * kRadius * kRadius);
    part.centre = at + kRadius * Vec3::UnitZ();
    part.acceleration = {0, 0, -9.81};
    bodies.push_back(part);
    Touch touch;
    touch.key = touches.size();
    touch.body = static_cast<std::int32_t>(bodies.size()) - 1;
    touch.position = at;
    touch.restitution = restitution;
    touch.friction = 0.5;
    touch.load = 9.81 * mass;
    touches.push_back(touch);
    return touches.size() - 1;
  }

  /// A ball that came with `speed` and that the rigid solver has turned round with the restitution.
  std::size_t strike(const Vec3& at, double mass, double speed, double restitution = 0.15)
  {
    const std::size_t i = rest(at, mass, restitution);
    Touch& touch = touches[i];
    touch.struck = true;
    touch.load = 0;
    touch.approach_speed = speed;
    touch.impulse = (1 + restitution) * mass * speed;
    touch.loss = (1 - restitution * restitution) * mass * speed * speed / 2;
    bodies.back().velocity = {0, 0, restitution * speed};
    return i;
  }

  static constexpr double kRadius = 0.05;
};

/// Kinetic energy of all bodies [J].
inline double kinetic(const std::vector<RigidPart>& bodies)
{
  double sum = 0;
  for (const RigidPart& part : bodies) {
    if (part.inverse_mass == 0) continue;
    sum += 0.5 * part.velocity.squaredNorm() / part.inverse_mass;
    sum += 0.5 * part.angular_velocity.dot(part.inverse_inertia.inverse() * part.angular_velocity);
  }
  return sum;
}

/// The bodies after the pushes.
inline std::vector<RigidPart> pushed(std::vector<RigidPart> bodies, const std::vector<Push>& pushes)
{
  for (const Push& push : pushes) {
    RigidPart& part = bodies[static_cast<std::size_t>(push.body)];
    part.velocity += part.inverse_mass * push.impulse;
    part.angular_velocity += part.inverse_inertia * push.angular_impulse;
  }
  return bodies;
}

/// The bodies before the rigid solver treated the impacts.
inline std::vector<RigidPart> before_impact(const TouchScene& scene)
{
  std::vector<RigidPart> bodies = scene.bodies;
  for (const Touch& touch : scene.touches) {
    if (!touch.struck) continue;
    RigidPart& part = bodies[static_cast<std::size_t>(touch.body)];
    part.velocity -= part.inverse_mass * touch.impulse * touch.normal;
  }
  return bodies;
}

}  // namespace thrum::vibration
