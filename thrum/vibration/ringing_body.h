// SPDX-License-Identifier: MIT
// A ringing body behind any rigid-body engine (the host): once a step its bodies and contacts in, impulses
// out.
//
//   RingingBody table(model);                                   // model: elastic/surface_modes.h
//   // each step:
//   const std::vector<HostBody> before = bodies;
//   ... the host finds its contacts, solves them and moves `bodies` ...
//   table.respond_and_apply(before, bodies, contacts, h);
//
// A host that keeps its own lists fills in what was before and which contacts are new, and applies the
// impulses itself:
//
//   for (const BodyImpulse& push : table.respond(bodies, contacts, h).body_impulses)
//     host_apply(push.body, push.impulse, push.angular_impulse);
//
// Everything is in world axes. bodies[0] is the ringing body, the others are those in contact with it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/vibration/body_response.h"

namespace thrum::vibration {

/// A body of the host as its step left it, and how it was before.
struct HostBody {
  double mass = 0;                  ///< 0: no contact moves it [kg]
  Mat3 inertia = Mat3::Identity();  ///< about the centre of mass, in body axes [kg m^2]
  Vec3 gravity{0, 0, -9.81};        ///< that acts on it [m/s^2]
  double modulus = 0;               ///< E / (1 - nu^2) of its material; 0: as the ringing body [Pa]

  Pose X_wb = {};                        ///< body axes to world; the position is the centre of mass
  Vec3 velocity = Vec3::Zero();          ///< of the centre of mass [m/s]
  Vec3 angular_velocity = Vec3::Zero();  ///< [rad/s]

  Vec3 position_before = Vec3::Zero();          ///< of the centre of mass [m]
  Vec3 velocity_before = Vec3::Zero();          ///< [m/s]
  Vec3 angular_velocity_before = Vec3::Zero();  ///< [rad/s]
};

/// A point where a body is in contact with the ringing one.
struct HostContact {
  std::int32_t body = 1;         ///< of the host's list, never 0
  Vec3 position = Vec3::Zero();  ///< [m]
  Vec3 normal = Vec3::UnitZ();   ///< unit, out of the ringing body
  double gap = 0;                ///< below 0 where they overlap [m]
  double impulse = 0;            ///< along the normal on the other body, of the whole step [N s]
  double restitution = 0;        ///< of the pair, 0 to 1
  double friction = 0;           ///< of the pair
  bool is_new = false;           ///< nothing pressed here in the step before: an impact
  std::uint64_t key = 0;         ///< the same from step to step for the same contact
};

/// A body in the axes of a modal model; X_wm maps these to world.
[[nodiscard]] RigidBodyData in_model_axes(const Pose& X_wm, const HostBody& body);

/// A contact likewise: a resting one, whose load is its impulse spread over the step. Its approach speed is
/// left 0.
[[nodiscard]] SurfaceContact in_model_axes(const Pose& X_wm, const HostContact& contact, double step);

/// Speed with which the two bodies approached at the contact before the step; below 0 where they parted
/// [m/s].
[[nodiscard]] double approach_speed(std::span<const HostBody> bodies, const HostContact& contact);

class RingingBody {
 public:
  /// X_bm maps the axes of the model to those of the host's body. Kicks are impulses: KickForm of the
  /// settings is not used.
  explicit RingingBody(std::shared_ptr<const model::ModalModel> model, const BodyResponseDesc& desc = {},
                       const Pose& X_bm = {});

  /// What the impacts of the step lost is computed here, from the bodies before and after. Applied forces
  /// other than gravity are not known to it: the work that they did counts as lost or gained by the impact.
  [[nodiscard]] ResponseResult respond(std::span<const HostBody> bodies,
                                       std::span<const HostContact> contacts, double step);

  /// The same with what a host otherwise does around it: the members `_before` of `bodies` are taken from
  /// `before`, the same bodies before the step; a contact is new when there was none with its body and its
  /// key in the call before; and the impulses are applied to `bodies`. Call it at every step.
  ResponseResult respond_and_apply(std::span<const HostBody> before, std::span<HostBody> bodies,
                                   std::span<const HostContact> contacts, double step);

  [[nodiscard]] const ModeState& vibration() const { return state_; }
  void set_vibration(const ModeState& state) { state_ = state; }  ///< one that vibration() returned
  [[nodiscard]] const BodyResponse& response() const { return response_; }

 private:
  BodyResponse response_;
  ModeState state_;
  Pose X_bm_;
  std::vector<std::pair<std::int32_t, std::uint64_t>> last_contacts_;  ///< body and key, of the call before
};

/// Changes the velocities of bodies[impulse.body].
void apply_impulse(std::span<HostBody> bodies, const BodyImpulse& impulse);

}  // namespace thrum::vibration
