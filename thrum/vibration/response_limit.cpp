// SPDX-License-Identifier: MIT
#include "thrum/vibration/response_limit.h"

#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/vibration/energy_budget.h"

namespace thrum::vibration {

namespace {

// Terms of a and of a^2/2 in the energy [J].
struct Cost {
  double along = 0;
  double square = 0;

  [[nodiscard]] double of(double share) const { return share * along + share * share * square / 2; }
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

void scale_bodies(const ResponseInput& input, double share, ResponseResult& result)
{
  if (share == 1) return;
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
  result.energy.given *= share;
  result.energy.kick_scale *= share;
}

void scale_vibration(const elastic::ModeList& modes, const ModeState& state_without_impact, double share,
                     ResponseResult& result, ModeState& state)
{
  if (share == 1) return;
  state.q = state_without_impact.q + share * (state.q - state_without_impact.q);
  state.v = state_without_impact.v + share * (state.v - state_without_impact.v);
  result.energy.received *= share;
  result.energy.vibration_after = energy(modes, state);
}

// Bodies first, and the vibration what is left.
double limit_impulses(const ResponseInput& input, const elastic::ModeList& modes,
                      const ModeState& state_without_impact, double budget, const Cost& vibration,
                      ResponseResult& result, ModeState& state)
{
  const Cost bodies = impulse_energy_terms(input, result);
  // With all of the kicks, what may the vibration gain? It may also lose, to what it has driven.
  const double left = budget - bodies.of(1);
  double share = 0;
  if (left >= 0) {
    share = max_scale_within_budget(vibration.along, vibration.square, left);
  } else if (vibration.of(1) <= left) {
    share = 1;
  }
  const double body_share =
      share > 0 || left >= 0 ? 1 : max_scale_within_budget(bodies.along, bodies.square, budget);
  scale_bodies(input, body_share, result);
  scale_vibration(modes, state_without_impact, share, result, state);
  return bodies.of(body_share) + vibration.of(share);
}

}  // namespace

bool strikes_with_one_contact(std::span<const SurfaceContact> contacts, std::int32_t body)
{
  return std::count_if(contacts.begin(), contacts.end(),
                       [&](const SurfaceContact& c) { return c.struck && c.body == body; }) == 1;
}

double limit_response(const ResponseInput& input, const elastic::ModeList& modes,
                      const ModeState& state_without_impact, double budget, ResponseResult& result,
                      ModeState& state)
{
  const VecX dq = modes.omegas.cwiseProduct(state.q - state_without_impact.q);
  const VecX dv = state.v - state_without_impact.v;
  Cost vibration;
  vibration.along =
      dq.dot(modes.omegas.cwiseProduct(state_without_impact.q)) + dv.dot(state_without_impact.v);
  vibration.square = dq.squaredNorm() + dv.squaredNorm();
  const bool falls_alone =
      std::all_of(input.contacts.begin(), input.contacts.end(), [&](const SurfaceContact& c) {
        return !c.struck || (!c.transmitted && strikes_with_one_contact(input.contacts, c.body));
      });
  if (!result.body_impulses.empty() && falls_alone)
    return limit_impulses(input, modes, state_without_impact, budget, vibration, result, state);

  Cost cost = impulse_energy_terms(input, result);
  cost.along += vibration.along;
  cost.square += vibration.square;
  if (result.body_impulses.empty()) {
    for (const Kick& kick : result.kicks) cost.along += kick.energy;
  }
  const double share = max_scale_within_budget(cost.along, cost.square, budget);
  scale_bodies(input, share, result);
  scale_vibration(modes, state_without_impact, share, result, state);
  return cost.of(share);
}

}  // namespace thrum::vibration
