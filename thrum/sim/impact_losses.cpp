// SPDX-License-Identifier: MIT
#include "thrum/sim/impact_losses.h"

#include "thrum/base/index.h"

namespace thrum::sim {

double body_energy_loss(const StepView& view, model::BodyIndex body)
{
  const std::size_t b = at(body);
  const model::BodyProperties& desc = view.model.bodies[b];
  if (desc.motion != model::Motion::dynamic) return 0;
  const model::BodyState& before = view.bodies_before[b];
  const model::BodyState& after = view.state.bodies[b];
  const Vec3 weight = desc.mass * desc.gravity_scale * view.model.gravity;
  return model::kinetic_energy(desc, before) - model::kinetic_energy(desc, after) +
         (weight + before.force).dot(after.X_wb.position - before.X_wb.position) +
         view.h / 2 * before.torque.dot(before.angular_velocity + after.angular_velocity);
}

double step_energy_loss(const StepView& view)
{
  double lost = 0;
  for (std::size_t i = 0; i < view.model.bodies.size(); ++i)
    lost += body_energy_loss(view, static_cast<model::BodyIndex>(i));
  // Bodies that are moved bring in the work of their contacts.
  for (const model::ContactPatch& patch : view.state.patches) {
    for (const auto& [index, sign] : {std::pair(patch.a, 1.0), std::pair(patch.b, -1.0)}) {
      const model::BodyState& body = view.state.bodies[at(index)];
      if (view.model.bodies[at(index)].motion != model::Motion::kinematic) continue;
      Vec3 centre = Vec3::Zero();
      for (const model::ContactPoint& point : patch.active()) {
        centre += point.position / patch.count;
        lost += sign * point.normal_impulse * patch.normal.dot(velocity_at(body, point.position));
      }
      lost += sign * patch.friction_impulse.dot(velocity_at(body, centre));
    }
  }
  return lost;
}

}  // namespace thrum::sim
