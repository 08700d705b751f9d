// SPDX-License-Identifier: MIT
// Of materials that people describe: aerogels have 1 kg/m^3, osmium 22,590; soft gels 1e3 Pa, diamond 1.2e12.
// Far beyond, the search for the modes of a body does not end.
#pragma once

namespace thrum::elastic {

inline constexpr double kMinDensity = 1e-3;  ///< [kg/m^3]
inline constexpr double kMaxDensity = 1e5;   ///< [kg/m^3]
inline constexpr double kMinYoung = 1e3;     ///< [Pa]
inline constexpr double kMaxYoung = 1e13;    ///< [Pa]
/// Root mean square of heights over wavelengths of at most 8 mm.
inline constexpr double kMaxRoughness = 2e-3;  ///< [m]

}  // namespace thrum::elastic
