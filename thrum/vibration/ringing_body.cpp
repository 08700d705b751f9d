// SPDX-License-Identifier: MIT
#include "thrum/vibration/ringing_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/vibration/impact_loss.h"

namespace thrum::vibration {

namespace {

BodyResponseDesc with_impulses(BodyResponseDesc desc)
{
  desc.settings.form = KickForm::impulse;
  return desc;
}

void check_host_step(std::span<const HostBody> bodies, std::span<const HostContact> contacts, double step)
{
  if (!(step > 0) || !std::isfinite(step))
    throw Error(fmt::format("The step of a ringing body is {} s; give the length of the host's step.", step));
  if (bodies.empty()) throw Error("The list of bodies is empty; its first is the ringing body.");
  for (const HostContact& contact : contacts) {
    if (contact.body < 1 || at(contact.body) >= bodies.size()) {
      throw Error(
          fmt::format("A contact names body {}, but the bodies in contact with the ringing one are 1 to {}.",
                      contact.body, bodies.size() - 1));
    }
  }
}

}  // namespace

RigidBodyData in_model_axes(const Pose& X_wm, const HostBody& body)
{
  RigidBodyData part;
  part.centre = X_wm.point_to_local(body.X_wb.position);
  part.velocity = X_wm.direction_to_local(body.velocity);
  part.angular_velocity = X_wm.direction_to_local(body.angular_velocity);
  part.velocity_before = X_wm.direction_to_local(body.velocity_before);
  part.displacement = X_wm.direction_to_local(body.X_wb.position - body.position_before);
  part.modulus = body.modulus;
  if (body.mass > 0) {
    const Mat3 R = (X_wm.rotation.conjugate() * body.X_wb.rotation).toRotationMatrix();
    part.inverse_mass = 1 / body.mass;
    part.inverse_inertia = R * body.inertia.inverse() * R.transpose();
    part.acceleration = X_wm.direction_to_local(body.gravity);
  }
  return part;
}

SurfaceContact in_model_axes(const Pose& X_wm, const HostContact& contact, double step)
{
  SurfaceContact result;
  result.body = contact.body;
  result.position = X_wm.point_to_local(contact.position);
  result.normal = X_wm.direction_to_local(contact.normal);
  result.gap = std::max(0.0, contact.gap);
  result.load = contact.impulse / step;
  result.restitution = contact.restitution;
  result.friction = contact.friction;
  result.impulse = contact.impulse;
  return result;
}

double approach_speed(std::span<const HostBody> bodies, const HostContact& contact)
{
  const auto velocity_before = [&](const HostBody& body) -> Vec3 {
    return body.velocity_before + body.angular_velocity_before.cross(contact.position - body.position_before);
  };
  return contact.normal.dot(velocity_before(bodies[0]) - velocity_before(bodies[at(contact.body)]));
}

RingingBody::RingingBody(std::shared_ptr<const model::ModalModel> model, const BodyResponseDesc& desc,
                         const Pose& X_bm)
    : response_(std::move(model), with_impulses(desc)), state_(response_.at_rest()), X_bm_(X_bm)
{
}

ResponseResult RingingBody::respond(std::span<const HostBody> bodies, std::span<const HostContact> contacts,
                                    double step)
{
  check_host_step(bodies, contacts, step);
  const Pose X_wm = bodies[0].X_wb * X_bm_;
  std::vector<RigidBodyData> parts;
  for (const HostBody& body : bodies) parts.push_back(in_model_axes(X_wm, body));
  std::vector<SurfaceContact> surface_contacts;
  for (const HostContact& contact : contacts) {
    SurfaceContact& mapped = surface_contacts.emplace_back(in_model_axes(X_wm, contact, step));
    mapped.approach_speed = approach_speed(bodies, contact);
    mapped.struck = contact.is_new && contact.impulse > 0 && mapped.approach_speed > 0;
    if (mapped.struck) mapped.load = 0;
  }
  compute_impact_losses(parts, step, surface_contacts);
  ResponseResult result = response_.respond({parts, surface_contacts, step}, state_);
  for (Kick& kick : result.kicks) kick.tangential_impulse = X_wm.direction(kick.tangential_impulse);
  for (BodyImpulse& push : result.body_impulses) {
    push.impulse = X_wm.direction(push.impulse);
    push.angular_impulse = X_wm.direction(push.angular_impulse);
  }
  return result;
}

ResponseResult RingingBody::respond_and_apply(std::span<const HostBody> before, std::span<HostBody> bodies,
                                              std::span<const HostContact> contacts, double step)
{
  if (before.size() != bodies.size()) {
    throw Error(fmt::format("There are {} bodies before the step and {} after it; give the same bodies.",
                            before.size(), bodies.size()));
  }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    bodies[i].position_before = before[i].X_wb.position;
    bodies[i].velocity_before = before[i].velocity;
    bodies[i].angular_velocity_before = before[i].angular_velocity;
  }
  std::vector<HostContact> known(contacts.begin(), contacts.end());
  std::vector<std::pair<std::int32_t, std::uint64_t>> now;
  for (HostContact& contact : known) {
    const std::pair place(contact.body, contact.key);
    contact.is_new = std::find(last_contacts_.begin(), last_contacts_.end(), place) == last_contacts_.end();
    now.push_back(place);
  }
  ResponseResult result = respond(bodies, known, step);
  last_contacts_ = std::move(now);
  for (const BodyImpulse& push : result.body_impulses) apply_impulse(bodies, push);
  return result;
}

void apply_impulse(std::span<HostBody> bodies, const BodyImpulse& impulse)
{
  HostBody& body = bodies[at(impulse.body)];
  if (!(body.mass > 0)) return;
  const Mat3 R = body.X_wb.rotation.toRotationMatrix();
  body.velocity += impulse.impulse / body.mass;
  body.angular_velocity += R * body.inertia.inverse() * R.transpose() * impulse.angular_impulse;
}

}  // namespace thrum::vibration
