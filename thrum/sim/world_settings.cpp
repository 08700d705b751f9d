// SPDX-License-Identifier: MIT
// Changing gravity, motion types, surfaces, masses and joints of a running world, and reading joints.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/flexible/flexible_stepper.h"
#include "thrum/rigid/joint_coordinate.h"
#include "thrum/sim/joint_checks.h"
#include "thrum/sim/responder.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

void World::set_gravity(const Vec3& gravity)
{
  if (!gravity.allFinite()) throw Error("Gravity must be three finite numbers.");
  model_.gravity = gravity;
  contacts_changed_ = true;
  for (const model::BodyId id : bodies()) wake(id);
}

void World::wake_contacts_of(model::BodyIndex index)
{
  for (const model::ContactPatch& patch : state_.patches) {
    if (patch.a != index && patch.b != index) continue;
    const model::BodyIndex other = patch.a == index ? patch.b : patch.a;
    if (exists(other)) wake(id_of(other));
  }
}

void World::set_motion(model::BodyId id, model::Motion motion)
{
  require_no_step("set_motion");
  const model::BodyIndex index = index_of(id);
  model::BodyProperties changed = at(model_.bodies, index);
  if (changed.motion == motion) return;
  const Pose X_ws = shape_pose(id);
  changed.motion = motion;
  const model::ShapeKind kind = at(prepared_, changed.shape).kind;
  if (motion == model::Motion::dynamic && !changed.has_inertia && kind != model::ShapeKind::plane &&
      kind != model::ShapeKind::height_field)
    find_inertia(changed);
  model::BodyState state = body(id);
  state.X_wb = X_ws * changed.X_bs.inverse();
  if (motion == model::Motion::fixed) {
    state.velocity.setZero();
    state.angular_velocity.setZero();
  }
  check_properties(changed, state);
  at(model_.bodies, index) = changed;
  at(state_.bodies, index) = state;
  broad_phase_.set_fixed(index, motion == model::Motion::fixed);
  update_box(index);
  contacts_changed_ = true;
  // The axes of the body may have moved in its shape: its contacts are found again.
  std::erase_if(state_.references, [&](const auto& pair) { return pair.a == index || pair.b == index; });
  wake(id);
  wake_contacts_of(index);
}

void World::set_surface(model::BodyId id, model::SurfaceId surface)
{
  const model::BodyIndex index = index_of(id);
  at(model_.bodies, index).surface = index_of(surface);
  surfaces_changed_ = true;
  wake(id);
  wake_contacts_of(index);
}

void World::set_mass(model::BodyId id, double mass)
{
  require_no_step("set_mass");
  if (!(mass > 0) || !std::isfinite(mass))
    throw Error(fmt::format("The mass is {} kg; masses are positive.", mass));
  model::BodyProperties& desc = at(model_.bodies, index_of(id));
  if (desc.has_inertia) desc.inertia *= mass / desc.mass;
  desc.mass = mass;
  wake(id);
}

model::Joint& World::awake_joint(model::JointId id)
{
  model::Joint& joint = at(model_.joints, index_of(id));
  for (const model::BodyIndex index : {joint.a, joint.b}) {
    if (index != model::kNone) wake(id_of(index));
  }
  return joint;
}

void World::set_joint_motor(model::JointId id, const model::JointMotor& motor)
{
  check_joint_motor(at(model_.joints, index_of(id)).kind, motor);
  model::Joint& joint = awake_joint(id);
  joint.motor = motor;
}

void World::set_joint_limits(model::JointId id, const model::JointLimits& limits)
{
  check_joint_limits(at(model_.joints, index_of(id)).kind, limits);
  model::Joint& joint = awake_joint(id);
  joint.limited = true;
  joint.limits = limits;
}

void World::remove_joint_limits(model::JointId id)
{
  awake_joint(id).limited = false;
}

void World::set_joint_length(model::JointId id, double length)
{
  check_joint_size(length, "length");
  model::Joint& joint = awake_joint(id);
  if (joint.kind != model::JointKind::distance && joint.kind != model::JointKind::spring)
    throw Error("Only distance joints and springs have a length.");
  joint.length = length;
}

double World::joint_value(model::JointId id) const
{
  const model::Joint& joint = at(model_.joints, index_of(id));
  const Pose X_wb = joint.b == model::kNone ? Pose{} : at(state_.bodies, joint.b).X_wb;
  return rigid::joint_coordinate(joint.kind, at(state_.bodies, joint.a).X_wb * joint.X_aj, X_wb * joint.X_bj);
}

double World::joint_speed(model::JointId id) const
{
  const model::Joint& joint = at(model_.joints, index_of(id));
  const model::BodyState at_rest;
  const model::BodyState& a = at(state_.bodies, joint.a);
  const model::BodyState& b = joint.b == model::kNone ? at_rest : at(state_.bodies, joint.b);
  return rigid::joint_rate(joint.kind, a.X_wb * joint.X_aj, b.X_wb * joint.X_bj, a, b);
}

const model::JointState& World::joint(model::JointId id) const
{
  return at(state_.joints, index_of(id));
}

void World::set_elastic(model::BodyId id, const flexible::ElasticBody& body)
{
  require_no_step("set_elastic");
  if (flexible_ == nullptr)
    throw Error("World::set_elastic(): only the flexible stepper knows elastic bodies.");
  const model::BodyProperties& desc = desc_of(id);
  if (body.modes)
    Responder::check_model(at(prepared_, desc.shape), *body.modes,
                           desc.name.empty() ? to_string(id) : desc.name);
  flexible_->set_body(id, body);
  model_.bodies[at(index_of(id))].vibrates = flexible_->is_flexible(id);
}

void World::set_substep_observer(flexible::SubstepObserver* observer)
{
  require_no_step("set_substep_observer");
  if (flexible_ == nullptr)
    throw Error("World::set_substep_observer(): the stepper of the world is not the flexible one.");
  flexible_->set_substep_observer(observer);
}

double World::contact_energy() const
{
  return stepper_->contact_energy() + warped_contact_energy_;
}

std::shared_ptr<const model::ModalModel> World::modes_of(model::BodyId id) const
{
  return flexible_ == nullptr ? nullptr : flexible_->modes_of(id);
}

double World::vibration_energy() const
{
  return flexible_ == nullptr ? 0 : flexible_->vibration_energy(state_);
}

const flexible::FlexibleReport& World::flexible_report() const
{
  if (flexible_ == nullptr)
    throw Error("World::flexible_report(): the stepper of the world is not the flexible one.");
  return flexible_->report();
}

}  // namespace thrum::sim
