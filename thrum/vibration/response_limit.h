// SPDX-License-Identifier: MIT
// The final limit on energy: a response scaled to what a budget allows, whatever rule it came from and
// whatever else the rigid step did.
//
// Between no response at all (bodies as the rigid solver left them, modes swinging on) and the whole of it,
// velocities and amplitudes are blended with a share a; the energy is then a quadratic in a, and the largest
// a within the budget has a closed form (energy_budget.h).
//
// Where bodies get impulses, the vibration that stays behind is reduced first: kicks were found with what
// struck, at the speed with which it struck, while the rigid step has lifted that body since then and so
// lost less than the impact did. An impact that was passed on has no such body, and bodies that strike with
// several contacts keep their fall (strikes_with_one_contact).
#pragma once

#include "thrum/elastic/modal_filter.h"
#include "thrum/vibration/mode_motion.h"
#include "thrum/vibration/surface_contact.h"

namespace thrum::vibration {

/// Whether a body strikes with a single contact. Corners that come down one after the other are turned by
/// each other's impulses, so that no one fall since the impact explains their speeds (FallSinceImpact).
[[nodiscard]] bool strikes_with_one_contact(std::span<const SurfaceContact> contacts, std::int32_t body);

/// `state_without_impact` is how the modes would be without the impacts; `state` is how `result` left them,
/// and is blended with it. Returns the energy that bodies and modes have gained against no response, at most
/// `budget` [J]. Kicks that act as speeds, without body_impulses, count by their energy.
double limit_response(const ResponseInput& input, const elastic::ModeList& modes,
                      const ModeState& state_without_impact, double budget, ResponseResult& result,
                      ModeState& state);

}  // namespace thrum::vibration
