// SPDX-License-Identifier: MIT
// Kicks by momentum exchange: the struck surface and what rests on it trade momentum, each with its own effective mass.
#pragma once

#include "thrum/vibration/ringing.h"

namespace thrum::vibration {

/// Strikes the modes, lets every resting touch trade momentum with the surface at the moment of its greatest outward speed,
/// and leaves `state` as it is one rigid step later. Total energy never grows; with restitution 1 it stays.
[[nodiscard]] ResponseResult exchange_momentum(const Ringing& ringing, PeakSearch& search, ModeState& state);

/// Multiplications that exchange_momentum() takes, for the choice of KickRule::automatic.
[[nodiscard]] double exchange_cost(const Ringing& ringing);

/// The impulses of the impacts with the surface yielding: what the rigid solver would have found had it known the modes.
/// `rows` are those of the struck touches, weighted by the pulse; `approach` is the speed at which body and surface near each
/// other, the surface's own motion included [m/s]. The result is in [N s].
[[nodiscard]] VecX yielding_impulses(const Ringing& ringing, const MatX& rows, const VecX& approach);

}  // namespace thrum::vibration
