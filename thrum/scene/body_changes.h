// SPDX-License-Identifier: MIT
// When timed changes of a scene are made: bodies that appear and are removed, impulses.
#pragma once

namespace thrum::scene {

/// Share of a step by which rounding may make a time late.
inline constexpr double kStepTolerance = 1e-6;

/// Whether a change at time `due` is made before the step of length `h` that begins at `time` [s].
[[nodiscard]] constexpr bool is_due(double due, double time, double h)
{
  return due <= time + kStepTolerance * h;
}

}  // namespace thrum::scene
