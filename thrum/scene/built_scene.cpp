// SPDX-License-Identifier: MIT
// What a scene does as time goes on: bodies that appear and are removed, and its script.
#include <algorithm>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/flexible/elastic_body.h"
#include "thrum/scene/body_changes.h"
#include "thrum/scene/build_world.h"

namespace thrum::scene {

Vec3 ScriptedForce::at(double time) const
{
  if (times.empty() || time < times.front() || time > times.back()) return Vec3::Zero();
  const auto after = std::upper_bound(times.begin(), times.end(), time);
  if (after == times.end()) return forces.back();
  const auto i = base::at(after - times.begin());
  const double share = (time - times[i - 1]) / (times[i] - times[i - 1]);
  return (1 - share) * forces[i - 1] + share * forces[i];
}

void BuiltScene::add_joint(const JointEntry& entry, model::BodyId a, model::BodyId b)
{
  // The frame of a joint has its axis along z.
  const Vec3 axis = entry.X_wf.direction(entry.axis).normalized();
  const Pose X_wj{entry.X_wf.point(entry.position), Quat::FromTwoVectors(Vec3::UnitZ(), axis)};
  const bool has_rest_length =
      entry.desc.kind == model::JointKind::distance || entry.desc.kind == model::JointKind::spring;
  const double unit = entry.desc.kind == model::JointKind::hinge ? std::numbers::pi / 180 : 1.0;
  Pose X_wo = X_wj;
  model::JointDesc joint = entry.desc;
  joint.a = a;
  joint.b = b;
  const Pose X_wb = !joint.b.valid() ? Pose{} : world.body(joint.b).X_wb;
  if (has_rest_length)
    X_wo.position = entry.position_on_b ? entry.X_wf.point(*entry.position_on_b) : X_wb.position;
  joint.X_aj = world.body(joint.a).X_wb.inverse() * X_wj;
  joint.X_bj = X_wb.inverse() * X_wo;
  joint.limited = entry.limits.has_value();
  if (entry.limits) joint.limits = {unit * (*entry.limits)[0], unit * (*entry.limits)[1]};
  joint.motor.enabled = entry.motor_speed.has_value();
  joint.motor.speed = entry.motor_speed.value_or(0);
  joint.motor.has_target = entry.motor_target.has_value();
  joint.motor.target = unit * entry.motor_target.value_or(0);
  joint.length = entry.length.value_or(has_rest_length ? (X_wo.position - X_wj.position).norm() : 0);
  world.add_joint(joint);
}

bool BuiltScene::has_changes(double time, double h) const
{
  return changes_done < changes.size() && is_due(changes[changes_done].time, time, h);
}

bool BuiltScene::apply_changes(double time, double h)
{
  if (!has_changes(time, h)) return false;
  for (; has_changes(time, h); ++changes_done) {
    const BodyChange& change = changes[changes_done];
    model::BodyId& id = ids[change.body];
    if (change.removes) {
      world.remove_body(id);
      continue;
    }
    const LateBody& late = late_bodies.at(change.body);
    id = world.add_body(late.desc);
    if (responder) responder->set_modulus(id, late.modulus);
    if (world.desc().stepper == sim::StepperKind::flexible)
      world.set_elastic(id, {late.modulus, late.modes, late.modes != nullptr});
    if (late.modes && responder) responder->add_body(world, id, late.modes, late.response);
  }
  // A joint is added as soon as both its bodies are there.
  for (LateJoint& joint : late_joints) {
    const model::BodyId b = joint.b ? ids[*joint.b] : model::BodyId{};
    if (joint.is_added || !world.contains(ids[joint.a]) || (joint.b && !world.contains(b))) continue;
    add_joint(joint.entry, ids[joint.a], b);
    joint.is_added = true;
  }
  return true;
}

// An impulse at a step's first moment belongs to that step. The moment k h is rounded, and (k - 1) h + h may
// be rounded otherwise, so both ends of the step are moved by far more than that and far less than a step;
// without it an impulse at 0.5 s acted twice with steps of 1/30 s.
constexpr double kTimeRounding = 1e-6;  // of the step

void BuiltScene::step(double time, double h)
{
  apply_changes(time, h);
  const auto point = [&](model::BodyId id, const std::optional<Vec3>& p_s) -> Vec3 {
    const Vec3 p_b = p_s ? world.desc_of(id).X_bs.point(*p_s) : Vec3(Vec3::Zero());
    return world.body(id).X_wb.point(p_b);
  };
  const double from = time - kTimeRounding * h;
  for (const ScriptedImpulse& scripted : impulses) {
    const model::BodyId id = ids[scripted.body];
    if (scripted.time < from || scripted.time >= from + h || !world.contains(id)) continue;
    world.apply_impulse(id, scripted.impulse, point(id, scripted.position_s));
  }
  for (const ScriptedForce& scripted : forces) {
    // The mean over the step, taken at its middle.
    const Vec3 force = scripted.at(time + 0.5 * h);
    const model::BodyId id = ids[scripted.body];
    if (force.squaredNorm() > 0 && world.contains(id))
      world.apply_force(id, force, point(id, scripted.position_s));
  }
  world.step(h);
}

}  // namespace thrum::scene
