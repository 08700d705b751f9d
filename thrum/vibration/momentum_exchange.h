// SPDX-License-Identifier: MIT
// Kicks by momentum exchange: the struck surface and what rests on it trade momentum, each with its own
// effective mass.
#pragma once

#include "thrum/vibration/response_context.h"

namespace thrum::vibration {

/// Strikes the modes, lets every resting contact trade momentum with the surface at the moment of its largest
/// outward speed, and leaves `state` as it is one rigid step later. Total energy never grows; with
/// restitution 1 it stays.
[[nodiscard]] ResponseResult exchange_momentum(const ResponseContext& context, PeakSearch& search,
                                               ModeState& state);

/// Multiplications that exchange_momentum() takes, for the choice of KickRule::automatic.
[[nodiscard]] double exchange_cost(const ResponseContext& context);

/// The impulses of the impacts with the surface yielding: what the rigid solver would have found had it known
/// the modes. `rows` are those of the struck contacts, weighted by the pulse; `approach` is the speed at
/// which body and surface near each other, the surface's own motion included [m/s]. The result is in [N s];
/// `unsolved` counts one that is not exact (one_sided.h).
[[nodiscard]] VecX compliant_impulses(const ResponseContext& context, const MatX& rows, const VecX& approach,
                                      int& unsolved);

}  // namespace thrum::vibration
