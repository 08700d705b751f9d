// SPDX-License-Identifier: MIT
// How waves grow weaker with distance in large bodies: the settings of the attenuated response
// [Coevoet20, section 4.4], whose equations are in attenuation.h.
#pragma once

#include <cstdint>

namespace thrum::vibration {

enum class WaveDistance : std::uint8_t {
  geodesic,  ///< along the surface
  euclidean  ///< straight, for flat ground
};

struct AttenuationSettings {
  bool full = false;           ///< eq. 14; otherwise C r^-beta
  double C = 1;                ///< [m^beta]; 0.4 to 1 plausible, 1 to 2 exaggerated
  double alpha = 0.048;        ///< absorption [1/m]
  double beta = 1;             ///< 0 rods, 0.5 shells, 1 volumes
  double r0 = 0.033;           ///< of eq. 14 [m]
  double min_distance = 0.25;  ///< nearer points count as that far off [m]
  bool average = false;        ///< the mean motion of all upward vertices instead of that of the struck place
  WaveDistance distance = WaveDistance::geodesic;
  bool arrival_delay = false;  ///< kicks arrive after distance / wave speed
  double wave_speed = 0;       ///< 0: that of Rayleigh waves in the material [m/s]
};

/// Eq. 14 or its simple form at distance r [m].
[[nodiscard]] double attenuation(const AttenuationSettings& settings, double r);

}  // namespace thrum::vibration
