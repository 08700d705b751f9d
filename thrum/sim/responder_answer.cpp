// SPDX-License-Identifier: MIT
// One body's response between the world and thrum/vibration: what touches it, and what becomes of its kicks.
#include <algorithm>
#include <limits>
#include <map>

#include "thrum/sim/impact_account.h"
#include "thrum/sim/responder_parts.h"

namespace thrum::sim {

namespace {

model::Surface surface_of(const model::SceneModel& model, model::BodyId a, model::BodyId b)
{
  const model::SurfaceId sa = model.bodies[static_cast<std::size_t>(a)].surface;
  const model::SurfaceId sb = model.bodies[static_cast<std::size_t>(b)].surface;
  for (const model::SurfacePair& pair : model.surface_pairs) {
    if ((pair.a == sa && pair.b == sb) || (pair.a == sb && pair.b == sa)) return pair.values;
  }
  return model::smaller_of(model.surfaces[static_cast<std::size_t>(sa)],
                           model.surfaces[static_cast<std::size_t>(sb)]);
}

vibration::RigidPart part_in(const Pose& X_wm, const model::SceneModel& model, const model::BodyDesc& desc,
                             const model::BodyState& body)
{
  vibration::RigidPart part;
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

double push_body(const model::BodyDesc& desc, model::BodyState& body, const Vec3& impulse,
                 const Vec3& angular_impulse)
{
  if (desc.motion != model::Motion::dynamic) return 0;
  const double before = kinetic_energy(desc, body);
  const Mat3 R = body.X_wb.rotation.toRotationMatrix();
  body.velocity += impulse / desc.mass;
  body.angular_velocity += R * desc.inertia.inverse() * R.transpose() * angular_impulse;
  body.asleep = false;
  body.still_time = 0;
  return kinetic_energy(desc, body) - before;
}

Responder::Surroundings Responder::gather(const World& world, const model::SceneState& state, double h,
                                          const Ringer& ringer, const std::vector<Blow>& blows) const
{
  const model::SceneModel& model = world.model();
  const auto self = static_cast<std::size_t>(ringer.body);
  Surroundings around;
  around.step = h;
  around.X_wm = state.bodies[self].X_wb * model.bodies[self].X_bs;
  std::map<model::BodyId, std::int32_t> numbers;
  const auto part_of = [&](model::BodyId id) {
    const auto [it, fresh] = numbers.try_emplace(id, static_cast<std::int32_t>(around.parts.size()));
    if (!fresh) return it->second;
    const auto i = static_cast<std::size_t>(id);
    around.parts.push_back(part_in(around.X_wm, model, model.bodies[i], state.bodies[i]));
    if (i < moduli_.size()) around.parts.back().modulus = moduli_[i];
    around.ids.push_back(id);
    return it->second;
  };
  (void)part_of(ringer.body);
  for (std::size_t p = 0; p < state.patches.size(); ++p) {
    const model::ContactPatch& patch = state.patches[p];
    if (patch.a != ringer.body && patch.b != ringer.body) continue;
    const bool first = patch.a == ringer.body;
    const model::Surface surface = surface_of(model, patch.a, patch.b);
    for (std::size_t k = 0; k < patch.count; ++k) {
      const model::ContactPoint& point = patch.points[k];
      vibration::Touch touch;
      touch.key = (static_cast<std::uint64_t>(p) << 8) + k;
      touch.body = part_of(first ? patch.b : patch.a);
      touch.position = around.X_wm.point_to_local(point.position);
      touch.normal = around.X_wm.direction_to_local(first ? patch.normal : Vec3(-patch.normal));
      touch.gap = std::max(0.0, -point.depth);
      touch.restitution = surface.restitution;
      touch.friction = surface.friction;
      touch.load = point.normal_impulse / h;
      touch.impulse = point.normal_impulse;
      touch.approach_speed = -point.normal_speed;
      const auto blow = std::find_if(blows.begin(), blows.end(),
                                     [&](const Blow& b) { return b.patch == p && b.point == k; });
      if (blow != blows.end()) {
        touch.struck = true;
        touch.passed_on = true;
        touch.impulse = blow->impulse;
        touch.approach_speed = blow->speed;
        touch.loss = blow->energy;
      } else if (blows.empty() && is_struck(model, point, h)) {
        touch.struck = true;
        touch.load = 0;
      }
      around.touches.push_back(touch);
      around.places.emplace_back(p, k);
    }
  }
  if (blows.empty()) account_impacts(world, h, around.parts, around.ids, around.touches);
  return around;
}

// What it did, for the recording.
void Responder::tell(World& world, model::BodyId ringer, const Surroundings& around,
                     const vibration::ResponseResult& result)
{
  const auto event = [&](model::ResponseKind kind, std::size_t touch, double speed, double energy) {
    const auto& [p, k] = around.places[touch];
    world.report_response({.kind = kind,
                           .a = ringer,
                           .b = around.body_of(touch),
                           .position = world.state().patches[p].points[k].position,
                           .normal = around.X_wm.direction(around.touches[touch].normal),
                           .speed = speed,
                           .energy = energy});
  };
  const auto count =
      std::count_if(around.touches.begin(), around.touches.end(), [](const auto& t) { return t.struck; });
  for (std::size_t i = 0; i < around.touches.size(); ++i) {
    if (around.touches[i].struck)
      event(model::ResponseKind::struck, i, around.touches[i].approach_speed,
            result.energy.received / static_cast<double>(count));
  }
  for (const vibration::Kick& kick : result.kicks)
    event(model::ResponseKind::kicked, kick.touch, kick.speed, kick.energy);
}

// Pushes at once, speeds in the next solve, late ones when they arrive.
void Responder::hand_out(const model::SceneModel& model, model::SceneState& state, model::BodyId ringer,
                         const Surroundings& around, const vibration::ResponseResult& result, bool limited,
                         std::vector<Blow>& passed_on)
{
  for (const vibration::Push& push : result.pushes) {
    const auto b = static_cast<std::size_t>(around.ids[static_cast<std::size_t>(push.body)]);
    (void)push_body(model.bodies[b], state.bodies[b], around.X_wm.direction(push.impulse),
                    around.X_wm.direction(push.angular_impulse));
  }
  for (const vibration::Kick& kick : result.kicks) {
    const auto& [p, k] = around.places[kick.touch];
    const model::BodyId id = around.body_of(kick.touch);
    const model::BodyDesc& desc = model.bodies[static_cast<std::size_t>(id)];
    model::BodyState& body = state.bodies[static_cast<std::size_t>(id)];
    if (desc.motion != model::Motion::dynamic) continue;
    if (result.pushes.empty()) {
      body.asleep = false;
      body.still_time = 0;
      const Vec3 arm = state.patches[p].points[k].position - body.X_wb.position;
      const Vec3 slide = around.X_wm.direction(kick.slide);
      if (kick.delay > around.step) {
        const Vec3 normal = around.X_wm.direction(around.touches[kick.touch].normal);
        state.pending_kicks.push_back({id, state.time + kick.delay, kick.impulse * normal + slide,
                                       body.X_wb.direction_to_local(arm), limited ? kick.energy : -1});
        report_.owed += kick.energy;
      } else {
        model::ContactPoint& point = state.patches[p].points[k];
        point.wanted_speed = std::max(point.wanted_speed, kick.speed);
        double energy = kick.energy;
        if (!kick.slide.isZero(0)) energy -= push_body(desc, body, slide, arm.cross(slide));
        report_.owed += energy;
        if (limited) point.wanted_energy += std::max(energy, std::numeric_limits<double>::min());
      }
    }
    if (rings(id) && kick.delay <= around.step)
      passed_on.push_back({id, ringer, p, k, kick.impulse, kick.speed, kick.energy});
  }
}

}  // namespace thrum::sim
