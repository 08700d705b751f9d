// SPDX-License-Identifier: MIT
// A ringing body and what touches it, made by hand, for tests and benchmarks of thrum/vibration.
#pragma once

#include <vector>

#include "thrum/vibration/surface_contact.h"

namespace thrum::vibration {

/// A fixed ringing body, balls that rest on it, and one that strikes.
struct ContactScene {
  std::vector<RigidBodyData> bodies{RigidBodyData{}};
  std::vector<SurfaceContact> contacts;
  double step = 0.01;

  [[nodiscard]] ResponseInput input() const { return {bodies, contacts, step}; }

  /// A ball that touches in one point below its centre.
  std::size_t rest(const Vec3& at, double mass, double restitution = 0.15)
  {
    RigidBodyData part;
    part.inverse_mass = 1 / mass;
    part.inverse_inertia = Mat3::Identity() / (0.4 * mass * kRadius * kRadius);
    part.centre = at + kRadius * Vec3::UnitZ();
    part.acceleration = {0, 0, -9.81};
    bodies.push_back(part);
    SurfaceContact contact;
    contact.body = static_cast<std::int32_t>(bodies.size()) - 1;
    contact.position = at;
    contact.restitution = restitution;
    contact.friction = 0.5;
    contact.load = 9.81 * mass;
    contacts.push_back(contact);
    return contacts.size() - 1;
  }

  /// A ball that came with `speed` and that the rigid solver has turned round with the restitution.
  std::size_t strike(const Vec3& at, double mass, double speed, double restitution = 0.15)
  {
    const std::size_t i = rest(at, mass, restitution);
    SurfaceContact& contact = contacts[i];
    contact.struck = true;
    contact.load = 0;
    contact.approach_speed = speed;
    contact.impulse = (1 + restitution) * mass * speed;
    contact.loss = (1 - restitution * restitution) * mass * speed * speed / 2;
    bodies.back().velocity = {0, 0, restitution * speed};
    return i;
  }

  static constexpr double kRadius = 0.05;
};

/// Kinetic energy of all bodies [J].
inline double kinetic(const std::vector<RigidBodyData>& bodies)
{
  double sum = 0;
  for (const RigidBodyData& part : bodies) {
    if (part.inverse_mass == 0) continue;
    sum += 0.5 * part.velocity.squaredNorm() / part.inverse_mass;
    sum += 0.5 * part.angular_velocity.dot(part.inverse_inertia.inverse() * part.angular_velocity);
  }
  return sum;
}

/// The bodies after the body_impulses.
inline std::vector<RigidBodyData> pushed(std::vector<RigidBodyData> bodies,
                                         const std::vector<BodyImpulse>& body_impulses)
{
  for (const BodyImpulse& push : body_impulses) {
    RigidBodyData& part = bodies[static_cast<std::size_t>(push.body)];
    part.velocity += part.inverse_mass * push.impulse;
    part.angular_velocity += part.inverse_inertia * push.angular_impulse;
  }
  return bodies;
}

/// The bodies before the rigid solver treated the impacts.
inline std::vector<RigidBodyData> before_impact(const ContactScene& scene)
{
  std::vector<RigidBodyData> bodies = scene.bodies;
  for (const SurfaceContact& contact : scene.contacts) {
    if (!contact.struck) continue;
    RigidBodyData& part = bodies[static_cast<std::size_t>(contact.body)];
    part.velocity -= part.inverse_mass * contact.impulse * contact.normal;
  }
  return bodies;
}

}  // namespace thrum::vibration
