// SPDX-License-Identifier: MIT
// The spring and dashpot that stand for a contact: how they bounce.
#pragma once

namespace thrum::elastic {

/// Restitution of a mass on a one-sided spring and dashpot that let go when the force would pull; `ratio` is
/// the damping ratio, above 0.
[[nodiscard]] double spring_restitution(double ratio);

/// Its inverse, from a table: right to 1e-3. Restitution 0 to 1; below 0.0025 it is that of 0.0025.
[[nodiscard]] double damping_ratio(double restitution);

}  // namespace thrum::elastic
