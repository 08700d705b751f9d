// SPDX-License-Identifier: MIT
// The noise of sliding and rolling: two rough surfaces pass each other under a contact, and the normal force
// fluctuates with their heights.
//
// The profile of a surface is a function of the distance travelled alone, so that speed moves its spectrum up
// and a contact that stands still is silent. It is a sum of octaves of smooth noise, from kLongestRoughness
// down, whose root mean square falls with the wavelength as a power law (model::Roughness).
//
// Two surfaces are independent of each other, so the variances of their octaves add: the spectrum of a pair
// is the sum of both, in either order. The force follows the height h of the pair as
//
//     F' = F h / d,        d = kContactDepth,                                        (1)
//
// for a rough contact is a bed of asperities, of which more carry the more load there is, so that its
// stiffness is proportional to the load. d was chosen: with it two surfaces of ground steel have a
// fluctuation of 2 %. That the body gives way to what is slow, and leaves the surface where h is steep, is
// left out.
#pragma once

#include <array>
#include <cstdint>

#include "thrum/model/roughness.h"

namespace thrum::sound {

inline constexpr double kLongestRoughness = 8e-3;  ///< wavelength [m]
inline constexpr int kRoughnessOctaves = 7;        ///< down to 0.125 mm
inline constexpr double kContactDepth = 50e-6;     ///< height that doubles a force [m]

/// Root mean square of each octave, longest first [m].
using RoughnessOctaves = std::array<double, kRoughnessOctaves>;

[[nodiscard]] RoughnessOctaves roughness_octaves(const model::Roughness& roughness);
/// Of two independent surfaces.
[[nodiscard]] RoughnessOctaves combined(const RoughnessOctaves& a, const RoughnessOctaves& b);
/// Of an exponent of 0.5, with a root mean square of 1.
extern const RoughnessOctaves kUnitOctaves;
/// Root mean square of all octaves together [m].
[[nodiscard]] double rms_height(const RoughnessOctaves& octaves);
/// With another root mean square; all 0 stay so.
[[nodiscard]] RoughnessOctaves scaled_to(const RoughnessOctaves& octaves, double height);

/// The height at a distance [m]. Octaves that pass faster than `max_frequency` [Hz] at `speed` [m/s] are
/// faded out.
[[nodiscard]] double roughness_profile(std::uint64_t seed, const RoughnessOctaves& octaves, double distance,
                                       double speed, double max_frequency);

}  // namespace thrum::sound
