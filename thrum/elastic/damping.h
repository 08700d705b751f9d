// SPDX-License-Identifier: MIT
// Decay rates of the modes of a material; model::Damping documents the formulas.
#pragma once

#include "thrum/base/vec.h"
#include "thrum/model/material.h"

namespace thrum::elastic {

/// Decay of the amplitude of mode number `mode` (0 is the lowest) with angular frequency `omega` [1/s].
[[nodiscard]] double decay_of_mode(const model::Damping& damping, Index mode, double omega);

/// The decays of all modes [1/s]; `frequencies` in [Hz], ascending.
[[nodiscard]] VecX decays_of_modes(const model::Damping& damping, const VecX& frequencies);

/// Time in which a level falls by 60 dB: ln(1000) / decay [s]; infinite without damping.
[[nodiscard]] double reverberation_time(double decay);

}  // namespace thrum::elastic
