// SPDX-License-Identifier: MIT
// How much sound a vibrating body radiates, as one number a mode: the same in all directions.
//
// At the distance r from a body that vibrates in a mode with velocity q' the pressure is, in the far field,
//
//     p = rho c sqrt(sigma A / 4 pi) q' / r,      A = integral (phi . n)^2 dS,                            (1)
//
// which carries the power rho c sigma A q'^2 of the mode, spread evenly over a sphere. The radiation
// efficiency sigma is that of a sphere of the same surface, x = k a, by the order of the vibration:
//
//     order 0  x^2 / (1 + x^2)      1  x^4 / (4 + x^4)      2  x^6 / (81 + 9 x^2 - 2 x^4 + x^6) (2)
//
// A mode has a share of each order: of the pulsation from its change of volume, of the oscillation from the
// motion of its surface as a whole, all else counts as order 2. To treat every mode as a pulsation would make
// low modes more than 20 dB too loud.
//
// The decay d of a mode is that of the body as it sounds, in air: what it radiates is part of what it loses.
// A mode of energy E loses 2 d E and has q'^2 = E on average, so
//
//     rho c sigma A <= 2 d,      r p / q' <= sqrt(rho c d / 2 pi).                                       (3)
//
// Light and large bodies and thin walls, whose efficiency is far below that of a sphere, would go beyond: the
// scaffold of 100 kg/m^3 radiated 18 times the energy that its toolbox brought.
#pragma once

#include <array>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/model/modal_model.h"

namespace thrum::sound {

inline constexpr double kAirDensity = 1.204;  ///< at 20 degrees Celsius [kg/m^3]
inline constexpr double kSoundSpeed = 343.2;  ///< likewise [m/s]

/// (2) of above; order 0, 1 or 2. `x` = wave number times radius.
[[nodiscard]] double sphere_radiation_efficiency(int order, double x);

/// What a mode radiates.
struct ModeRadiation {
  double area = 0;                           ///< A of (1) [m^2/kg]
  std::array<double, 3> shares = {0, 0, 1};  ///< of the orders; they add up to 1
  double efficiency = 0;                     ///< at the frequency of the mode
  double amplitude = 0;                      ///< r p / q' [Pa m / (kg^1/2 m/s)]
};

/// (3) of above: the largest r p / q', as a root mean square over all directions, of a mode with a decay
/// [1/s]. Infinite for a decay of 0, which stands for damping that is not known.
[[nodiscard]] double max_radiation_amplitude(double decay);

/// One entry a mode of the model; (1) alone.
[[nodiscard]] std::vector<ModeRadiation> scalar_radiation(const model::ModalModel& model);

}  // namespace thrum::sound
