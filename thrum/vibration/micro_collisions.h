// SPDX-License-Identifier: MIT
// The chain of micro-collisions between a struck body and what is in contact with it, which [Coevoet20,
// section 5.4] leaves out: modes and rigid bodies together, at a fraction of a millisecond, for the struck
// body alone and only while it rings.
#pragma once

#include "thrum/vibration/response_context.h"

namespace thrum::vibration {

/// Follows the impact for the window of the settings and returns, for each body in contact, the motion
/// with which it leaves. Total energy never grows. `state` is left as it is at the end of the window, or one
/// step later when that is later.
[[nodiscard]] ResponseResult simulate_micro_collisions(const ResponseContext& context, ModeState& state);

/// Multiplications that simulate_micro_collisions() takes, for KickRule::automatic.
[[nodiscard]] double micro_cost(const ResponseContext& context);

/// The least savings with which the cost is at most this; all of them where none suffices.
[[nodiscard]] MicroSavings choose_micro_savings(const ResponseContext& context, double max_cost);

}  // namespace thrum::vibration
