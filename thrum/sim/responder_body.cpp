// SPDX-License-Identifier: MIT
// One body's response between the world and thrum/vibration: what touches it, and what becomes of its kicks.
#include <algorithm>
#include <limits>
#include <map>

#include "thrum/sim/impact_losses.h"
#include "thrum/sim/responder_internal.h"

namespace thrum::sim {

namespace {

vibration::RigidBodyData rigid_data_in_model(const Pose& X_wm, const model::SceneModel& model,
                                             const model::BodyDesc& desc, const model::BodyState& body)
{
  vibration::RigidBodyData part;
  part.centre = X_wm.point_to_local(body.X_wb.position);
  part.velocity = X_wm.direction_to_local(body.velocity);
  part.angular_velocity = X_wm.direction_to_local(body.angular_velocity);
  if (desc.motion == model::Motion::dynamic) {
    const Mat3 R = (X_wm.rotation.conjugate() * body.X_wb.rotation).toRotationMatrix();
    part.inverse_mass = 1 / desc.mass;
    part.inverse_inertia = R * desc.inertia.inverse() * R.transpose();
    part.acceleration = X_wm.direction_to_local(desc.gravity_scale * model.gravity);
  }
  return part;
}

}  // namespace

double apply_body_impulse(const model::BodyDesc& desc, model::BodyState& body, const Vec3& impulse,
                          const Vec3& angular_impulse)
{
  if (desc.motion != model::Motion::dynamic) return 0;
  const double before = model::kinetic_energy(desc, body);
  model::apply_impulse(desc, body, impulse, angular_impulse);
  body.asleep = false;
  body.still_time = 0;
  return model::kinetic_energy(desc, body) - before;
}

Responder::ResonatorContacts Responder::gather_contacts(
    const World& world, const model::SceneState& state, double h, const Resonator& resonator,
    const std::vector<TransmittedImpact>& transmitted_impacts) const
{
  const model::SceneModel& model = world.model();
  const auto self = static_cast<std::size_t>(resonator.body);
  ResonatorContacts resonator_contacts;
  resonator_contacts.step = h;
  resonator_contacts.X_wm = state.bodies[self].X_wb * model.bodies[self].X_bs;
  std::map<model::BodyIndex, std::int32_t> numbers;
  const auto part_of = [&](model::BodyIndex id) {
    const auto [it, fresh] =
        numbers.try_emplace(id, static_cast<std::int32_t>(resonator_contacts.parts.size()));
    if (!fresh) return it->second;
    const auto i = static_cast<std::size_t>(id);
    resonator_contacts.parts.push_back(
        rigid_data_in_model(resonator_contacts.X_wm, model, model.bodies[i], state.bodies[i]));
    if (const auto modulus = moduli_.find(world.id_of(id)); modulus != moduli_.end())
      resonator_contacts.parts.back().modulus = modulus->second;
    resonator_contacts.ids.push_back(id);
    return it->second;
  };
  (void)part_of(resonator.body);
  for (std::size_t p = 0; p < state.patches.size(); ++p) {
    const model::ContactPatch& patch = state.patches[p];
    if (patch.a != resonator.body && patch.b != resonator.body) continue;
    const bool first = patch.a == resonator.body;
    const model::Surface surface = model::surface_between(model, patch.a, patch.b);
    for (std::size_t k = 0; k < patch.count; ++k) {
      const model::ContactPoint& point = patch.points[k];
      vibration::SurfaceContact contact;
      contact.body = part_of(first ? patch.b : patch.a);
      contact.position = resonator_contacts.X_wm.point_to_local(point.position);
      contact.normal = resonator_contacts.X_wm.direction_to_local(first ? patch.normal : Vec3(-patch.normal));
      contact.gap = std::max(0.0, -point.depth);
      contact.restitution = surface.restitution;
      contact.friction = surface.friction;
      contact.load = point.normal_impulse / h;
      contact.impulse = point.normal_impulse;
      contact.approach_speed = -point.normal_speed;
      const auto impact =
          std::find_if(transmitted_impacts.begin(), transmitted_impacts.end(),
                       [&](const TransmittedImpact& b) { return b.patch == p && b.point == k; });
      if (impact != transmitted_impacts.end()) {
        contact.struck = true;
        contact.transmitted = true;
        contact.impulse = impact->impulse;
        contact.approach_speed = impact->speed;
        contact.loss = impact->energy;
      } else if (transmitted_impacts.empty() && is_struck(model, point, h)) {
        contact.struck = true;
        contact.load = 0;
      }
      resonator_contacts.contacts.push_back(contact);
      resonator_contacts.contact_indices.emplace_back(p, k);
    }
  }
  if (transmitted_impacts.empty())
    compute_impact_losses(world, h, resonator_contacts.parts, resonator_contacts.ids,
                          resonator_contacts.contacts);
  return resonator_contacts;
}

// What it did, for the recording.
void Responder::report_response_events(World& world, model::BodyIndex resonator,
                                       const ResonatorContacts& resonator_contacts,
                                       const vibration::ResponseResult& result)
{
  const auto event = [&](model::ResponseKind kind, std::size_t contact, double speed, double energy) {
    const auto& [p, k] = resonator_contacts.contact_indices[contact];
    world.report_response(
        {.kind = kind,
         .a = world.id_of(resonator),
         .b = world.id_of(resonator_contacts.body_of(contact)),
         .position = world.state().patches[p].points[k].position,
         .normal = resonator_contacts.X_wm.direction(resonator_contacts.contacts[contact].normal),
         .speed = speed,
         .energy = energy});
  };
  const auto count = std::count_if(resonator_contacts.contacts.begin(), resonator_contacts.contacts.end(),
                                   [](const auto& t) { return t.struck; });
  for (std::size_t i = 0; i < resonator_contacts.contacts.size(); ++i) {
    if (resonator_contacts.contacts[i].struck)
      event(model::ResponseKind::struck, i, resonator_contacts.contacts[i].approach_speed,
            result.energy.received / static_cast<double>(count));
  }
  for (const vibration::Kick& kick : result.kicks)
    event(model::ResponseKind::kicked, kick.contact, kick.speed, kick.energy);
}

// Pushes at once, speeds in the next solve, late ones when they arrive.
void Responder::apply_result(const model::SceneModel& model, model::SceneState& state,
                             model::BodyIndex resonator, const ResonatorContacts& resonator_contacts,
                             const vibration::ResponseResult& result, bool limited,
                             std::vector<TransmittedImpact>& transmitted)
{
  for (const vibration::BodyImpulse& push : result.body_impulses) {
    const auto b = static_cast<std::size_t>(resonator_contacts.ids[static_cast<std::size_t>(push.body)]);
    (void)apply_body_impulse(model.bodies[b], state.bodies[b],
                             resonator_contacts.X_wm.direction(push.impulse),
                             resonator_contacts.X_wm.direction(push.angular_impulse));
  }
  for (const vibration::Kick& kick : result.kicks) {
    const auto& [p, k] = resonator_contacts.contact_indices[kick.contact];
    const model::BodyIndex id = resonator_contacts.body_of(kick.contact);
    const model::BodyDesc& desc = model.bodies[static_cast<std::size_t>(id)];
    model::BodyState& body = state.bodies[static_cast<std::size_t>(id)];
    if (desc.motion != model::Motion::dynamic) continue;
    if (result.body_impulses.empty()) {
      body.asleep = false;
      body.still_time = 0;
      const Vec3 arm = state.patches[p].points[k].position - body.X_wb.position;
      const Vec3 tangential_impulse = resonator_contacts.X_wm.direction(kick.tangential_impulse);
      if (kick.delay > resonator_contacts.step) {
        const Vec3 normal =
            resonator_contacts.X_wm.direction(resonator_contacts.contacts[kick.contact].normal);
        state.pending_kicks.push_back({at(state.body_ids, id), state.time + kick.delay,
                                       kick.impulse * normal + tangential_impulse,
                                       body.X_wb.direction_to_local(arm), limited ? kick.energy : -1});
        report_.deferred += kick.energy;
      } else {
        model::ContactPoint& point = state.patches[p].points[k];
        point.requested_speed = std::max(point.requested_speed, kick.speed);
        double energy = kick.energy;
        if (!kick.tangential_impulse.isZero(0))
          energy -= apply_body_impulse(desc, body, tangential_impulse, arm.cross(tangential_impulse));
        report_.deferred += energy;
        if (limited) point.allowed_energy += std::max(energy, std::numeric_limits<double>::min());
      }
    }
    if (rings(at(state.body_ids, id)) && kick.delay <= resonator_contacts.step)
      transmitted.push_back({id, resonator, p, k, kick.impulse, kick.speed, kick.energy});
  }
}

}  // namespace thrum::sim
