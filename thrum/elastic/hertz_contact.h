// SPDX-License-Identifier: MIT
// Hertz' impact of two elastic bodies: how long it lasts.
#pragma once

namespace thrum::elastic {

/// 1 / E* = sum (1 - nu^2) / E from the two moduli E / (1 - nu^2); one of them may be 0: then both are the
/// other [Pa].
[[nodiscard]] double contact_modulus(double a, double b);

/// Contact time of a mass `m` [kg] (reduced mass of the two) that arrives with `speed` [m/s] where the
/// radius of curvature is `radius` [m]: 2.8683 (m^2 / (E*^2 R v))^(1/5) [s].
[[nodiscard]] double hertz_duration(double m, double modulus, double radius, double speed);

}  // namespace thrum::elastic
