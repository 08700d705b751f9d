// SPDX-License-Identifier: MIT
// How much of a change of velocity an amount of energy allows.
//
// A change s of velocities v (of modes with unit mass, or of a body: read the products with its mass matrix)
// taken a times changes the energy by
//
//     a v.s + a^2 s.s / 2,
//
// so the largest a in [0, 1] within a budget B >= 0 is the root of a quadratic.
#pragma once

namespace thrum::vibration {

/// `along` is v.s, `square` is s.s [J]; the result is in [0, 1].
[[nodiscard]] double max_scale_within_budget(double along, double square, double budget);

}  // namespace thrum::vibration
