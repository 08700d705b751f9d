// SPDX-License-Identifier: MIT
// How long an impact lasts, and which modes it reaches.
#pragma once

#include "thrum/base/vec.h"
#include "thrum/elastic/hertz_contact.h"
#include "thrum/elastic/modal_filter.h"

namespace thrum::vibration {

using elastic::contact_modulus;
using elastic::hertz_duration;

/// hertz_duration() for bodies that separate by `inverse_effective_mass` [1/kg] for a unit impulse at the
/// contact, of moduli E / (1 - nu^2) [Pa]; 0, an impact of no length, when a modulus or a mass is not known
/// [s].
[[nodiscard]] double contact_duration(double inverse_effective_mass, double own_modulus, double other_modulus,
                                      double radius, double speed);

/// The stiffness k of the force k d^(3/2) with which a mass `m` [kg] that arrives with `speed` [m/s] stays
/// for `duration` [s]: the inverse of hertz_duration() [N/m^(3/2)].
[[nodiscard]] double stiffness_for_duration(double m, double duration, double speed);

/// Share of an impulse that reaches a mode when it is spread over a half-sine of `duration` [s]: 1 for a
/// short pulse.
[[nodiscard]] double pulse_weight(double omega, double duration);
[[nodiscard]] VecX pulse_weights(const elastic::ModeList& modes, double duration);

}  // namespace thrum::vibration
