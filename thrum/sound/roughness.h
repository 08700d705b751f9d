// SPDX-License-Identifier: MIT
// The noise of sliding and rolling: a rough surface passes under the contact, and the normal force
// fluctuates with its profile.
//
// The profile is a function of the distance travelled alone, so that speed moves its spectrum up and a
// contact that stands still is silent. It is a sum of octaves of smooth noise, from kLongest down, whose
// amplitude falls with the wavelength as a power law: the height of a fractal surface of power spectrum
// k^-(2 H + 1).
#pragma once

#include <cstdint>

namespace thrum::sound {

inline constexpr double kLongestRoughness = 8e-3;  ///< wavelength [m]
inline constexpr int kRoughnessOctaves = 7;        ///< down to 0.125 mm

/// The profile at a distance [m], of unit root mean square over long ways with all octaves. Octaves that
/// pass faster than `max_frequency` [Hz] at `speed` [m/s] are faded out.
[[nodiscard]] double roughness_profile(std::uint64_t seed, double distance, double speed,
                                       double max_frequency);

}  // namespace thrum::sound
