// SPDX-License-Identifier: MIT
#include "thrum/vibration/response_limit.h"

#include "thrum/base/index.h"
#include "thrum/vibration/energy_budget.h"

namespace thrum::vibration {

namespace {

// Terms of a and of a^2/2 in the energy [J].
struct Cost {
  double along = 0;
  double square = 0;
};

Cost impulse_energy_terms(const ResponseInput& input, const ResponseResult& result)
{
  // The body_impulses of one body together.
  std::vector<BodyImpulse> sums(input.bodies.size());
  for (const BodyImpulse& push : result.body_impulses) {
    sums[at(push.body)].impulse += push.impulse;
    sums[at(push.body)].angular_impulse += push.angular_impulse;
  }
  Cost cost;
  for (std::size_t b = 0; b < sums.size(); ++b) {
    const RigidBodyData& part = input.bodies[b];
    if (part.inverse_mass == 0) continue;
    const auto& [body, j, k] = sums[b];
    cost.along += j.dot(part.velocity) + k.dot(part.angular_velocity);
    cost.square += part.inverse_mass * j.squaredNorm() + k.dot(part.inverse_inertia * k);
  }
  return cost;
}

}  // namespace

double limit_response(const ResponseInput& input, const elastic::ModeList& modes,
                      const ModeState& state_without_impact, double budget, ResponseResult& result,
                      ModeState& state)
{
  Cost cost = impulse_energy_terms(input, result);
  if (result.body_impulses.empty()) {
    for (const Kick& kick : result.kicks) cost.along += kick.energy;
  }
  const VecX dq = modes.omegas.cwiseProduct(state.q - state_without_impact.q);
  const VecX dv = state.v - state_without_impact.v;
  cost.along += dq.dot(modes.omegas.cwiseProduct(state_without_impact.q)) + dv.dot(state_without_impact.v);
  cost.square += dq.squaredNorm() + dv.squaredNorm();

  const double share = max_scale_within_budget(cost.along, cost.square, budget);
  if (share < 1) {
    for (BodyImpulse& push : result.body_impulses) {
      push.impulse *= share;
      push.angular_impulse *= share;
    }
    for (Kick& kick : result.kicks) {
      const double present = separation_speed(input, input.contacts[kick.contact]);
      kick.speed = present + share * (kick.speed - present);
      kick.impulse *= share;
      kick.tangential_impulse *= share;
      kick.energy *= share;
    }
    state.q = state_without_impact.q + share * (state.q - state_without_impact.q);
    state.v = state_without_impact.v + share * dv;
    result.energy.given *= share;
    result.energy.received *= share;
    result.energy.kick_scale *= share;
    result.energy.vibration_after = energy(modes, state);
  }
  return share * cost.along + share * share * cost.square / 2;
}

}  // namespace thrum::vibration
