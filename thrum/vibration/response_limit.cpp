// SPDX-License-Identifier: MIT
#include "thrum/vibration/response_limit.h"

#include "thrum/vibration/energy_budget.h"

namespace thrum::vibration {

namespace {

// Terms of a and of a^2/2 in the energy [J].
struct Cost {
  double along = 0;
  double square = 0;
};

Cost of_pushes(const ResponseInput& input, const ResponseResult& result)
{
  // The pushes of one body together.
  std::vector<Push> sums(input.bodies.size());
  for (const Push& push : result.pushes) {
    sums[static_cast<std::size_t>(push.body)].impulse += push.impulse;
    sums[static_cast<std::size_t>(push.body)].angular_impulse += push.angular_impulse;
  }
  Cost cost;
  for (std::size_t b = 0; b < sums.size(); ++b) {
    const RigidPart& part = input.bodies[b];
    if (part.inverse_mass == 0) continue;
    const auto& [body, j, k] = sums[b];
    cost.along += j.dot(part.velocity) + k.dot(part.angular_velocity);
    cost.square += part.inverse_mass * j.squaredNorm() + k.dot(part.inverse_inertia * k);
  }
  return cost;
}

}  // namespace

double limit_response(const ResponseInput& input, const elastic::ModeList& modes, const ModeState& unstruck,
                      double budget, ResponseResult& result, ModeState& state)
{
  Cost cost = of_pushes(input, result);
  if (result.pushes.empty()) {
    for (const Kick& kick : result.kicks) cost.along += kick.energy;
  }
  const VecX dq = modes.omegas.cwiseProduct(state.q - unstruck.q);
  const VecX dv = state.v - unstruck.v;
  cost.along += dq.dot(modes.omegas.cwiseProduct(unstruck.q)) + dv.dot(unstruck.v);
  cost.square += dq.squaredNorm() + dv.squaredNorm();

  const double share = affordable_share(cost.along, cost.square, budget);
  if (share < 1) {
    for (Push& push : result.pushes) {
      push.impulse *= share;
      push.angular_impulse *= share;
    }
    for (Kick& kick : result.kicks) {
      const double present = rigid_speed(input, input.touches[kick.touch]);
      kick.speed = present + share * (kick.speed - present);
      kick.impulse *= share;
      kick.slide *= share;
      kick.energy *= share;
    }
    state.q = unstruck.q + share * (state.q - unstruck.q);
    state.v = unstruck.v + share * dv;
    result.energy.given *= share;
    result.energy.received *= share;
    result.energy.kick_scale *= share;
    result.energy.rings = energy(modes, state);
  }
  return share * cost.along + share * share * cost.square / 2;
}

}  // namespace thrum::vibration
