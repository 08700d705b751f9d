// SPDX-License-Identifier: MIT
// Air as sound finds it: density, speed, and how much it absorbs [ISO 9613-1].
#pragma once

namespace thrum::sound {

struct Air {
  double temperature = 293.15;  ///< [K]
  double pressure = 101325;     ///< [Pa]
  double humidity = 50;         ///< relative [%]

  /// Of dry air as an ideal gas [kg/m^3].
  [[nodiscard]] double density() const;
  /// Speed of sound [m/s].
  [[nodiscard]] double sound_speed() const;
  /// Loss of level of a pure tone on its way, ISO 9613-1 equations (3) to (5) [dB/m].
  [[nodiscard]] double absorption(double frequency) const;
};

/// Throws Error when a member is outside of what the formulas hold for: 200 to 330 K, a tenth to two
/// atmospheres, 0 to 100 %.
void check_air(const Air& air);

}  // namespace thrum::sound
