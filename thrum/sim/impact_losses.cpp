// SPDX-License-Identifier: MIT
#include "thrum/sim/impact_losses.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace thrum::sim {

namespace {

Vec3 weight_of(const model::SceneModel& model, const model::BodyDesc& desc)
{
  return desc.mass * desc.gravity_scale * model.gravity;
}

// What gravity did to a body in the step beyond its impulse times the mean of the speeds before and after [J]: a body that bounces
// within a step rises or falls differently from that mean.
double gravity_excess(const World& world, model::BodyIndex id, double h)
{
  const model::BodyDesc& desc = world.model().bodies[static_cast<std::size_t>(id)];
  if (desc.motion != model::Motion::dynamic) return 0;
  const model::BodyState& before = world.body_before_step(id);
  const model::BodyState& after = world.state().bodies[static_cast<std::size_t>(id)];
  return weight_of(world.model(), desc)
      .dot(after.X_wb.position - before.X_wb.position - h * (before.velocity + after.velocity) / 2);
}

}  // namespace

// Impulses lambda change kinetic energy by lambda . (u0 + u1) / 2, u0 and u1 being the speeds along them before and after the step,
// whatever happened in between; with the excess G of gravity the contacts of the striking body have lost
//
//     L = G - lambda . (u0 + u1) / 2.
//
// The solver's impulses hold the weight of the step too. Of those that strike the share s with
//
//     s^2 lambda.A lambda / 2 - s lambda.u1 = L
//
// is the impact's: without it the body has, at its present place, the energy with which it came, no more and no less.
void compute_impact_losses(const World& world, double h, std::span<const vibration::RigidBodyData> parts,
                           std::span<const model::BodyIndex> ids,
                           std::vector<vibration::SurfaceContact>& contacts)
{
  struct Sum {
    double lambda = 0;  // of the struck ones [N s]
    double along = 0;   // lambda . u1 of these [J]
    double square = 0;  // lambda . A lambda of these [J]
    double lost = 0;    // by all contacts of the body [J]
  };
  std::map<std::int32_t, Sum> sums;
  for (const vibration::SurfaceContact& contact : contacts) {
    Sum& sum = sums[contact.body];
    const double after = vibration::separation_speed({parts, {}, h}, contact);
    sum.lost -= contact.impulse * (after - contact.approach_speed) / 2;
    if (!contact.struck) continue;
    sum.lambda += contact.impulse;
    sum.along += contact.impulse * after;
    for (const vibration::SurfaceContact& other : contacts) {
      if (other.struck && other.body == contact.body)
        sum.square +=
            contact.impulse * vibration::inverse_effective_mass(parts, contact, other) * other.impulse;
    }
  }
  for (vibration::SurfaceContact& contact : contacts) {
    const Sum& sum = sums[contact.body];
    if (!contact.struck || !(sum.lambda > 0)) continue;
    const double excess = gravity_excess(world, ids[static_cast<std::size_t>(contact.body)], h);
    const double lost = std::max(0.0, sum.lost + excess);
    contact.loss = lost * contact.impulse / sum.lambda;
    if (!(sum.square > 0)) continue;
    const double root = std::sqrt(sum.along * sum.along + 2 * sum.square * lost);
    contact.impulse *= std::max(0.0, (sum.along + root) / sum.square);
  }
}

double body_energy_loss(const World& world, model::BodyIndex id, double h)
{
  const model::BodyDesc& desc = world.model().bodies[static_cast<std::size_t>(id)];
  if (desc.motion != model::Motion::dynamic) return 0;
  const model::BodyState& before = world.body_before_step(id);
  const model::BodyState& after = world.state().bodies[static_cast<std::size_t>(id)];
  return model::kinetic_energy(desc, before) - model::kinetic_energy(desc, after) +
         (weight_of(world.model(), desc) + before.force).dot(after.X_wb.position - before.X_wb.position) +
         h / 2 * before.torque.dot(before.angular_velocity + after.angular_velocity);
}

double step_energy_loss(const World& world, double h)
{
  const model::SceneModel& model = world.model();
  double lost = 0;
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    lost += body_energy_loss(world, static_cast<model::BodyIndex>(i), h);
  // Bodies that are moved bring in the work of their contacts.
  for (const model::ContactPatch& patch : world.state().patches) {
    for (const auto& [id, sign] : {std::pair(patch.a, 1.0), std::pair(patch.b, -1.0)}) {
      if (model.bodies[static_cast<std::size_t>(id)].motion != model::Motion::kinematic) continue;
      Vec3 centre = Vec3::Zero();
      for (const model::ContactPoint& point : patch.active()) {
        centre += point.position / patch.count;
        lost += sign * point.normal_impulse *
                patch.normal.dot(
                    model::velocity_at(world.state().bodies[static_cast<std::size_t>(id)], point.position));
      }
      lost += sign * patch.friction_impulse.dot(
                         model::velocity_at(world.state().bodies[static_cast<std::size_t>(id)], centre));
    }
  }
  return lost;
}

}  // namespace thrum::sim
