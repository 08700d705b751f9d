// SPDX-License-Identifier: MIT
// What a run of micro-collisions (micro_collisions.cpp) leaves to the rigid simulation.
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/vibration/micro_simulation.h"

namespace thrum::vibration {

MicroSimulation::Vec6 MicroSimulation::scaled_to_energy(const MovingBody& m, const Vec6& velocity,
                                                        double energy)
{
  const double kinetic = m.kinetic(velocity);
  return kinetic > 0 ? Vec6(velocity * std::sqrt(std::max(energy, 0.0) / kinetic)) : velocity;
}

// Of a striking body that has not left by the end of the window: the height that it has fallen since then is
// still before it in the rigid simulation. A board that came down on one corner went on falling about it for
// the window of 56 ms, and was given 0.48 m/s downwards instead of the 0.09 with which it had come.
MicroSimulation::Vec6 MicroSimulation::without_fall(const MovingBody& m)
{
  const double energy = m.energy();
  return energy < m.kinetic(m.V) ? scaled_to_energy(m, m.V, energy) : m.V;
}

// A body that left gets the velocity with which it left, but for the part against gravity: that takes it as
// high from the surface as it went, less what the rigid step has raised it since the impact. So does the
// ringing body when it has left what it stands on. While it
// stands, its rigid motion of the window is one with that of its modes, which keep its feet where they are:
// the rigid simulation, which knows of feet but not of modes, keeps the motion that it has found itself.
MicroSimulation::Vec6 MicroSimulation::departure_from_surface(const MovingBody& m)
{
  Vec6 velocity = m.departure_velocity;
  const Vec3 up = m.up();
  if (m.strikes || up.isZero(0)) return scaled_to_energy(m, velocity, m.best);
  const double speed = std::sqrt(2 * std::max(m.max_rise - m.risen, 0.0) / m.mass);
  velocity.head<3>() += (speed - up.dot(velocity.head<3>())) * up;
  return velocity;
}

ResponseResult MicroSimulation::make_result(double before)
{
  ResponseResult result;
  result.impacts = static_cast<int>(r_.struck.size());
  result.unsolved = unsolved_;
  for (const std::size_t i : r_.struck) result.energy.lost += r_.contact(i).loss;
  std::vector<Vec6> after(bodies_.size());
  double handed = 0;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const MovingBody& m = bodies_[b];
    const RigidBodyData& part = r_.input.bodies[b];
    after[b] << part.velocity, part.angular_velocity;
    if (m.mass == 0) continue;
    const bool left = m.strikes ? m.best > 0 && !m.in_contact : m.max_rise > m.start_rise;
    if (b == 0 && !is_supported()) {
      after[b] = m.V - elapsed_ * m.acceleration;  // the fall of the window is the rigid simulation's
    } else if (m.strikes && !left) {
      after[b] = without_fall(m);
    } else if (left) {
      after[b] = departure_from_surface(m);
    } else if (m.risen > 0 && b > 0) {
      // It would have stayed where it stood: what the rigid step made of it goes no higher.
      const Vec3 up = m.up();
      after[b].head<3>() -= std::max(0.0, up.dot(after[b].head<3>())) * up;
    }
    handed += m.kinetic(after[b]);
  }
  // The diffuse modes have done their part: what is left in them is too fast to be kept. Modes of the model
  // that were not followed are at rest.
  for (VecX* v : {&state_.q, &state_.v}) {
    v->conservativeResize(r_.modes.omegas.size());
    v->tail(v->size() - modes_).setZero();
  }
  // The vibration loses what the hops that were passed to the rigid step had given back.
  const double rings = energy(r_.modes, state_);
  const double left = std::max(0.0, before - handed);
  if (rings > left) {
    const double scale = std::sqrt(left / rings);
    state_.q *= scale;
    state_.v *= scale;
  }
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const MovingBody& m = bodies_[b];
    if (m.mass == 0) continue;
    const RigidBodyData& part = r_.input.bodies[b];
    Vec6 now;
    now << part.velocity, part.angular_velocity;
    const Vec6 change = after[b] + m.fall - now;
    if (change.isZero(0)) continue;
    result.body_impulses.push_back(
        {static_cast<std::int32_t>(b), m.mass * change.head<3>(), m.inertia * change.tail<3>()});
    if (!m.strikes && b > 0) result.energy.given += m.kinetic(after[b]) - m.kinetic(now);
    if (m.strikes) result.energy.received += m.start - m.kinetic(after[b]);
  }
  for (const std::size_t i : r_.resting) {
    const SurfaceContact& contact = r_.contact(i);
    const auto b = at(contact.body);
    const Vec3 at =
        after[b].head<3>() + Vec3(after[b].tail<3>()).cross(arm_of_other(r_.input.bodies[b], contact));
    const double speed = contact.normal.dot(at);
    const double gained = speed - separation_speed(r_.input, contact);
    if (gained < r_.settings.min_kick) continue;
    Kick kick;
    kick.contact = i;
    kick.speed = speed;
    kick.impulse = gained / r_.inverse_effective_mass[static_cast<Eigen::Index>(i)];
    result.kicks.push_back(kick);
  }
  // What a body gains is shared by its kicks.
  std::vector<double> impulses(bodies_.size(), 0.0);
  const auto body_of = [&](const Kick& kick) {
    return at(r_.contact(kick.contact).body);
  };
  for (const Kick& kick : result.kicks) impulses[body_of(kick)] += kick.impulse;
  for (Kick& kick : result.kicks) {
    const std::size_t b = body_of(kick);
    const RigidBodyData& part = r_.input.bodies[b];
    Vec6 now;
    now << part.velocity, part.angular_velocity;
    const double gained = bodies_[b].kinetic(after[b]) - bodies_[b].kinetic(now);
    kick.energy = gained * kick.impulse / impulses[b];
  }
  advance(r_.modes, std::max(0.0, r_.input.step - elapsed_), state_);
  result.energy.vibration_after = energy(r_.modes, state_);
  return result;
}

}  // namespace thrum::vibration
