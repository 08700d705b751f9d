// SPDX-License-Identifier: MIT
// A ringing body, its vibration and its contacts, as plain data: what any rigid-body engine knows about one
// step.
//
//         bodies[1]      bodies[2]
//          _____           ___
//         |_____|         |___|
//      ____^n_____________^n______
//     |         bodies[0]         |
//
// The normal n points out of the ringing body; position and normal are in the axes of its modal model.
// bodies[0] is the ringing body itself, as a rigid one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::vibration {

/// How a body vibrates at one moment: amplitudes and their speeds, one entry a mode. Modes have unit mass.
struct ModeState {
  VecX q;  ///< [kg^1/2 m]
  VecX v;  ///< [kg^1/2 m/s]

  [[nodiscard]] static ModeState at_rest(Eigen::Index modes)
  {
    return {VecX::Zero(modes), VecX::Zero(modes)};
  }
};

/// A body as its contacts feel it. Everything is in the axes of the modal model of the ringing body.
struct RigidBodyData {
  double inverse_mass = 0;               ///< 0 for a body that does not move [1/kg]
  Mat3 inverse_inertia = Mat3::Zero();   ///< about the centre of mass [1/(kg m^2)]
  Vec3 centre = Vec3::Zero();            ///< of mass [m]
  Vec3 velocity = Vec3::Zero();          ///< of the centre, after the step's contacts were solved [m/s]
  Vec3 angular_velocity = Vec3::Zero();  ///< [rad/s]
  Vec3 acceleration = Vec3::Zero();      ///< of gravity [m/s^2]
  double modulus = 0;                    ///< E / (1 - nu^2) of its material; 0: as the ringing body [Pa]
  /// How high the rigid step has raised it against gravity since the impact, of a body that had stood on a
  /// ringing one that can move, or of that itself, at least 0 [m].
  double risen = 0;

  // How it came here, for compute_impact_losses() alone.
  Vec3 velocity_before = Vec3::Zero();  ///< of the centre, at the beginning of the step [m/s]
  Vec3 displacement = Vec3::Zero();     ///< of the centre in the step [m]
};

/// A point where something is in contact with the ringing body.
struct SurfaceContact {
  std::int32_t body = 0;         ///< of the list of bodies, never 0
  Vec3 position = Vec3::Zero();  ///< [m]
  Vec3 normal = Vec3::UnitZ();   ///< unit, out of the ringing body
  /// How far the centre of the other body has moved since this contact acted on it: a ball that struck with a
  /// speed along the surface is elsewhere at the end of the step [m].
  Vec3 travel = Vec3::Zero();
  double gap = 0;   ///< at least 0 [m]
  double load = 0;  ///< steady normal force, as before the impacts of the step [N]
  /// Of a resting contact: what it gave to the other body in the step beyond the steady load, because a
  /// ringing body that can move passed the impact on or came off its supports [N s].
  double reaction = 0;
  double restitution = 0;  ///< of the pair, 0 to 1
  double friction = 0;     ///< of the pair

  // An impact: a contact that began in this step, or whose force jumped.
  bool struck = false;
  double impulse = 0;                    ///< along the normal on the other body, from the rigid solver [N s]
  Vec3 friction_impulse = Vec3::Zero();  ///< across the normal, on the other body [N s]
  double approach_speed = 0;             ///< before the impact, at least 0 [m/s]
  double loss = 0;  ///< kinetic energy that the impact took from the two bodies, at least 0 [J]
  /// The impulse was found with the ringing body in it already, by the vibration of the body that gave it: it
  /// is not solved again, and strikes the modes with at most `loss`.
  bool transmitted = false;
};

struct ResponseInput {
  std::span<const RigidBodyData> bodies;  ///< the first is the ringing one
  std::span<const SurfaceContact> contacts;
  double step = 0;  ///< of the rigid simulation [s]
};

/// What one contact receives.
struct Kick {
  std::size_t contact = 0;
  double speed = 0;    ///< least separation speed along the normal [m/s]
  double impulse = 0;  ///< that gives it, alone or with the other kicks of the same body [N s]
  Vec3 tangential_impulse = Vec3::Zero();  ///< impulse across the normal, on the other body [N s]
  double energy = 0;                       ///< that the other body gains by it [J]
  double delay = 0;                        ///< until it arrives [s]
};

/// A change of a body's momentum: the kicks of that body together, about its centre of mass, and for a
/// striking body what the yielding surface changes of its bounce.
struct BodyImpulse {
  std::int32_t body = 0;
  Vec3 impulse = Vec3::Zero();          ///< [N s]
  Vec3 angular_impulse = Vec3::Zero();  ///< [N m s]
};

/// Where the energy of the impacts went. Nothing here ever exceeds `lost` + `vibration_before` before.
struct EnergyBalance {
  double lost = 0;              ///< by the impacts, in the rigid solve [J]
  double vibration_before = 0;  ///< vibration before the impacts [J]
  double received = 0;          ///< given to the vibration by the impacts [J]
  double given = 0;             ///< to bodies in contact by kicks [J]
  double vibration_after = 0;   ///< vibration afterwards [J]
  double impact_scale = 1;      ///< by which the impact to the modes was reduced to stay within what was lost
  double kick_scale = 1;        ///< by which the kicks were reduced
};

struct ResponseResult {
  std::vector<Kick> kicks;
  std::vector<BodyImpulse> body_impulses;  ///< ready to apply; empty where only the speeds are meant
  EnergyBalance energy;
  std::vector<std::string> warnings;  ///< what a person should know, one sentence each
  int impacts = 0;                    ///< that set the body ringing
  int unsolved = 0;  ///< problems of simultaneous contacts that were not solved to their tolerance
  /// Estimated time where it is above ResponseSettings::time_budget and nothing was left to save, else 0 [s].
  double over_budget = 0;
};

/// From the centre of the other body to the contact, when it acted [m].
[[nodiscard]] inline Vec3 arm_of_other(const RigidBodyData& other, const SurfaceContact& contact)
{
  return contact.position - (other.centre - contact.travel);
}

/// From the centre of the ringing body to the contact [m].
[[nodiscard]] inline Vec3 arm_of_own(const RigidBodyData& ringing, const SurfaceContact& contact)
{
  return contact.position - ringing.centre;
}

/// Velocity of the other body against the ringing one at a contact, as rigid bodies [m/s].
[[nodiscard]] inline Vec3 relative_velocity(std::span<const RigidBodyData> bodies,
                                            const SurfaceContact& contact)
{
  const RigidBodyData& own = bodies[0];
  const RigidBodyData& other = bodies[static_cast<std::size_t>(contact.body)];
  return other.velocity + other.angular_velocity.cross(arm_of_other(other, contact)) - own.velocity -
         own.angular_velocity.cross(arm_of_own(own, contact));
}

/// Speed of separation at a contact: of the other body against the ringing one, as rigid bodies [m/s].
[[nodiscard]] inline double separation_speed(const ResponseInput& input, const SurfaceContact& contact)
{
  return contact.normal.dot(relative_velocity(input.bodies, contact));
}

/// J M^-1 J^T for a contact i and a contact j [1/kg]: how fast a unit impulse at j separates i. Its inverse
/// for i = j is the effective mass of [Coevoet20, eq. 17].
[[nodiscard]] double inverse_effective_mass(std::span<const RigidBodyData> bodies, const SurfaceContact& i,
                                            const SurfaceContact& j);

}  // namespace thrum::vibration
