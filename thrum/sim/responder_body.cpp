// SPDX-License-Identifier: MIT
// One body's response between the world and thrum/vibration: what touches it, and what becomes of its kicks.
#include <algorithm>
#include <limits>
#include <map>

#include "thrum/sim/responder_internal.h"
#include "thrum/vibration/impact_loss.h"
#include "thrum/vibration/ringing_body.h"

namespace thrum::sim {

namespace {

vibration::HostBody host_body(const StepView& view, model::BodyIndex index)
{
  const model::BodyDesc& desc = view.model.bodies[static_cast<std::size_t>(index)];
  const model::BodyState& body = view.state.bodies[static_cast<std::size_t>(index)];
  const model::BodyState& before = view.bodies_before[static_cast<std::size_t>(index)];
  vibration::HostBody host;
  if (desc.motion == model::Motion::dynamic) {
    host.mass = desc.mass;
    host.inertia = desc.inertia;
    host.gravity = desc.gravity_scale * view.model.gravity;
  }
  host.X_wb = body.X_wb;
  host.velocity = body.velocity;
  host.angular_velocity = body.angular_velocity;
  host.position_before = before.X_wb.position;
  host.velocity_before = before.velocity;
  host.angular_velocity_before = before.angular_velocity;
  return host;
}

// Point k of patch p as the ringing body sees it; `first`: this is body a of the patch.
vibration::HostContact host_contact(const StepView& view, std::size_t p, std::size_t k, bool first)
{
  const model::ContactPatch& patch = view.state.patches[p];
  const model::ContactPoint& point = patch.points[k];
  vibration::HostContact contact;
  contact.key = (static_cast<std::uint64_t>(p) << 8) + k;
  contact.position = point.position;
  contact.normal = first ? patch.normal : Vec3(-patch.normal);
  contact.gap = -point.depth;
  contact.restitution = view.surfaces[p].restitution;
  contact.friction = view.surfaces[p].friction;
  contact.impulse = point.normal_impulse;
  return contact;
}

}  // namespace

Responder::ResonatorContacts Responder::gather_contacts(
    const StepView& view, const Resonator& resonator,
    const std::vector<TransmittedImpact>& transmitted_impacts) const
{
  const model::BodyIndex self = view.index_of(resonator.body);
  ResonatorContacts gathered;
  gathered.step = view.h;
  gathered.X_wm = view.state.bodies[static_cast<std::size_t>(self)].X_wb *
                  view.model.bodies[static_cast<std::size_t>(self)].X_bs;
  std::map<model::BodyIndex, std::int32_t> numbers;
  const auto part_of = [&](model::BodyIndex index) {
    const auto [it, fresh] = numbers.try_emplace(index, static_cast<std::int32_t>(gathered.parts.size()));
    if (!fresh) return it->second;
    vibration::HostBody body = host_body(view, index);
    body.modulus = modulus_of(view.id_of(index));
    gathered.parts.push_back(vibration::in_model_axes(gathered.X_wm, body));
    gathered.bodies.push_back(index);
    return it->second;
  };
  (void)part_of(self);
  for (std::size_t p = 0; p < view.state.patches.size(); ++p) {
    const model::ContactPatch& patch = view.state.patches[p];
    if (patch.a != self && patch.b != self) continue;
    for (std::size_t k = 0; k < patch.count; ++k) {
      const model::ContactPoint& point = patch.points[k];
      vibration::SurfaceContact contact =
          vibration::in_model_axes(gathered.X_wm, host_contact(view, p, k, patch.a == self), view.h);
      contact.body = part_of(patch.a == self ? patch.b : patch.a);
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
      } else if (transmitted_impacts.empty() && is_struck(view, point)) {
        contact.struck = true;
        contact.load = 0;
      }
      gathered.contacts.push_back(contact);
      gathered.contact_indices.emplace_back(p, k);
    }
  }
  if (transmitted_impacts.empty())
    vibration::compute_impact_losses(gathered.parts, view.h, gathered.contacts);
  return gathered;
}

// What it did, for the recording.
void Responder::emit_events(const StepView& view, StepActions& actions, model::BodyId resonator,
                            const ResonatorContacts& resonator_contacts,
                            const vibration::ResponseResult& result)
{
  const auto emit = [&](model::ResponseKind kind, std::size_t contact, double speed, double energy) {
    const auto& [p, k] = resonator_contacts.contact_indices[contact];
    actions.emit({.kind = kind,
                  .a = resonator,
                  .b = view.id_of(resonator_contacts.body_of(contact)),
                  .position = view.state.patches[p].points[k].position,
                  .normal = resonator_contacts.X_wm.direction(resonator_contacts.contacts[contact].normal),
                  .speed = speed,
                  .energy = energy});
  };
  const auto count = std::count_if(resonator_contacts.contacts.begin(), resonator_contacts.contacts.end(),
                                   [](const auto& t) { return t.struck; });
  for (std::size_t i = 0; i < resonator_contacts.contacts.size(); ++i) {
    if (resonator_contacts.contacts[i].struck)
      emit(model::ResponseKind::struck, i, resonator_contacts.contacts[i].approach_speed,
           result.energy.received / static_cast<double>(count));
  }
  for (const vibration::Kick& kick : result.kicks)
    emit(model::ResponseKind::kicked, kick.contact, kick.speed, kick.energy);
}

// Impulses at once, speeds in the next solve, late ones when they arrive.
void Responder::apply_result(const StepView& view, StepActions& actions, const Resonator& resonator,
                             const ResonatorContacts& resonator_contacts,
                             const vibration::ResponseResult& result, bool limited,
                             std::vector<TransmittedImpact>& transmitted)
{
  const Pose& X_wm = resonator_contacts.X_wm;
  for (const vibration::BodyImpulse& push : result.body_impulses) {
    (void)actions.apply_impulse(resonator_contacts.bodies[static_cast<std::size_t>(push.body)],
                                X_wm.direction(push.impulse), X_wm.direction(push.angular_impulse));
  }
  for (const vibration::Kick& kick : result.kicks) {
    const auto& [p, k] = resonator_contacts.contact_indices[kick.contact];
    const model::BodyIndex index = resonator_contacts.body_of(kick.contact);
    const model::BodyId id = view.id_of(index);
    if (view.model.bodies[static_cast<std::size_t>(index)].motion != model::Motion::dynamic) continue;
    if (result.body_impulses.empty()) {
      actions.wake(index);
      const Pose& X_wb = view.state.bodies[static_cast<std::size_t>(index)].X_wb;
      const Vec3 arm = view.state.patches[p].points[k].position - X_wb.position;
      const Vec3 tangential_impulse = X_wm.direction(kick.tangential_impulse);
      if (kick.delay > resonator_contacts.step) {
        const Vec3 normal = X_wm.direction(resonator_contacts.contacts[kick.contact].normal);
        actions.add_pending_kick({id, view.time + kick.delay, kick.impulse * normal + tangential_impulse,
                                  X_wb.direction_to_local(arm), limited ? kick.energy : -1});
        report_.deferred += kick.energy;
      } else {
        actions.request_separation_speed(p, k, kick.speed);
        double energy = kick.energy;
        if (!kick.tangential_impulse.isZero(0))
          energy -= actions.apply_impulse(index, tangential_impulse, arm.cross(tangential_impulse));
        report_.deferred += energy;
        if (limited) actions.allow_energy(p, k, std::max(energy, std::numeric_limits<double>::min()));
      }
    }
    if (rings(id) && kick.delay <= resonator_contacts.step)
      transmitted.push_back({index, resonator.body, p, k, kick.impulse, kick.speed, kick.energy});
  }
}

}  // namespace thrum::sim
