// SPDX-License-Identifier: MIT
// When a change of the scene is made that was wanted at a certain time.
#pragma once

namespace thrum::scene {

/// Of a step, by which a time may be late by rounding.
inline constexpr double kStepTolerance = 1e-6;

/// Whether what is wanted at `wanted` is done between the steps of length `h` that end and begin at `time`
/// [s].
[[nodiscard]] constexpr bool is_due(double wanted, double time, double h)
{
  return wanted <= time + kStepTolerance * h;
}

}  // namespace thrum::scene
