// SPDX-License-Identifier: MIT
// The final limit on energy: a response scaled to what a budget allows, whatever rule it came from and
// whatever else the rigid step did.
//
// Between no response at all (bodies as the rigid solver left them, modes swinging on) and the whole of it,
// velocities and amplitudes are blended with a share a; the energy is then a quadratic in a, and the largest
// a within the budget has a closed form (energy_budget.h).
#pragma once

#include "thrum/elastic/modal_filter.h"
#include "thrum/vibration/mode_motion.h"
#include "thrum/vibration/surface_contact.h"

namespace thrum::vibration {

/// `state_without_impact` is how the modes would be without the impacts; `state` is how `result` left them,
/// and is blended with it. Returns the energy that bodies and modes have gained against no response, at most
/// `budget` [J]. Kicks that act as speeds, without body_impulses, count by their energy.
double limit_response(const ResponseInput& input, const elastic::ModeList& modes,
                      const ModeState& state_without_impact, double budget, ResponseResult& result,
                      ModeState& state);

}  // namespace thrum::vibration
