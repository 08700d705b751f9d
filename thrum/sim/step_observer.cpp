// SPDX-License-Identifier: MIT
#include "thrum/sim/step_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/sim/impact_losses.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

model::BodyId StepView::id_of(model::BodyIndex body) const
{
  return world_.id_of(body);
}

model::BodyIndex StepView::index_of(model::BodyId id) const
{
  return world_.index_of(id);
}

std::span<const model::Contact> StepView::contacts() const
{
  if (!is_complete_)
    throw Error("The contacts of a step are known when it is complete: call contacts() in after_step().");
  return world_.contacts();
}

void ContactFilter::disable(std::size_t patch)
{
  if (patch >= surfaces_.size())
    throw Error(fmt::format("There is no patch {}: this slice has {}.", patch, surfaces_.size()));
  disabled_.resize(surfaces_.size(), false);
  disabled_[patch] = true;
}

bool ContactFilter::is_disabled(std::size_t patch) const
{
  return patch < disabled_.size() && disabled_[patch];
}

void ContactFilter::set_surface(std::size_t patch, const model::Surface& values)
{
  if (patch >= surfaces_.size())
    throw Error(fmt::format("There is no patch {}: this slice has {}.", patch, surfaces_.size()));
  const auto check = [](const char* name, double value, double max) {
    if (!(value >= 0) || !(value <= max) || !std::isfinite(value)) {
      throw Error(
          fmt::format("The {} of a contact is {}; it must be at least 0{}.", name, value,
                      std::isfinite(max) ? fmt::format(" and at most {}", max) : " and a finite number"));
    }
  };
  const double any = std::numeric_limits<double>::infinity();
  check("restitution", values.restitution, 1);
  check("friction", values.friction, any);
  check("rolling friction", values.rolling_friction, any);
  check("spinning friction", values.spinning_friction, any);
  surfaces_[patch] = values;
}

void StepActions::check_body(model::BodyIndex index, const char* call) const
{
  if (index < 0 || at(index) >= state_.bodies.size())
    throw Error(fmt::format("StepActions::{}(): there is no body {} in this world, which has {}.", call,
                            index, state_.bodies.size()));
}

double StepActions::apply_impulse(model::BodyIndex index, const Vec3& impulse, const Vec3& angular_impulse)
{
  check_body(index, "apply_impulse");
  const model::BodyProperties& desc = model_.bodies[at(index)];
  model::BodyState& body = state_.bodies[at(index)];
  if (desc.motion != model::Motion::dynamic) return 0;
  const double before = model::kinetic_energy(desc, body);
  const Mat3 R = body.X_wb.rotation.toRotationMatrix();
  body.velocity += impulse / desc.mass;
  body.angular_velocity += R * desc.inertia.inverse() * R.transpose() * angular_impulse;
  wake(index);
  return model::kinetic_energy(desc, body) - before;
}

void StepActions::set_velocity(model::BodyIndex index, const Vec3& velocity, const Vec3& angular_velocity)
{
  check_body(index, "set_velocity");
  if (!velocity.allFinite() || !angular_velocity.allFinite())
    throw Error("StepActions::set_velocity(): a velocity is not a finite number.");
  if (model_.bodies[at(index)].motion == model::Motion::fixed) return;
  state_.bodies[at(index)].velocity = velocity;
  state_.bodies[at(index)].angular_velocity = angular_velocity;
  wake(index);
}

void StepActions::scale_velocity(model::BodyIndex index, double factor)
{
  check_body(index, "scale_velocity");
  state_.bodies[at(index)].velocity *= factor;
  state_.bodies[at(index)].angular_velocity *= factor;
}

void StepActions::wake(model::BodyIndex index)
{
  check_body(index, "wake");
  state_.bodies[at(index)].asleep = false;
  state_.bodies[at(index)].still_time = 0;
}

model::ContactPoint& StepActions::point_of(std::size_t patch, std::size_t point)
{
  if (patch >= state_.patches.size())
    throw Error(fmt::format("There is no patch {}: this slice has {}.", patch, state_.patches.size()));
  const std::span<model::ContactPoint> points = state_.patches[patch].active();
  if (point >= points.size())
    throw Error(fmt::format("There is no point {} in patch {}, which has {}.", point, patch, points.size()));
  return points[point];
}

void StepActions::request_separation_speed(std::size_t patch, std::size_t point, double speed)
{
  double& requested = point_of(patch, point).requested_speed;
  requested = std::max(requested, speed);
}

void StepActions::allow_energy(std::size_t patch, std::size_t point, double energy)
{
  if (energy < 0)
    throw Error(fmt::format("StepActions::allow_energy(): {} J; it must not be negative.", energy));
  point_of(patch, point).allowed_energy += energy;
}

double StepActions::take_allowed_energy(std::size_t patch, std::size_t point)
{
  return std::exchange(point_of(patch, point).allowed_energy, 0.0);
}

void StepActions::set_modal_state(model::BodyId body, std::span<const double> q, std::span<const double> v)
{
  if (q.size() != v.size())
    throw Error(
        fmt::format("StepActions::set_modal_state(): {} displacements and {} velocities; each mode has "
                    "one of both.",
                    q.size(), v.size()));
  auto& states = state_.modal_states;
  auto ring = std::find_if(states.begin(), states.end(), [&](const auto& s) { return s.body == body; });
  double squares = 0;
  for (const double value : q) squares += value * value;
  for (const double value : v) squares += value * value;
  if (!(squares > 0)) {
    if (ring != states.end()) states.erase(ring);
    return;
  }
  if (ring == states.end()) ring = states.insert(ring, model::ModalState{body, {}, {}});
  ring->q.assign(q.begin(), q.end());
  ring->v.assign(v.begin(), v.end());
}

void StepActions::scale_modal_state(model::BodyId body, double factor)
{
  for (model::ModalState& ring : state_.modal_states) {
    if (ring.body != body) continue;
    for (double& q : ring.q) q *= factor;
    for (double& v : ring.v) v *= factor;
  }
}

void StepActions::add_pending_kick(const model::PendingKick& kick)
{
  state_.pending_kicks.push_back(kick);
}

std::vector<model::PendingKick> StepActions::take_pending_kicks(double until)
{
  std::vector<model::PendingKick> due;
  std::erase_if(state_.pending_kicks, [&](const model::PendingKick& kick) {
    if (kick.time > until) return false;
    due.push_back(kick);
    return true;
  });
  return due;
}

}  // namespace thrum::sim
