// SPDX-License-Identifier: MIT
// How impacts with restitution are resolved, by both steppers.
#pragma once

namespace thrum::rigid {

enum class SimultaneousImpacts {
  reflections,  ///< by generalised reflections, at the time of impact within the substep: impact_events.h
  by_stepper    ///< constraint: Newton's law at every contact at once; impulse: one pair after the other
};

struct ImpactSettings {
  SimultaneousImpacts simultaneous = SimultaneousImpacts::reflections;
  /// Contact points at most that are reflected together. Larger groups of touching bodies are left to the
  /// stepper's own rule. The work of one impact grows with the square of it, and that of all impacts of a
  /// substep is limited to four such groups.
  int max_points = 64;
};

}  // namespace thrum::rigid
