// SPDX-License-Identifier: MIT
// What stands on a body and on nothing else moves with it when it is thrown: a crate and the bottles in it
// are one mass to the floor below. Not for others than the sources of sim::Responder.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/sim/step_observer.h"
#include "thrum/vibration/ringing_body.h"

namespace thrum::sim {

/// Which bodies hold each other, by contacts that press and by joints.
class SupportGraph {
 public:
  /// `is_resting`: whether a point is a contact at rest. Others hold nothing.
  SupportGraph(const StepView& view, const std::function<bool(const model::ContactPoint&)>& is_resting);

  /// The bodies that `carrier` alone keeps from falling, in ascending order: no way leads from them to a body
  /// that does not move or for which `is_other_support` is true, but through the carrier.
  [[nodiscard]] std::vector<model::BodyIndex> carried_by(
      model::BodyIndex carrier, const std::function<bool(model::BodyIndex)>& is_other_support) const;

 private:
  const StepView& view_;
  std::map<model::BodyIndex, std::vector<model::BodyIndex>> neighbours_;
};

/// Several bodies as one rigid body.
struct BodyStack {
  std::vector<model::BodyIndex> members;
  double mass = 0;              ///< [kg]
  Vec3 centre = Vec3::Zero();   ///< of mass, world [m]
  Mat3 inertia = Mat3::Zero();  ///< about the centre, world axes [kg m^2]
  /// The motion of a rigid body with the momentum and angular momentum of all members. A rigid change of
  /// velocity then costs the stack the energy that it costs the members.
  Vec3 velocity = Vec3::Zero();          ///< of the centre [m/s]
  Vec3 angular_velocity = Vec3::Zero();  ///< [rad/s]

  BodyStack(const StepView& view, std::vector<model::BodyIndex> bodies);

  /// Gives the stack an impulse and an angular impulse about its centre, each member what moves it along as a
  /// part of one rigid body.
  void apply_impulse(const StepView& view, StepActions& actions, const Vec3& impulse,
                     const Vec3& angular_impulse) const;
};

}  // namespace thrum::sim
